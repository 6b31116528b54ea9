"""Errata: how much a wrong claim matters, as a person judges it, and both numbers, as computed.

The grade, the headline and the words are data of the registry. The numbers are not: they follow
from the formula of the reading and from that of its truth, at the values that the article uses.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .reading import Reading
from .rendering.formulas import latex
from .rules import Refuse, check_rules

_KEYS = {"grade", "order", "headline", "case", "of", "at", "printed", "right", "relation", "told",
         "follows"}  # fmt: skip
FILLED = re.compile(r"\{(printed|right|=[^{}]+)\}")
_NAME = re.compile(r"[A-Z]+-\d{2,}")
_LONGEST = 240  # letters of a headline
RELATIONS = MappingProxyType({"<": "less than", ">": "more than", "order": "of the order of"})


@dataclass(frozen=True)
class Grade:
    """How much an erratum matters: its name, what readers see, and what it means."""

    name: str
    label: str
    means: str


GRADES: Mapping[str, Grade] = MappingProxyType(
    {
        grade.name: grade
        for grade in (
            Grade("result", "changes a result", "a conclusion or a number of the article changes"),
            Grade("recipe", "the recipe fails as printed", "who follows the text gets no model "
                  "that does what is said"),
            Grade("assumption", "unstated assumption", "right where something holds that is "
                  "not said, and that the article's own setting does not give"),
            Grade("misprint", "misprint", "a slip of the pen: a letter, a sign, a name"),
        )
    }
)  # fmt: skip


@dataclass(frozen=True)
class Side:
    """What is printed, or what is right: a formula or words, and its number where it has one."""

    text: str
    value: str | None = None


@dataclass(frozen=True)
class Erratum:
    """What is wrong with a claim, and how much it matters.

    Attributes:
        grade: a name of `GRADES`; judged by a person.
        order: its place among the errata of that grade in the article, the gravest first.
        headline: what is wrong and what is right, in a sentence.
        case: the case of the reading whose formulas are shown, or None.
        of: what the two formulas are of, in words.
        at: the values at which both are computed, as text with LaTeX.
        relation: how what is printed is meant, a name of `RELATIONS`; None for an equality.
        printed, right: the two sides.
        follows: the wrong claim of the same article of which it is a consequence, as a person
            judges; None of a root.
    """

    grade: str
    order: int
    headline: str
    case: str | None
    of: str | None
    at: str | None
    relation: str | None
    printed: Side
    right: Side
    follows: str | None = None


def read_erratum(data: Mapping[str, Any], reading: Reading, refuse: Refuse) -> Erratum:
    """Read the erratum of a claim, and compute its numbers.

    Args:
        data: as a claims file has it, under ``erratum`` in the reading.

    Raises:
        RegistryError: a key is unknown or missing, the case has no truth, or a number is missing
            where there are formulas.
    """
    for key, accepted in (("at", "{n: 512}"), ("told", "{printed: …, right: …}")):
        if not isinstance(data.get(key) or {}, Mapping):
            raise refuse(f"erratum: {key} is {data[key]!r}; accepted: a mapping such as {accepted}")
    case, told = data.get("case"), data.get("told") or {}
    part = reading.parts.get(case, reading)
    own = {"printed": part.formula, "right": part.truth_formula}
    both = [name for name, p in reading.parts.items() if p.formula and p.truth_formula]
    formulas = {key: None if told.get(key) else own[key] or data.get(key) for key in own}
    twice = [f for key, f in own.items() if f and (data.get(key) or (both and told.get(key)))]
    absent = [key for key in own if not (formulas[key] or told.get(key))]
    check_rules(refuse, {
        f"unknown keys in erratum: {sorted(set(data) - _KEYS)}": set(data) - _KEYS,
        f"grade is {data.get('grade')!r}; accepted: {', '.join(GRADES)}":
            data.get("grade") not in GRADES,
        f"order is {data.get('order')!r}; accepted: an integer, 1 for the gravest":
            not isinstance(data.get("order"), int),
        f"relation is {data.get('relation')!r}; accepted: {', '.join(RELATIONS)}":
            data.get("relation") not in (None, *RELATIONS),
        f"erratum: case is {case!r}; accepted: {', '.join(map(str, reading.cases))}":
            case not in reading.parts,
        f"erratum: the reading says nothing that is true instead (case {case})": not part.truth,
        f"erratum: case {case} has no two formulas; accepted: {both}": both and case not in both,
        f"erratum: a formula stands in the reading already: {', '.join(twice)}": twice,
        f"erratum: {', '.join(absent)} is missing: a formula, or words under told": absent,
        "erratum: of is missing: what the formulas are of":
            any(formulas.values()) and not data.get("of"),
    })  # fmt: skip
    at = {name: str(number) for name, number in (data.get("at") or {}).items()}
    try:
        numbers = {key: value(str(f), at) for key, f in formulas.items() if f is not None}

        def number(found: re.Match[str]) -> str:
            computed = found[1].startswith("=")
            return shown(value(found[1][1:], at) if computed else numbers[found[1]])

        def filled(text: object) -> str:
            return FILLED.sub(number, " ".join(str(text).split()))

        sides = {
            key: Side(f"${latex(str(f))}$", shown(numbers[key])) if f else Side(filled(told[key]))
            for key, f in formulas.items()
        }
        headline = filled(data.get("headline") or "")
    except KeyError as error:
        raise refuse(f"erratum: a text shows {error}, which has no formula") from error
    except ValueError as error:
        raise refuse(f"erratum: {error}") from error
    if not headline or len(headline) > _LONGEST or _NAME.search(headline):
        raise refuse(f"headline: got {headline!r}; accepted: a sentence of up to {_LONGEST} "
                     "letters, without names of claims")  # fmt: skip
    return Erratum(
        data["grade"], data["order"], headline, case, filled(data["of"]) if "of" in data else None,
        ", ".join(f"${latex(name)}={latex(text)}$" for name, text in at.items()) or None,
        data.get("relation"), sides["printed"], sides["right"], data.get("follows"),
    )  # fmt: skip


# ------------------------------------------------------------------ numbers
# Of the registry's formulas at a point, without SymPy, and how a reader sees them.


_EXACT = 10**9  # integers up to here are written out
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_KNOWN: dict[str, Any] = {
    "sqrt": math.sqrt, "exp": math.exp, "log": math.log, "gamma": math.gamma, "erf": math.erf,
    "erfc": math.erfc, "sin": math.sin, "cos": math.cos, "Rational": operator.truediv,
    "pi": math.pi, "E": math.e,
}  # fmt: skip


def value(formula: str, at: Mapping[str, str]) -> float:
    """Evaluate a formula of the registry.

    Args:
        formula: such as ``"2*d*sigma**4"``.
        at: by name, what its symbols are: numbers, or formulas in the other names.

    Raises:
        ValueError: a name without a value, or a part that has no number.

    Example:
        >>> value("n*k*q", {"n": "30000", "k": "8", "q": "128"})
        30720000
    """
    try:
        code = compile(formula.strip(), "a formula", "eval")
        others = {name: {key: text for key, text in at.items() if key != name} for name in at}
        names = {name: value(at[name], others[name]) for name in code.co_names if name in at}
        found: float = eval(code, {"__builtins__": {}}, _KNOWN | names)
        if not isinstance(found, int | float):
            raise TypeError("a text, or a complex number")
    except NameError as error:
        given = ", ".join(at) or "nothing"
        raise ValueError(f"at: {error.name} has no value; given: {given}") from error
    except (SyntaxError, ArithmeticError, TypeError, RecursionError) as error:
        raise ValueError(f"formula: {formula!r} has no number there ({error})") from error
    return found


def shown(number: float) -> str:
    """Write a number for readers: whole where it is short, else with a few digits."""
    if number == int(number) and abs(number) < _EXACT:
        return f"{int(number):,}".replace(",", "\u202f")
    power = math.floor(math.log10(abs(number)))
    if -5 < power < 9:
        digits = f"{number:.{max(3 - power, 0)}f}"
        whole, _, rest = digits.partition(".")
        sign, rest = "-" * whole.startswith("-"), rest.rstrip("0")
        return f"{sign}{abs(int(whole)):,}".replace(",", "\u202f") + f".{rest}" * bool(rest)
    return f"{number / 10.0**power:.2f}·10{str(power).translate(_RAISED)}"
