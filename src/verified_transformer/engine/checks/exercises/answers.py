"""Whether an answer is right, and if not, what to say: known mistakes first, then general ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy as sp

from ...exact.formulas.evaluation import equivalent, number, random_points, small_points
from ...exact.formulas.mutants import formula_mutants
from ...exact.formulas.notation import parse, symbols
from .asked import PROBLEMS
from .problem import tried
from .questions import Question

__all__ = ["Judgement", "judge", "read"]

_WRITTEN = {
    "^": "**", "·": "*", "×": "*", "−": "-", "√": "sqrt", "σ": "sigma", "τ": "tau", "κ": "kappa",
    "γ": "gam", "λ": "lam", "ε": "epsilon", "α": "alpha", "η": "eta", "μ": "mu", "β": "beta",
    "ρ": "rho", "π": "pi",
}  # fmt: skip
_GREEK = {"gam": "gamma", "lam": "lambda"}


@dataclass(frozen=True)
class Judgement:
    """What an answer is worth: whether it is right, and what to say, as Markdown with LaTeX."""

    right: bool
    say: str

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"{'right' if self.right else 'not yet'}: {self.say}"

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        head = "✓ **Right.**" if self.right else "✗ **Not yet.**"
        return {"text/markdown": f"{head} {self.say}", "text/plain": repr(self)}


def judge(asked: Question, given: Any) -> Judgement:
    """Judge an answer to a question.

    Args:
        asked: the question.
        given: a formula (SymPy text or expression), a number, a letter, or a function.

    Raises:
        TypeError: the answer is of another kind.
        ValueError: it is no formula, or uses other symbols than the question.
    """
    return _JUDGES[asked.kind](asked, given)


def read(given: Any, names: str = "") -> sp.Expr:
    """Read an answer as a formula in the book's symbols; nothing of it is run as Python.

    Args:
        given: SymPy text, in which ``^``, ``σ`` and ``√(…)`` are welcome; a number; or a SymPy
            expression, whose symbols count by their names.
        names: the symbols that the question allows, separated by spaces.

    Raises:
        TypeError: the answer is neither.
        ValueError: it cannot be read, or has other symbols.

    Example:
        >>> read("2 d σ^4", "d sigma")
        Traceback (most recent call last):
        ValueError: answer: '2 d σ^4' is no formula; write products with *, as in 2*d*sigma**4
        >>> read("2*d*σ^4", "d sigma")
        2*d*sigma**4
    """
    if isinstance(given, bool) or not isinstance(given, str | int | float | sp.Expr):
        raise TypeError(f"answer: got {type(given).__name__}; accepted: a formula or a number")
    if isinstance(given, str):
        text = "".join(_WRITTEN.get(letter, letter) for letter in given)
        text = re.sub(r"\bln\(", "log(", text)
        try:
            found = parse(text)
        except ValueError as error:
            if "is not a SymPy formula" in str(error):
                raise ValueError(f"answer: {given!r} is no formula; write products with *, as in "
                                 "2*d*sigma**4") from None  # fmt: skip
            raise ValueError(str(error).replace("text:", "answer:", 1)) from None
    else:
        found = sp.sympify(given)
    allowed = {name: symbols(name) for name in names.split()}
    by_name = {_GREEK.get(name, name): symbol for name, symbol in allowed.items()}
    strange = sorted({s.name for s in found.free_symbols} - set(by_name))
    if strange:
        accepted = ", ".join(allowed) or "numbers alone"
        raise ValueError(f"answer: uses {', '.join(strange)}; accepted: {accepted}")
    return found.xreplace({s: by_name[s.name] for s in found.free_symbols})


def _formula(asked: Question, given: Any) -> Judgement:
    wanted, found = parse(asked.answer), read(given, asked.symbols)
    if equivalent(found, wanted):
        return Judgement(True, f"${sp.latex(wanted)}$ it is.")
    for wrong, say in asked.known.items():
        if equivalent(found, parse(wrong)):
            return Judgement(False, say)
    said = _by_ratio(found, wanted) or _by_mutant(found, wanted)
    return Judgement(False, said or _at_a_point(found, wanted))


def _by_ratio(found: sp.Expr, wanted: sp.Expr) -> str:
    """Say what a wrong formula lacks when it is the right one times something simple."""
    if equivalent(found, wanted**2):
        return "That is the square of the answer: a variance where its root is asked for?"
    if equivalent(found**2, wanted):
        return "That is the root of the answer: a standard deviation where a variance is asked for?"
    points = random_points(found, wanted)
    ratios = [ratio for point in points if (ratio := _ratio(found, wanted, point))]
    if len(ratios) < len(points):
        return ""
    first = sp.nsimplify(ratios[0], rational=True, tolerance=1e-12)
    if all(abs(r - ratios[0]) < 1e-12 * abs(ratios[0]) for r in ratios):
        if first == -1:
            return "The sign is wrong, and nothing else."
        simple = first.is_Rational and max(abs(first.p), first.q) <= 1000
        return (f"Only a constant factor is wrong: you have ${sp.latex(first)}$ times the answer."
                if simple else "Only a constant factor is wrong.")  # fmt: skip
    for symbol in sorted(wanted.free_symbols | found.free_symbols, key=lambda s: s.name):
        for power in (1, -1, 2, -2, sp.Rational(1, 2), -sp.Rational(1, 2)):
            if equivalent(found, wanted * symbol**power):
                much = "much" if power > 0 else "little"
                return (f"Only the exponent of ${sp.latex(symbol)}$ is wrong: "
                        f"${sp.latex(abs(power))}$ too {much}.")  # fmt: skip
    return ""


def _ratio(found: sp.Expr, wanted: sp.Expr, point: Any) -> sp.Expr | None:
    above, below = number(found, point), number(wanted, point)
    return None if above is None or not below else above / below


_MISTAKES: tuple[tuple[str, str], ...] = (
    (r"whole [+-] 1$", "You are off by exactly one."),
    (r"(\w+) and (\w+) swapped", "Two symbols have changed places: ${0}$ and ${1}$."),
    (r"(\w+) -> \1 [+-] 1", "Off by one in ${0}$: try the smallest ${0}$ by hand."),
    (r"exponent .* on (.*)", "Look at the exponent of ${0}$."),
    (r"term .* dropped", "A term is missing."),
    (r"sign of term", "One term has the wrong sign."),
    (r"factor .* dropped", "A factor is missing in one place."),
    (r"(\w+) squared|root of (\w+)", "Variance or standard deviation? Look at the power of ${0}$."),
    (r".* doubled|.* -> ", "One constant is wrong."),
    (r"sign of ", "One sign is wrong."),
)


def _by_mutant(found: sp.Expr, wanted: sp.Expr) -> str:
    """Say which mistake leads from the right formula to this one, if a single one does."""
    for mutant in formula_mutants(wanted):
        if not equivalent(found, mutant.formula):
            continue
        for pattern, say in _MISTAKES:
            if match := re.match(pattern, mutant.label):
                return say.format(*(_tex(part) for part in match.groups() if part))
    return ""


def _tex(name: str) -> str:
    try:
        return str(sp.latex(parse(name)))
    except ValueError:
        return name if len(name) == 1 else rf"\{name}"


def _at_a_point(found: sp.Expr, wanted: sp.Expr) -> str:
    """Hold both against each other where the numbers are small enough to do by hand."""
    for point in small_points(wanted.free_symbols | found.free_symbols):
        mine, theirs = number(wanted, point), number(found, point)
        if mine is None or theirs is None:
            continue
        place = ", ".join(f"{sp.latex(s)}={float(v):g}" for s, v in point.items())
        at = f"At ${place}$ it should be" if place else "It should be"
        return f"{at} ${float(mine):.4g}$; yours gives ${float(theirs):.4g}$."
    return "Try a small case by hand, and see what yours gives there."


def _number(asked: Question, given: Any) -> Judgement:
    wanted, found = float(sp.N(parse(asked.answer))), float(sp.N(read(given)))

    def near(other: float) -> bool:
        return abs(found - other) <= asked.within * max(abs(other), 1e-300)

    unit = f" {asked.unit}" if asked.unit else ""
    if near(wanted):
        return Judgement(True, f"It is {wanted:.4g}{unit}.")
    for wrong, say in asked.known.items():
        if near(float(sp.N(parse(wrong)))):
            return Judgement(False, say)
    for other, say in (
        (-wanted, "The sign is wrong, and nothing else."),
        (2 * wanted, "You are off by a factor of 2: too large."),
        (wanted / 2, "You are off by a factor of 2: too small."),
        (wanted**2, "That is the square of the answer."),
        (abs(wanted) ** 0.5, "That is the root of the answer."),
        (100 * wanted, "That is a hundred times the answer: a percentage?"),
        (1 / wanted if wanted else 0.0, "That is one over the answer."),
    ):
        if near(other):
            return Judgement(False, say)
    size = "large" if found > wanted else "small"
    return Judgement(False, f"Too {size}.")


def _choice(asked: Question, given: Any) -> Judgement:
    letter = given.strip().lower() if isinstance(given, str) else given
    if letter not in asked.choices:
        raise ValueError(f"answer: got {given!r}; accepted: {', '.join(asked.choices)}")
    if letter == asked.answer:
        return Judgement(True, asked.choices[letter])
    return Judgement(False, asked.known[letter])


def _function(asked: Question, given: Any) -> Judgement:
    if not callable(given):
        raise TypeError(f"answer: got {type(given).__name__}; accepted: a function")
    fault = tried(PROBLEMS[asked.problem], given)
    return Judgement(not fault, fault or "It gives what it should on all inputs that were tried.")


def _open(asked: Question, given: Any) -> Judgement:
    return Judgement(False, "No machine decides this one: hold yours against the solution.")


_JUDGES: dict[str, Callable[[Question, Any], Judgement]] = {
    "formula": _formula, "number": _number, "choice": _choice, "function": _function,
    "open": _open,
}  # fmt: skip
