"""How checks say what they saw: points, laws, equations and numbers in a line or a formula."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sympy as sp

from ..account.rendering import plain
from ..exact.formulas.evaluation import Point, place
from ..exact.judging import Comparison

if TYPE_CHECKING:
    from ..sampling.measuring import Measurement

_LONGEST_SHOWN = 20  # operations in a quantity that is typeset; longer ones are named in words
_LONGEST_LAW = 80  # characters


def amount(things: Sequence[Any], noun: str) -> str:
    """Return how many things there are, such as "2 points"."""
    return f"{len(things)} {noun}{'s' if len(things) != 1 else ''}"


def instead(point: Point, found: float, said: float) -> str:
    """Return what a formula should have given at a point."""
    where = f"{place(point)}: " if point else ""
    return f"{where}{found:.6g}, not {said:.6g}"


def apart(found: Comparison, formula: sp.Expr) -> str:
    """Say where a definition and a formula differ, and by how much."""
    where = f" at {place(found.point)}" if found.point else ""
    definition = f"the definition gives {found.exact.value:.12g}{where}, the formula {formula}"
    if found.said is None:
        return f"{definition} has no finite value there"
    said = float(found.said)
    return f"{definition} gives {said:.12g}: {as_much(said, found.exact.value)}"


def as_much(first: float, second: float) -> str:
    """Return how many times a second number the first is, or how far off where that says less.

    Example:
        >>> as_much(0.831945, 0.597635), as_much(1.001, 1.0), as_much(0.5, 0.0)
        ('1.39 times as much', 'off by 0.1 %', 'off by 0.5')
    """
    if not second or not math.isfinite(first) or not math.isfinite(second):
        return f"off by {abs(first - second):.3g}"
    times = first / second
    if abs(times - 1) < 0.02:
        return f"off by {100 * abs(times - 1):.3g} %"
    return f"{times:.3g} times as much"


def laws_of(quantity: Any) -> str:
    """Return the laws of a quantity's random inputs in a line."""

    def short(law: Any) -> str:
        return law.name if len(law.name) < _LONGEST_LAW else f"{type(law).__name__}(…)"

    draws = getattr(quantity, "draws", {})
    return "; ".join(f"{name} ~ {short(item.law)}" for name, item in sorted(draws.items()))


def _latex(formula: sp.Expr) -> str:
    """Return a formula as LaTeX, without evaluating integrals on the way."""
    # to sort terms SymPy evaluates every integral among them, which can take minutes
    return str(sp.latex(formula, order="none" if formula.has(sp.Integral) else None))


def equation(quantity: Any, formula: sp.Expr, relation: str = "=") -> str:
    """Return "quantity = formula" as LaTeX; a long quantity is named in words."""
    statistic = getattr(quantity, "statistic", None)
    if isinstance(statistic, sp.Expr) and sp.count_ops(statistic) < _LONGEST_SHOWN:
        sign = r"\mathbb{E}" if quantity.estimator == "mean" else r"\operatorname{Var}"
        return rf"{sign}\left[{_latex(statistic)}\right] {relation} {_latex(formula)}"
    # MathJax refuses a circumflex in a text
    name = re.sub(r"[_#%&{}$]", r"\\\g<0>", quantity.quantity.replace("^", "**"))
    return rf"\text{{{name}}} {relation} {_latex(formula)}"


def step(expression: sp.Expr | str) -> str:
    """Return a step of a derivation as HTML, with its LaTeX for the book."""
    if isinstance(expression, str):
        return html.escape(expression)
    return plain.with_latex(_latex(expression))


def row(point: Point, found: Measurement) -> dict[str, str]:
    """Return the row of a measurement's table."""
    return {
        "point": place(point) or "–",
        "formula": f"{found.expected:.8g}",
        "measured": f"{found.mean:.8g}",
        "standard error": f"{found.standard_error:.2g}",
        "z": f"{found.z:+.2f}",
        "draws": f"{found.n:,}".replace(",", "\u202f"),
        "would have caught": f"{found.detectable:.2%}",
        "seconds": f"{found.seconds:.2f}",
        "device": found.device + (" (second draw)" if found.redrawn else ""),
    }
