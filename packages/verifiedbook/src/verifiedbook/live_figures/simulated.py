"""What the page runs by itself: a map again and again, and a stack of random layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from .controls import Slider
from .translation import script_of

LAWS = ("normal", "uniform", "±1", "exponential")  # live.js draws them


@dataclass(frozen=True)
class Iterated:
    """A map that is applied as often as the horizontal axis says; made by `iterated`."""

    step: Any
    state: sp.Symbol
    start: float = 1.0


def iterated(step: Any, state: sp.Symbol) -> Iterated:
    """Return a curve for `live`: what a map makes of 1, layer after layer.

    Args:
        step: the map, a formula in the state and in symbols of the controls; the horizontal axis
            counts how often it is applied.
        state: its argument.

    Raises:
        TypeError: the state is no symbol.

    Example:
        >>> from verifiedbook.live_figures import live, slider
        >>> q, n = sp.symbols("q n")
        >>> halves = iterated(q / 2, q)
        >>> live({"left": halves}, x=slider(n, "layers", stops=range(9)), y="q", caption="c",
        ...      alt="a").curves[0].at([3])
        0.125
    """
    if not isinstance(state, sp.Symbol):
        raise TypeError(f"state: got {state!r}; accepted: a SymPy symbol")
    return Iterated(step, state)


def repeatedly(
    once: Callable[[Sequence[float]], float], start: float
) -> Callable[[Sequence[float]], float]:
    """A map as a function of the numbers of the controls, the first of which says how often."""

    def value(v: Sequence[float]) -> float:
        found = start
        for _ in range(round(v[0])):
            found = once([*v, found])
        return found

    return value


@dataclass(frozen=True)
class Stack:
    """Random layers that the page draws and runs; made by `stack`."""

    step: Any
    unit: sp.Symbol
    state: sp.FunctionClass
    drawn: tuple[tuple[str, str], ...]
    units: int
    back: bool

    def spec(self, controls: Sequence[Slider]) -> dict[str, Any]:
        """What the script reads."""
        names = [*(control.symbol.name for control in controls), self.unit.name]
        functions = [self.state.__name__, *(name for name, _ in self.drawn)]
        steps = self.step if isinstance(self.step, Mapping) else {"": self.step}
        place = next((k for k, c in enumerate(controls) if c.names == tuple(steps)), 0)
        if "" not in steps and not place:
            raise ValueError(f"step: got one for each of {tuple(steps)}; accepted: the names of a "
                             "choice, in its order")  # fmt: skip
        return {
            "js": [script_of(sp.sympify(one), names, "step", functions) for one in steps.values()],
            "of": place, "laws": [law for _, law in self.drawn], "units": self.units,
            "back": int(self.back),
        }  # fmt: skip


def stack(
    step: Any,
    *,
    unit: sp.Symbol,
    state: sp.FunctionClass,
    drawn: Mapping[sp.FunctionClass, str],
    units: int,
    back: bool = False,
) -> Stack:
    """Return a stack of random layers for `live`, run anew at each setting of its controls.

    It starts with random signs, so that the mean square is 1. Each stop of the horizontal axis is
    a layer, whose own number the axis' symbol has in `step`.

    Args:
        step: a unit of the next state, in ``state(j)``, in values of the functions that are drawn,
            such as ``w(i, j)``, and in symbols of the controls; or one for each name of a choice.
        unit: the number of the unit, from 1.
        state: stands for the state before.
        drawn: the distribution of each of these functions, one of `LAWS`; anew in each layer.
        units: how many a state has.
        back: whether it runs from the last layer to the first.

    Raises:
        ValueError: a distribution is unknown, or there are no units.

    Example:
        >>> w, h, i, j = sp.Function("w"), sp.Function("h"), sp.Symbol("i"), sp.Symbol("j")
        >>> turned = sp.Sum(w(i, j) * h(j), (j, 1, 16)) / 4
        >>> stack(turned, unit=i, state=h, drawn={w: "normal"}, units=16).units
        16
    """
    for function, law in drawn.items():
        if law not in LAWS:
            raise ValueError(f"drawn[{function}]: got {law!r}; accepted: {', '.join(LAWS)}")
    if not units > 0:
        raise ValueError(f"units: got {units!r}; accepted: one or more")
    laws = tuple((function.__name__, law) for function, law in drawn.items())
    return Stack(step, unit, state, laws, units, back)
