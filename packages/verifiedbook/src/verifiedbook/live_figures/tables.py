"""Curves without a formula: a table of numbers at Chebyshev points, with a bound on its error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import sympy as sp

from .controls import Slider

_MOST = 1600  # numbers in a table: about 12 KB
_FIRST, _LONGEST = 9, 129


@dataclass(frozen=True)
class Table:
    """A function to tabulate; made by `tabulated`, filled by `live`, which knows the ranges."""

    function: Callable[..., float]
    of: tuple[sp.Symbol, ...]
    error: float
    log: bool


def tabulated(
    function: Callable[..., float], *of: sp.Symbol, error: float, log: bool = False
) -> Table:
    """Return a curve for `live` whose values are computed here and interpolated on the page.

    Args:
        function: of numbers, one for each symbol, in their order; smooth in those that a slider
            moves continuously. It is called some hundred times.
        of: the symbols, of the horizontal axis and of sliders.
        error: how far the interpolated curve may be off, in the units of the curve; with `log`,
            relative. The figure states it.
        log: tabulate the logarithm of a positive function.

    Raises:
        ValueError: the error is not positive, or no symbol is given.

    Example:
        >>> x = sp.Symbol("x")
        >>> tabulated(math.tanh, x, error=1e-6).error
        1e-06
    """
    if not error > 0:
        raise ValueError(f"error: got {error!r}; accepted: a positive number")
    if not of or not all(isinstance(symbol, sp.Symbol) for symbol in of):
        raise ValueError(f"of: got {of!r}; accepted: the symbols that the function depends on")
    return Table(function, of, error, log)


def filled(wanted: Table, controls: Sequence[Slider], argument: str) -> dict[str, Any]:
    """Return the table as the script reads it: dimensions, and rounded values in their order.

    Args:
        wanted: the function with its symbols and its error.
        controls: the horizontal axis and the sliders of the figure.
        argument: the name of the argument, for the errors.

    Raises:
        ValueError: a symbol that nothing moves, or an error that no table of this size keeps.
    """
    names = [control.symbol.name for control in controls]
    strangers = [symbol.name for symbol in wanted.of if symbol.name not in names]
    if strangers:
        raise ValueError(
            f"{argument}: a table of {', '.join(strangers)}, which nothing moves; accepted: "
            + ", ".join(names)
        )
    return _Filling(wanted, [controls[names.index(s.name)] for s in wanted.of], names).fill(
        argument
    )


@dataclass
class _Filling:
    wanted: Table
    over: list[Slider]
    names: list[str]
    known: dict[tuple[float, ...], float] = field(default_factory=dict)

    def fill(self, argument: str) -> dict[str, Any]:
        counts = [len(c.stops) if c.stops else _FIRST for c in self.over]
        while True:
            table = self._table(counts)
            worst, where = 0.0, -1
            for place, control in enumerate(self.over):
                if not control.stops:
                    off = self._off(table, counts, place)
                    if off > worst:
                        worst, where = off, place
            if worst <= self.wanted.error / 2:
                return table
            counts[where] = 2 * counts[where] - 1
            if math.prod(counts) > _MOST or counts[where] > _LONGEST:
                raise ValueError(
                    f"{argument}: {math.prod(counts)} numbers would still be off by {worst:.2g} "
                    f"along {self.over[where].symbol}; accepted: error={self.wanted.error:g} with "
                    f"{_MOST} numbers at most: allow more, narrow the range, or use stops"
                )

    def _nodes(self, control: Slider, count: int) -> list[float]:
        if control.stops:
            return list(control.stops)
        return [control.value((1 - math.cos(math.pi * k / (count - 1))) / 2) for k in range(count)]

    def _exact(self, at: tuple[float, ...]) -> float:
        if at not in self.known:
            value = float(self.wanted.function(*at))
            self.known[at] = math.log(value) if self.wanted.log else value
        return self.known[at]

    def _table(self, counts: Sequence[int]) -> dict[str, Any]:
        digits = math.ceil(-math.log10(self.wanted.error)) + 1
        nodes = [self._nodes(c, n) for c, n in zip(self.over, counts, strict=True)]
        dims = []
        for control, count in zip(self.over, counts, strict=True):
            dim: dict[str, Any] = {"of": self.names.index(control.symbol.name), "n": count}
            if control.stops:
                dim["stops"] = list(control.stops)
            else:
                dim |= {"low": control.low, "high": control.high, "log": int(control.log)}
            dims.append(dim)
        return {"dims": dims, "values": [round(self._exact(at), digits) for at in product(*nodes)]}

    def _off(self, table: dict[str, Any], counts: Sequence[int], place: int) -> float:
        """How far the table is off between its points along one of its dimensions."""
        nodes = [self._nodes(c, n) for c, n in zip(self.over, counts, strict=True)]
        nodes[place] = self._nodes(self.over[place], 2 * counts[place] - 1)[1::2]
        worst = 0.0
        for at in product(*nodes):
            v = [0.0] * len(self.names)
            for control, value in zip(self.over, at, strict=True):
                v[self.names.index(control.symbol.name)] = value
            worst = max(worst, abs(interpolated(table, v) - self._exact(at)))
        return worst


def interpolated(table: dict[str, Any], v: Sequence[float]) -> float:
    """Return what the script reads off a table, by the same formula.

    Args:
        table: as `filled` makes it.
        v: the values of the horizontal axis and of the sliders.

    Example:
        >>> line = {"dims": [{"of": 0, "n": 2, "low": 0, "high": 4}], "values": [1.0, 3.0]}
        >>> interpolated(line, [1.0])
        1.5
    """
    return _along(table, v, 0, 0)


def _along(table: dict[str, Any], v: Sequence[float], dim: int, start: int) -> float:
    dims = table["dims"]
    if dim == len(dims):
        return float(table["values"][start])
    d = dims[dim]
    size = math.prod(other["n"] for other in dims[dim + 1 :])
    x = v[d["of"]]
    if "stops" in d:
        return _along(table, v, dim + 1, start + d["stops"].index(x) * size)
    low, high = d["low"], d["high"]
    if d.get("log"):
        x, low, high = math.log(x), math.log(low), math.log(high)
    u, over, under = (x - low) / (high - low), 0.0, 0.0
    for k in range(d["n"]):
        gap = u - (1 - math.cos(math.pi * k / (d["n"] - 1))) / 2
        value = _along(table, v, dim + 1, start + k * size)
        if abs(gap) < 1e-14:
            return value
        weight = (-1 if k % 2 else 1) / (1 if k % (d["n"] - 1) else 2) / gap
        over, under = over + weight * value, under + weight
    return over / under
