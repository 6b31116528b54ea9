"""What is measured, and what its statistic is given: tensors drawn from laws, and the point."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import sympy as sp
import torch

from ..exact.formulas.evaluation import Point
from ..exact.laws import Law

Statistic = Callable[..., torch.Tensor]


class RandomInput(Protocol):
    """A random tensor of a statistic: the law of its iid entries and its symbolic sizes."""

    @property
    def law(self) -> Law:
        """The law of one entry."""

    @property
    def sizes(self) -> tuple[sp.Expr, ...]:
        """One size per axis."""


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


def refuse_names(point: Point) -> None:
    """Refuse a point whose keys are texts instead of symbols."""
    for key in point:
        if not isinstance(key, sp.Basic):
            raise TypeError(
                f"point: got the key {key!r}, a {type(key).__name__}; accepted: the symbol itself, "
                "as symbols(…) returned it"
            )


def sizes_at(name: str, item: RandomInput, point: Point) -> tuple[int, ...]:
    """Return a random tensor's sizes at a point, as integers.

    Args:
        name: of the input, for the message.
        item: the input.
        point: values of all symbols.

    Raises:
        ValueError: the point does not give a size, or none that is a positive integer.
    """
    refuse_names(point)
    found = []
    for size in item.sizes:
        value = sp.sympify(size).subs({s: v for s, v in point.items() if not is_array(v)})
        if value.free_symbols:
            missing = ", ".join(sorted(map(str, value.free_symbols)))
            raise ValueError(f"point: got no value for {missing}, a size of the input {name!r}")
        if value != int(value) or value < 1:
            raise ValueError(
                f"point: gives the input {name!r} the size {value}; accepted: a positive integer"
            )
        found.append(int(value))
    return tuple(found)


def law_at(name: str, item: RandomInput, point: Point) -> Law:
    """Return the law of an input at a point, with numbers for its symbols.

    Raises:
        ValueError: the point does not give one of them.
    """
    refuse_names(point)
    missing = sorted(str(s) for s in item.law.free_symbols if s not in point)
    if missing:
        raise ValueError(
            f"point: got no value for {', '.join(missing)}, in the law of the input {name!r}"
        )
    return item.law.at(point)


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
    return {
        name: (law or law_at(name, item, point)).sample_(
            torch.empty(
                (rows, *sizes_at(name, item, point)), dtype=torch.float64, device=source.device
            ),
            source,
        )
        for name, item in draws.items()
    }


def call(statistic: Callable[..., Any], arrays: Mapping[str, Any], point: Point) -> Any:
    """Call a statistic with its inputs by name, and with ``point`` where it asks for it.

    Args:
        statistic: a function in torch or NumPy.
        arrays: its inputs, tensors or NumPy arrays.
        point: values of all symbols; the statistic is given sizes as integers, scales as floats,
            and matrices as the inputs are: tensors on their device, or NumPy arrays.

    Raises:
        TypeError: the statistic takes other names.
    """
    accepted = inspect.signature(statistic).parameters
    given = dict(arrays)
    if "point" in accepted:
        given["point"] = values_at(point, next(iter(arrays.values()), None))
    try:
        inspect.signature(statistic).bind(**given)
    except TypeError:
        raise TypeError(
            f"statistic: takes {', '.join(accepted) or 'nothing'}; accepted: the names of its "
            f"inputs, {', '.join(arrays)}, and point where it needs it"
        ) from None
    return statistic(**given)


def values_at(point: Point, like: Any) -> dict[Any, Any]:
    """Return a point's values as plain numbers, and its matrices as arrays of one kind."""
    return {symbol: _value(symbol, value, like) for symbol, value in point.items()}


def is_array(value: Any) -> bool:
    """Whether a point's value is a matrix or vector, and not a number."""
    return bool(np.ndim(value))


def _value(symbol: Any, value: Any, like: Any) -> Any:
    if is_array(value):
        if isinstance(like, torch.Tensor):
            return torch.as_tensor(value).to(like)
        return np.asarray(value, dtype=float)
    return int(value) if getattr(symbol, "is_integer", False) else float(value)
