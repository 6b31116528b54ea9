"""Rows of several small tables, gathered and combined a chunk of tokens at a time.

A factorised embedding takes a row from each of its factors and combines them into a row of the
table. Doing so for all tokens at once would keep every intermediate for the backward pass, and
send each through main memory. Here a chunk fits the cache, and the backward pass gathers and
combines it again, so that nothing but the indices is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

Combine = Callable[..., torch.Tensor]

# numbers of an intermediate that a CPU works on at a time, by measurement: they fit its cache
_CACHE = 2**19


def gathered(
    combine: Combine,
    tables: Sequence[torch.Tensor],
    indices: Sequence[torch.Tensor],
    *,
    width: int,
    peak: int,
    dropped: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the combined rows of several tables.

    Args:
        combine: rows (chunk, w_j) of each table to (chunk, width); differentiable, each token by
            itself, zero where the first table's row is zero; into ``out`` where that is given.
        tables: each (n_j, w_j).
        indices: for each table (T,), the rows to take.
        width: length of a combined row.
        peak: most numbers per token in any of combine's intermediates.
        dropped: (T,), true where the combined row is to be zero and takes no gradient.

    Returns:
        (T, width). It can be differentiated once.

    Raises:
        IndexError: an index is out of range (on CUDA a device-side assertion, as torch's own).
    """
    if traced():
        return combine(_rows(tables, indices, dropped))
    chunk = _chunk(indices[0], width, max(peak, width))
    return _Gathered.apply(  # type: ignore[no-untyped-call]  # torch's own, without types
        combine, width, chunk, torch.stack(tuple(indices)), dropped, *tables
    )


class _Gathered(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        combine: Combine,
        width: int,
        chunk: int,
        indices: torch.Tensor,
        dropped: torch.Tensor | None,
        *tables: torch.Tensor,
    ) -> torch.Tensor:
        ctx.save_for_backward(indices, dropped, *tables)
        ctx.combine, ctx.chunk = combine, chunk
        out = tables[0].new_empty(indices.shape[1], width)
        for here in _chunks(indices.shape[1], chunk):
            rows = _rows(tables, indices[:, here], _part(dropped, here))
            if chunk < len(out):
                combine(rows, out=out[here])
            else:  # what the recorded lookups count; to save this copy is to record them anew
                out[here] = combine(rows)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        indices, dropped, *tables = ctx.saved_tensors
        totals = [torch.zeros_like(table, dtype=_sum_dtype(table)) for table in tables]
        for here in _chunks(indices.shape[1], ctx.chunk):
            rows = _rows(tables, indices[:, here], _part(dropped, here))
            with torch.enable_grad():
                rows = [row.requires_grad_() for row in rows]
                combined = ctx.combine(rows)
            parts = list(torch.autograd.grad(combined, rows, grad[here].to(combined.dtype)))
            if dropped is not None:
                parts[0] = parts[0].masked_fill(dropped[here, None], 0)
            for total, index, part in zip(totals, indices[:, here], parts, strict=True):
                total.index_add_(0, index, part.to(total.dtype))
        grads = [total.to(table.dtype) for total, table in zip(totals, tables, strict=True)]
        return (None, None, None, None, None, *grads)


def in_pieces(
    function: Callable[..., torch.Tensor],
    x: torch.Tensor,
    *others: torch.Tensor,
    width: int,
    peak: int,
) -> torch.Tensor:
    """Return ``function(x, *others)``, a number of rows of x at a time.

    Where there is more than one piece, its intermediates are computed again for the gradient.

    Args:
        function: maps (t, …) to (t, …), each row by itself.
        x: (T, …).
        others: further arguments, the same for each piece.
        width: numbers per row that may be in memory for all rows at once.
        peak: most numbers per row in any of function's intermediates.
    """
    chunk = len(x) if traced() else _chunk(x, width, peak)
    if chunk >= len(x):
        return function(x, *others)
    return torch.cat([recomputed(function, part, *others) for part in x.split(chunk)])


def recomputed(function: Callable[..., torch.Tensor], *arguments: torch.Tensor) -> torch.Tensor:
    """Return ``function(*arguments)``, keeping nothing but the arguments for the gradient."""
    if not torch.is_grad_enabled():
        return function(*arguments)
    return checkpoint(function, *arguments, use_reentrant=False, preserve_rng_state=False)


def traced() -> bool:
    """Whether torch compiles or exports what runs, and wants plain calls instead of pieces."""
    return torch.compiler.is_compiling() or torch.compiler.is_exporting()


def _chunk(x: torch.Tensor, width: int, peak: int) -> int:
    """How many rows of x at a time, so that they make no more than all of ``width`` together."""
    budget = len(x) * width
    return max(1, (min(budget, _CACHE) if x.device.type == "cpu" else budget) // peak)


def _rows(
    tables: Sequence[torch.Tensor], indices: Iterable[torch.Tensor], dropped: torch.Tensor | None
) -> list[torch.Tensor]:
    rows = [F.embedding(index, table) for index, table in zip(indices, tables, strict=True)]
    if dropped is not None:
        rows[0] = rows[0].masked_fill(dropped[:, None], 0)
    return rows


def _sum_dtype(table: torch.Tensor) -> torch.dtype:
    # many tokens share a row of a small table: half-precision sums of them would be poor
    return torch.float32 if table.dtype.itemsize < 4 else table.dtype


def _part(dropped: torch.Tensor | None, here: slice) -> torch.Tensor | None:
    return None if dropped is None else dropped[here]


def _chunks(tokens: int, chunk: int) -> Iterator[slice]:
    return (slice(start, start + chunk) for start in range(0, tokens, chunk))
