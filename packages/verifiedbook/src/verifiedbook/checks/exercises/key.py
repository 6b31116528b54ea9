"""An exercise's key: what an answer is held against, in numbers, computed once by SymPy.

The key travels, as a line of JSON, in the metadata of the output that shows the exercise, so that
a published page, where no Python runs, judges an answer by the same numbers, in the same words.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import islice
from typing import Any

import sympy as sp

from ...account.questions import Question
from ...account.rendering.withheld_solutions import EXERCISE_KEY
from ...exact.formulas.evaluation import Point, below_one, number, random_points, small_points
from ...exact.formulas.mutants import formula_mutants
from ...exact.formulas.notation import parse, symbols
from .typed import said

__all__ = ["EXERCISE_KEY", "Key", "key", "key_in_a_line"]

_POINTS, _TRIED = 2, 60  # points at random of a key, and how many may have to be tried
_SHARP, _DIGITS = 1e-7, 9  # the relative error of a formula, the digits of what it is held against
Key = dict[str, Any]

# What people make of a number; some only where the answer has a logarithm, or an angle.
_Slip = tuple[Callable[[float], float], str, str]
_ONE_MINUS: _Slip = (lambda x: 1 - x, "That is one minus the answer.", "")
_OF_NUMBERS: tuple[_Slip, ...] = (
    (lambda x: -x, "The sign is wrong, and nothing else.", ""),
    (lambda x: 2 * x, "You are off by a factor of 2: too large.", ""),
    (lambda x: x / 2, "You are off by a factor of 2: too small.", ""),
    (lambda x: x**2, "That is the square of the answer.", ""),
    (lambda x: abs(x) ** 0.5, "That is the root of the answer.", ""),
    (lambda x: 100 * x, "That is a hundred times the answer. If you mean per cent, write %.", ""),
    (lambda x: x / 100, "That is a hundredth of the answer. Is it wanted in per cent?", ""),
    (lambda x: 1 / x, "That is one over the answer.", ""),
    _ONE_MINUS,
    (lambda x: x / math.log(2), "That is the answer over log 2: bits for nats?", "log"),
    (lambda x: x * math.log(2), "That is log 2 times the answer: nats for bits?", "log"),
    (lambda x: x / math.log(10), "You took the logarithm to base 10; here it is natural.", "log"),
    (math.radians, "Those are radians; degrees are asked for.", "pi/180"),
    (lambda x: x * math.sqrt(2), "You are off by a factor of √2: too large.", ""),
    (lambda x: x / math.sqrt(2), "You are off by a factor of √2: too small.", ""),
    *((partial(operator.mul, 10.0**n), "The digits are right: a power of ten is wrong.", "")
      for n in (-6, -4, -3, -1, 1, 3, 4, 6)),
)  # fmt: skip
_OF_FORMULAS = (
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


@cache
def key(asked: Question) -> Key:
    """Compute the key of an exercise.

    Args:
        asked: the question.

    Returns:
        JSON data: ``id`` and ``kind``; of a choice what to say to each letter; of a number or a
        formula the points at which it is evaluated, and ``right``, ``known``, ``slips``: sentences,
        each with the values there of all answers to which it is said. The last point is small
        enough to be told to a reader.
    """
    if asked.kind == "choice":
        say = {asked.answer: asked.choices[asked.answer], **asked.known}
        return {
            "id": asked.id,
            "kind": "choice",
            "right": asked.answer,
            "say": dict(sorted(say.items())),
        }
    if asked.kind not in ("number", "formula"):
        return {"id": asked.id, "kind": asked.kind}
    wanted = parse(asked.answer)
    known = [(parse(wrong), say) for wrong, say in asked.known.items()]
    names = [symbols(name) for name in asked.symbols.split()]
    points, told = _points([wanted, *(wrong for wrong, _ in known)], names)
    values = _values(wanted, points)
    slips: list[tuple[str, list[float | None]]]
    if asked.kind == "number":
        (value,) = values
        assert value is not None, asked.id
        right = said("right", f"{value:.4g} {asked.unit}".strip())
        made = [(say, of(value)) for of, say, needs in _of_number(value, asked.within)
                if needs in asked.answer]  # fmt: skip
        slips = [(say, [_rounded(wrong)]) for say, wrong in made]
    else:
        right = f"${sp.latex(wanted)}$ it is."
        slips = [(say, _values(slip, points)) for slip, say in _slips(wanted)]
    return {
        "id": asked.id,
        "kind": asked.kind,
        "names": asked.symbols.split(),
        "at": [[float(sp.sympify(point[name])) for name in names] for point in points],
        "within": asked.within if asked.kind == "number" else _SHARP,
        "unit": asked.unit,
        "told": told,
        "right": [right, values],
        "known": [[say, _values(wrong, points)] for wrong, say in known],
        "slips": _together(slips),
    }


def _of_number(value: float, within: float) -> list[_Slip]:
    """The slips that can be told apart: one minus a small answer is like one, and one plus it."""
    told = min(abs(value), 1 / abs(value)) > 2 * within if value else False
    return [slip for slip in _OF_NUMBERS if told or slip is not _ONE_MINUS]


def key_in_a_line(held: Key) -> str:
    """Return a key as it is stored: a line of JSON."""
    return json.dumps(held, ensure_ascii=False, separators=(",", ":"))


def _points(every: list[sp.Expr], names: list[sp.Symbol]) -> tuple[list[Point], str]:
    """Points at which the answer, and where they can all known wrong ones, have values."""
    tried = random_points(*names, count=_TRIED) if names else [{}]
    small = small_points(names)
    for formulas in (every, every[:1]):
        for points in (tried, [below_one(point) for point in tried]):
            good = list(islice(_good(formulas, points), _POINTS))
            if len(good) >= min(_POINTS, len(points)):
                told = (p for p in _good(formulas, small) if number(every[0], p))
                shown = next(told, {})  # of zero nothing is a multiple
                place = ", ".join(
                    f"{sp.latex(s)}={float(sp.sympify(v)):g}" for s, v in shown.items()
                )
                return [*good, *([shown] if shown else [])], place
    raise ValueError(f"{every[0]} has no value where it was tried")


def _good(formulas: list[sp.Expr], points: Iterable[Point]) -> Iterator[Point]:
    """The points at which all have values."""
    return (p for p in points if None not in (number(f, p) for f in formulas))


def _values(formula: sp.Expr, points: list[Point]) -> list[float | None]:
    found = [number(formula, point) for point in points]
    return [None if value is None else _rounded(value) for value in found]


def _rounded(value: Any) -> float:
    return float(f"{float(value):.{_DIGITS}g}")


def _together(slips: list[tuple[str, list[float | None]]]) -> list[list[Any]]:
    """One row for each sentence, with all values to which it is said; the first one wins."""
    rows: dict[str, list[list[float | None]]] = {}
    seen: list[object] = []
    for say, values in slips:
        if None not in values and values not in seen:
            seen.append(values)
            rows.setdefault(say, []).append(values)
    return [[say, *values] for say, values in rows.items()]


def _slips(wanted: sp.Expr) -> Iterator[tuple[sp.Expr, str]]:
    """What the answer becomes by one mistake, with what to say to it."""
    yield wanted**2, "That is the square of the answer: a variance where its root is asked for?"
    yield (
        sp.sqrt(wanted),
        "That is the root of the answer: a standard deviation where a variance is asked for?",
    )
    for symbol in sorted(wanted.free_symbols, key=lambda s: s.name):
        for power in (1, -1, 2, -2, sp.Rational(1, 2), -sp.Rational(1, 2)):
            much = "much" if power > 0 else "little"
            yield (
                wanted * symbol**power,
                f"Only the exponent of ${sp.latex(symbol)}$ is wrong: ${abs(power)}$ too {much}.",
            )
    for mutant in formula_mutants(wanted):
        for pattern, say in _OF_FORMULAS:
            if match := re.match(pattern, mutant.label):
                yield mutant.formula, say.format(*(_tex(part) for part in match.groups() if part))
                break


def _tex(name: str) -> str:
    try:
        return str(sp.latex(parse(re.sub(r"\blambda\b", "lam", name))))  # a word of Python's
    except ValueError:
        return name if len(name) == 1 else rf"\{name}"
