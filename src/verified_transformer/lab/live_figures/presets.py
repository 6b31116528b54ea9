"""Presets: settings of a live figure by name, such as the sizes of a model that people know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from .controls import Slider

Setting = Mapping[sp.Symbol, float | str]


@dataclass(frozen=True)
class Preset:
    """A setting with its name.

    Attributes:
        name: what stands on its button.
        values: one for each control, nothing where it leaves the control alone.
    """

    name: str
    values: tuple[float | None, ...]

    def spec(self) -> list[Any]:
        """What the script reads."""
        return [self.name, [[k, v] for k, v in enumerate(self.values) if v is not None]]


def settings(presets: Mapping[str, Setting], controls: Sequence[Slider]) -> tuple[Preset, ...]:
    """Return presets as numbers, in the order of the controls.

    Args:
        presets: values by the symbols of the controls, of a choice its names.
        controls: what can be set.

    Raises:
        ValueError: a preset has no name or sets nothing, nothing moves one of its symbols, or a
            value is none that its control takes.

    Example:
        >>> from .controls import slider
        >>> d, n = sp.symbols("d n")
        >>> sizes = [slider(d, "width d", 64, 4096), slider(n, "tokens n", stops=[2, 3])]
        >>> settings({"small": {d: 64}}, sizes)[0].values
        (64, None)
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
        Preset(name, tuple(
            _taken(name, control, given[symbol]) if symbol in given else None
            for symbol, control in moved.items()
        ))
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
