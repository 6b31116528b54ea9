"""What a reader of a live figure moves: sliders, choices, and presets that set several at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp


@dataclass(frozen=True)
class Slider:
    """A parameter of a live figure, or the variable on its horizontal axis; made by `slider`.

    Attributes:
        symbol: what it moves in the formulas.
        label: what stands beside it, with its letter; no LaTeX.
        low, high: its ends.
        start: where it stands at first.
        log: whether its scale is logarithmic.
        whole: whether it takes whole numbers only.
        stops: the only values that it takes; empty where it takes all.
        names: of the stops, where they are things to choose from.
    """

    symbol: sp.Symbol
    label: str
    low: float
    high: float
    start: float
    log: bool = False
    whole: bool = False
    stops: tuple[float, ...] = ()
    names: tuple[str, ...] = ()

    def place(self, value: float) -> float:
        """Where a value lies between the ends, 0 to 1."""
        if self.stops:
            return self.stops.index(value) / max(1, len(self.stops) - 1)
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def value(self, place: float) -> float:
        """The value at a place between the ends, 0 to 1."""
        if self.stops:
            return self.stops[round(place * (len(self.stops) - 1))]
        if self.log:
            return self.low * (self.high / self.low) ** place
        return self.low + (self.high - self.low) * place

    def spec(self) -> dict[str, Any]:
        """What the script reads."""
        if self.stops:
            scale: dict[str, Any] = {"stops": list(self.stops)}
        else:
            scale = {"low": self.low, "high": self.high}
        marks = {"log": int(self.log), "whole": int(self.whole)}
        return {
            "name": self.symbol.name, "label": self.label, "start": self.start, **scale,
            **{key: value for key, value in marks.items() if value},
            **({"names": list(self.names)} if self.names else {}),
        }  # fmt: skip


def slider(
    symbol: sp.Symbol,
    label: str,
    low: float | None = None,
    high: float | None = None,
    *,
    start: float | None = None,
    log: bool = False,
    whole: bool = False,
    stops: Sequence[float] = (),
) -> Slider:
    """Return a slider for `live`, or its horizontal axis.

    Args:
        symbol: the SymPy symbol that it moves.
        label: plain words with the letter, such as "width d"; no LaTeX.
        low, high: its ends; or `stops`.
        start: where it stands at first; the middle by default.
        log: whether the scale is logarithmic.
        whole: whether it takes whole numbers only.
        stops: the only values that it takes, in rising order, instead of `low` and `high`.

    Raises:
        TypeError, ValueError: an argument is not what is accepted.

    Example:
        >>> d = sp.Symbol("d")
        >>> slider(d, "width d", 64, 4096, start=768, log=True, whole=True).place(64)
        0.0
    """
    if not isinstance(symbol, sp.Symbol):
        raise TypeError(f"symbol: got {symbol!r}; accepted: a SymPy symbol")
    if stops:
        given = tuple(float(v) if v != int(v) else int(v) for v in stops)
        if len(given) < 2 or list(given) != sorted(set(given)):
            raise ValueError(f"stops: got {stops!r}; accepted: two or more numbers that rise")
        begin = given[len(given) // 2] if start is None else start
        if begin not in given:
            raise ValueError(f"start: got {start!r}; accepted: one of the stops {given}")
        return Slider(symbol, label, given[0], given[-1], begin, log, False, given)
    if low is None or high is None or not low < high:
        raise ValueError(f"low, high: got {low!r}, {high!r}; accepted: two numbers that rise")
    if log and low <= 0:
        raise ValueError(f"low: got {low!r}; accepted: a positive number on a logarithmic scale")
    if whole and (low != int(low) or high != int(high)):
        raise ValueError(f"low, high: got {low!r}, {high!r}; accepted: whole numbers")
    found = Slider(symbol, label, low, high, low, log, whole)
    begin = found.value(0.5) if start is None else start
    if whole:
        begin = round(begin)
    if not low <= begin <= high:
        raise ValueError(f"start: got {start!r}; accepted: {low} to {high}")
    return Slider(symbol, label, low, high, begin, log, whole)


def choice(
    symbol: sp.Symbol, label: str, names: Sequence[str], *, start: str | None = None
) -> Slider:
    """Return a list to choose from, for `live`; a curve may be a dictionary by these names.

    Args:
        symbol: a SymPy symbol that stands for the choice.
        label: what stands beside the list.
        names: what there is to choose.
        start: the name that is chosen at first; the first by default.

    Raises:
        ValueError: fewer than two names, two that are equal, or a start that is none of them.

    Example:
        >>> choice(sp.Symbol("f"), "activation", ["relu", "gelu"], start="gelu").start
        1
    """
    given = tuple(names)
    if len(given) < 2 or len(set(given)) < len(given):
        raise ValueError(f"names: got {names!r}; accepted: two or more different names")
    if start is not None and start not in given:
        raise ValueError(f"start: got {start!r}; accepted: one of {given}")
    begin = given.index(start) if start is not None else 0
    last = len(given) - 1
    return Slider(
        symbol, label, 0, last, begin, stops=tuple(range(last + 1)), names=given
    )  # fmt: skip


def shown_number(value: float) -> str:
    """A number as the figures write it: three digits, or a whole number in groups of three."""
    if not math.isfinite(value):
        return "–"
    if abs(value) >= 1000:
        text = f"{math.floor(value + 0.5):,}".replace(",", "\u2009")
    else:
        text = f"{float(f'{value:.3g}'):.12g}"
    return text.replace("-", "−")


def in_words(control: Slider, value: float) -> str:
    """A value of a control in words: its name, or the number."""
    if control.names:
        return control.names[int(value)]
    return shown_number(value)


# ------------------------------------------------------------------------------ presets

Setting = Mapping[sp.Symbol, float | str]


Preset = tuple[str, list[list[float]]]  # the name on its button; numbers and values of controls


def settings(presets: Mapping[str, Setting], controls: Sequence[Slider]) -> tuple[Preset, ...]:
    """Return presets as the script reads them: names, and pairs (number of a control, value).

    Args:
        presets: values by the symbols of the controls, of a choice its names.
        controls: what can be set.

    Raises:
        ValueError: a preset has no name or sets nothing, nothing moves one of its symbols, or a
            value is none that its control takes.

    Example:
        >>> d, n = sp.symbols("d n")
        >>> sizes = [slider(d, "width d", 64, 4096), slider(n, "tokens n", stops=[2, 3])]
        >>> settings({"small": {d: 64}}, sizes)
        (('small', [[0, 64]]),)
    """
    moved = {control.symbol: control for control in controls}
    for name, given in presets.items():
        if not name.strip() or not given:
            raise ValueError(f"presets[{name!r}]: got {dict(given)}; accepted: a name and values")
        lost = [symbol for symbol in given if symbol not in moved]
        if lost:
            raise ValueError(
                f"presets[{name!r}]: has {lost[0]}, which nothing moves; accepted: "
                + ", ".join(str(symbol) for symbol in moved)
            )
    return tuple(
        (name, [[k, _taken(name, control, given[control.symbol])]
                for k, control in enumerate(controls) if control.symbol in given])
        for name, given in presets.items()
    )  # fmt: skip


def _taken(name: str, control: Slider, value: float | str) -> float:
    """A value as its control has it."""
    where = f"presets[{name!r}]: got {value!r} for {control.symbol}; accepted: "
    if control.names or isinstance(value, str):
        if value not in control.names:
            raise ValueError(where + (", ".join(control.names) or "a number"))
        return control.names.index(value)
    if control.stops and value not in control.stops:
        raise ValueError(where + f"one of the stops {control.stops}")
    if not control.low <= value <= control.high or (control.whole and value != int(value)):
        raise ValueError(where + f"{control.low} to {control.high}"
                         + (", whole" if control.whole else ""))  # fmt: skip
    return value
