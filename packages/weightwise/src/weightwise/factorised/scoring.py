"""Scores of a tied head, by making the table's rows a block at a time.

A head can send a state through the factors, or make the rows and multiply as a dense head does.
The first is less work for few states and small ranks. The second makes each row once for all
states, which for many states is next to nothing beside the products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from .gathering import traced

_Rows = Callable[[Sequence[torch.Tensor]], torch.Tensor]
_Part = Callable[[Sequence[torch.Tensor], int, int], list[torch.Tensor]]

# Making a number and reading it again takes as long as so many products inside a matrix product
# of a size that a processor likes; measured on one core with AVX-512: 20 to 120.
NUMBER = 100


def by_rows(
    rows: _Rows, part: _Part, hidden: torch.Tensor, *factors: torch.Tensor, n: int, unit: int
) -> torch.Tensor:
    """Return scores of hidden states, a block of the table's rows at a time.

    Neither this nor its gradient has more than a block of the table at a time; compiled or
    exported code has all of it.

    Args:
        rows: a part of the factors to its rows, (m, d); differentiable.
        part: of all factors, views of what the units from one to before another are made of.
        hidden: (T, d).
        factors: of the table.
        n: number of rows that are scored; the factors may make more.
        unit: number of rows that are made at a time at least, those of one leading digit.

    Returns:
        (T, n). It can be differentiated once.
    """
    if traced():
        return hidden @ rows(factors)[:n].T
    device = hidden.device.type
    if _mixed(device):  # then a dense head too gives the scores that dtype
        hidden = hidden.to(torch.get_autocast_dtype(device))
    numbers = max(len(hidden) * n, sum(factor.numel() for factor in factors))
    if device == "cpu":
        numbers = min(numbers, 2**21)
    step = max(1, numbers // (unit * hidden.shape[1]))
    scores: torch.Tensor = _ByRows.apply(  # type: ignore[no-untyped-call]  # torch's own
        rows, part, n, unit, step, hidden, *factors
    )
    return scores


class _ByRows(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, rows: _Rows, part: _Part, n: int, unit: int, step: int,
        hidden: torch.Tensor, *factors: torch.Tensor,
    ) -> torch.Tensor:  # fmt: skip
        ctx.save_for_backward(hidden, *factors)
        ctx.how = rows, part, n, unit, step
        scores = hidden.new_empty(len(hidden), n)
        mixed = _mixed(hidden.device.type)
        for first, last, here in _blocks(n, unit, step):
            made = rows(part(factors, first, last))[: here.stop - here.start]
            made = made.to(hidden.dtype) if mixed else made
            torch.mm(hidden, made.T, out=scores[:, here])
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        hidden, *factors = ctx.saved_tensors
        rows, part, n, unit, step = ctx.how
        totals = [torch.zeros_like(factor) for factor in factors]
        back = torch.zeros_like(hidden)
        for first, last, here in _blocks(n, unit, step):
            leaves = [view.detach().requires_grad_() for view in part(factors, first, last)]
            with torch.enable_grad():
                made = rows(leaves)[: here.stop - here.start]
            back.addmm_(grad[:, here], made.detach().to(grad.dtype))
            found = torch.autograd.grad(made, leaves, (grad[:, here].T @ hidden).to(made.dtype))
            for total, more in zip(part(totals, first, last), found, strict=True):
                total += more
        return (None, None, None, None, None, back, *totals)


def _mixed(device: str) -> bool:
    return torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)


def _blocks(n: int, unit: int, step: int) -> Iterator[tuple[int, int, slice]]:
    """Units from one to before another, and the rows that they make, up to n."""
    for first in range(0, -(-n // unit), step):
        last = min(first + step, -(-n // unit))
        yield first, last, slice(first * unit, min(last * unit, n))
