"""The curves of a live figure, as Python draws them and as the script does."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import sympy as sp
from sympy.codegen.cfunctions import expm1, log1p

from .controls import Slider
from .simulated import Iterated, repeatedly
from .tables import Table, filled, interpolated
from .translation import formula_of, script_of

DASHES = ("s0", "s1", "s2", "s3", "s4", "s5")  # a colour and a dash each, in live.css
_LONG = 60  # operations of a formula that stays as it is
Off = tuple[float, bool]  # how far a table is off, and whether that is a share of the value
Made = tuple[str, Any, Callable[[Sequence[float]], float], Off | None]
Source = Any  # a formula, a table, or one of them for each name of a choice


@dataclass(frozen=True)
class Curve:
    """A curve: its name, its look, the script's text, and the same in Python.

    Attributes:
        name: as the reader sees it.
        look: class of its line.
        js: what the script computes.
        text: the formula as SymPy writes it, which a test reads; of a table its number.
        at: its value, of the values of the horizontal axis and of the sliders.
        error: of the tables that it is read from, and whether it is a share of the value.
        broken: what it breaks: the number of a curve; None where it breaks none.
        rule: whether it is a line to compare with.
        hand: whether it is the angle of a hand, which stands on a dial.
    """

    name: str
    look: str
    js: str
    text: Any
    at: Callable[[Sequence[float]], float]
    error: Off | None = None
    broken: int | None = None
    rule: bool = False
    hand: bool = False

    @property
    def plotted(self) -> bool:
        """Whether the picture shows it at first."""
        return self.broken is None and not self.hand

    def spec(self) -> dict[str, Any]:
        """What the script reads."""
        off, share = self.error or (0, False)
        marks = {"off": off, "share": int(share), "rule": int(self.rule), "hand": int(self.hand)}
        return {
            "name": self.name, "look": self.look, "js": self.js, "text": self.text,
            **({} if self.broken is None else {"broken": 1, "breaks": self.broken}),
            **{mark: value for mark, value in marks.items() if value},
        }  # fmt: skip


class Curves:
    """Makes the curves of a figure, and keeps their tables.

    Args:
        controls: the horizontal axis, then the sliders.
    """

    def __init__(self, controls: Sequence[Slider]) -> None:
        self.controls = list(controls)
        self.names = [control.symbol.name for control in controls]
        self.tables: list[dict[str, Any]] = []

    def curve(self, source: Source, name: str, argument: str, look: str, **marks: Any) -> Curve:
        """Return a curve of a formula, of a table, or of one of them for each choice."""
        return Curve(name, look, *self._made(source, argument), **marks)

    def _made(self, source: Source, argument: str) -> Made:
        if isinstance(source, Mapping):
            return self._chosen(source, argument)
        if isinstance(source, Table):
            self.tables.append(filled(source, self.controls, argument))
            place, made = len(self.tables) - 1, self.tables[-1]
            read = f"table({place}, v)"
            if source.log:
                return (
                    f"Math.exp({read})", {"exp of table": place},
                    lambda v: math.exp(interpolated(made, v)), (source.error, True),
                )  # fmt: skip
            return read, {"table": place}, lambda v: interpolated(made, v), (source.error, False)
        if isinstance(source, Iterated):
            return self._iterated(source, argument)
        formula = formula_of(source, argument)
        if formula.count_ops() > _LONG:  # constants as numbers, not as they came out of a proof
            formula = sp.N(formula, 20)
        exact = formula.replace(expm1, lambda e: sp.exp(e) - 1)
        exact = exact.replace(log1p, lambda e: sp.log(1 + e))
        return (
            script_of(formula, self.names, argument), sp.sstr(exact, full_prec=True),
            evaluated(exact, self.names), None,
        )  # fmt: skip

    def _iterated(self, source: Iterated, argument: str) -> Made:
        step, names = formula_of(source.step, argument), [*self.names, source.state.name]
        return (
            f"iterate(v => {script_of(step, names, argument)}, v, {source.start!r})",
            {"iterated": sp.sstr(step), "state": source.state.name, "start": source.start},
            repeatedly(evaluated(step, names), source.start), None,
        )  # fmt: skip

    def _chosen(self, sources: Mapping[str, Source], argument: str) -> Made:
        which = [k for k, c in enumerate(self.controls) if c.names and set(c.names) == set(sources)]
        if not which:
            raise ValueError(
                f"{argument}: got one for each of {tuple(sources)}; accepted: the names of a choice"
            )
        place, names = which[0], self.controls[which[0]].names
        made = [self._made(sources[name], f"{argument}[{name!r}]") for name in names]
        js = made[-1][0]
        for number in range(len(made) - 2, -1, -1):
            js = f"v[{place}] === {number} ? {made[number][0]} : {js}"
        errors = [one[3] for one in made if one[3]]
        if len({share for _, share in errors}) > 1:
            raise ValueError(f"{argument}: tables with and without log; accepted: all of one kind")
        return (
            js, {"choice": place, "of": [text for _, text, _, _ in made]},
            lambda v: made[int(v[place])][2](v), max(errors, default=None),
        )  # fmt: skip


def evaluated(formula: sp.Expr, names: Sequence[str]) -> Callable[[Sequence[float]], float]:
    """Return a formula as a function of numbers, worked out with 30 digits.

    Args:
        formula: in symbols of these names.
        names: in the order of the numbers.

    Example:
        >>> x = sp.Symbol("x")
        >>> evaluated(sp.log(1 + sp.exp(x)), ["x"])([1000.0])
        1000.0
    """
    symbols = [sp.Symbol(name) for name in names]
    plain = formula.subs({s: sp.Symbol(s.name) for s in formula.free_symbols})
    sums = sorted(plain.atoms(sp.Sum), key=str)
    if sums:
        return _with_sums(plain, sums, names)
    function = sp.lambdify(symbols, plain, modules="mpmath")

    def value(v: Sequence[float]) -> float:
        with mpmath.workdps(30):
            try:
                found = mpmath.mpmathify(function(*map(mpmath.mpf, v)))
            except (ValueError, ZeroDivisionError):  # the logarithm of 0, say
                return math.nan
            return float(found.real) if abs(found.imag) < 1e-20 else math.nan

    return value


def _with_sums(
    formula: sp.Expr, sums: Sequence[sp.Sum], names: Sequence[str]
) -> Callable[[Sequence[float]], float]:
    """The same where the formula has sums: each is added up term by term."""
    outermost = [s for s in sums if not any(s is not other and other.has(s) for other in sums)]
    held = [f"sum_{len(names)}_{place}" for place, _ in enumerate(outermost)]
    around = formula.subs(dict(zip(outermost, map(sp.Symbol, held), strict=True)))
    totals = [_total(one, names) for one in outermost]
    outside = evaluated(around, [*names, *held])
    return lambda v: outside([*v, *(total(v) for total in totals)])


def _total(one: sp.Sum, names: Sequence[str]) -> Callable[[Sequence[float]], float]:
    *inner, (index, low, high) = one.limits
    own = sp.Symbol(f"index_{len(names)}")
    term = (sp.Sum(one.function, *inner) if inner else one.function).subs(index, own)
    first, last = evaluated(low, names), evaluated(high, names)
    each = evaluated(term, [*names, own.name])

    def total(v: Sequence[float]) -> float:
        return math.fsum(each([*v, k]) for k in range(round(first(v)), round(last(v)) + 1))

    return total
