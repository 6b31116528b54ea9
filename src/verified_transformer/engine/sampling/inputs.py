"""What is measured, and what its statistic is given: tensors drawn from laws, and the point."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import sympy as sp
import torch

from ..exact.formulas.evaluation import Point
from ..exact.integrals.law_means import Draw
from ..exact.laws import Law
from ..exact.moments import Tensor

Statistic = Callable[..., torch.Tensor]


RandomInput = Tensor | Draw  # a random tensor: the law of its iid entries, and its sizes
Draws = Mapping[str, RandomInput]


class Quantity(Protocol):
    """What can be measured: the mean or the variance of a statistic of random tensors."""

    quantity: str
    estimator: str

    @property
    def draws(self) -> Mapping[str, RandomInput]:
        """Random inputs of the statistic, by name."""

    def statistic_moments(self, point: Point, order: int) -> list[float]:
        """Raw moments of the statistic at a point, from the first to ``order``."""

    def evaluate(self, arrays: Mapping[str, Any], point: Point) -> Any:
        """The statistic as defined, on arrays with a leading replicate axis."""


def checked_draws(draws: Draws) -> dict[str, RandomInput]:
    """Return the random inputs by name, or say which of them is none.

    Raises:
        TypeError: an input without a law and sizes.
    """
    for name, item in draws.items():
        if not isinstance(name, str) or not hasattr(item, "law") or not hasattr(item, "sizes"):
            raise TypeError(
                f"draws: got {name!r}: {item!r}; accepted: a name and what is drawn under it, such "
                "as Tensor('w', Normal(0, sigma), d)"
            )
    if not draws:
        raise ValueError("draws: got none; accepted: at least one random input")
    return dict(draws)


def input_at(name: str, item: RandomInput, point: Point) -> tuple[Law, tuple[int, ...]]:
    """Return the law of an input at a point, with numbers for its symbols, and its sizes.

    Args:
        name: of the input, for the message.
        item: the input.
        point: values of all symbols.

    Raises:
        TypeError: a key of the point is a text instead of a symbol.
        ValueError: the point does not give a symbol, or a size that is no positive integer.
    """
    for key in point:
        if not isinstance(key, sp.Basic):
            raise TypeError(
                f"point: got the key {key!r}, a {type(key).__name__}; accepted: the symbol itself, "
                "as symbols(…) returned it"
            )
    sizes = sp.Tuple(*item.sizes)
    for where, used in (("a size", sizes.free_symbols), ("in the law", item.law.free_symbols)):
        if missing := ", ".join(sorted(str(s) for s in used if s not in point)):
            raise ValueError(f"point: got no value for {missing}, {where} of the input {name!r}")
    found = sizes.subs(dict(point))
    for size in found:
        if size != int(size) or size < 1:
            raise ValueError(
                f"point: gives the input {name!r} the size {size}; accepted: a positive integer"
            )
    return item.law.at(point), tuple(map(int, found))


def drawn(
    draws: Draws,
    point: Point,
    rows: int,
    source: torch.Generator,
    *,
    law: Law | None = None,
) -> dict[str, torch.Tensor]:
    """Draw all inputs of a statistic, in float64 on the generator's device.

    Args:
        draws: the random inputs by name.
        point: values of all symbols.
        rows: number of replicates.
        source: torch generator.
        law: draw every entry from this law instead of its own.

    Returns:
        Tensors of shape (rows, *sizes) by name.
    """
    found = {}
    for name, item in draws.items():
        own, sizes = input_at(name, item, point)
        empty = torch.empty((rows, *sizes), dtype=torch.float64, device=source.device)
        found[name] = (law or own).sample_(empty, source)
    return found


def call(statistic: Callable[..., Any], arrays: Mapping[str, Any], point: Point) -> Any:
    """Call a statistic with its inputs by name, and with ``point`` where it asks for it.

    Args:
        statistic: a function in torch or NumPy.
        arrays: its inputs, tensors or NumPy arrays.
        point: values of all symbols; the statistic is given sizes as integers, others as floats.

    Raises:
        TypeError: the statistic takes other names.
    """
    accepted = inspect.signature(statistic).parameters
    given = dict(arrays)
    if "point" in accepted:
        values = ((s, sp.sympify(value)) for s, value in point.items())
        given["point"] = {s: int(v) if s.is_integer else float(v) for s, v in values}
    try:
        inspect.signature(statistic).bind(**given)
    except TypeError:
        raise TypeError(
            f"statistic: takes {', '.join(accepted) or 'nothing'}; accepted: the names of its "
            f"inputs, {', '.join(arrays)}, and point where it needs it"
        ) from None
    return statistic(**given)
