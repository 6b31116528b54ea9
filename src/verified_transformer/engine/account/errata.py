"""Errata: how much a wrong claim matters, as a person judges it, and both numbers, as computed.

The grade, the headline and the words are data of the registry. The numbers are not: they follow
from the formula of the reading and from that of its truth, at the values that the article uses.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .reading import Reading
from .rendering.formulas import latex

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


def read_erratum(
    data: Mapping[str, Any], reading: Reading, refuse: Callable[[str], Exception]
) -> Erratum:
    """Read the erratum of a claim, and compute its numbers.

    Args:
        data: as a claims file has it, under ``erratum`` in the reading.

    Raises:
        RegistryError: a key is unknown or missing, the case has no truth, or a number is missing
            where there are formulas.
    """
    if unknown := set(data) - _KEYS:
        raise refuse(f"unknown keys in erratum: {sorted(unknown)}")
    if data.get("grade") not in GRADES:
        raise refuse(f"grade is {data.get('grade')!r}; accepted: {', '.join(GRADES)}")
    if not isinstance(data.get("order"), int):
        raise refuse(f"order is {data.get('order')!r}; accepted: an integer, 1 for the gravest")
    if data.get("relation") not in (None, *RELATIONS):
        raise refuse(f"relation is {data['relation']!r}; accepted: {', '.join(RELATIONS)}")
    case = data.get("case")
    if case not in reading.parts:
        raise refuse(f"erratum: case is {case!r}; accepted: {', '.join(map(str, reading.cases))}")
    part, told = reading.parts[case], data.get("told") or {}
    if not part.truth:
        raise refuse(f"erratum: the reading says nothing that is true instead (case {case})")
    both = [name for name, p in reading.parts.items() if p.formula and p.truth_formula]
    if both and case not in both:
        raise refuse(f"erratum: case {case} has no two formulas; accepted: {both}")
    for key, own in (("printed", part.formula), ("right", part.truth_formula)):
        if own and (data.get(key) or (both and told.get(key))):
            raise refuse(f"erratum: {key} stands in the reading already: {own}")
        if not (own or data.get(key) or told.get(key)):
            raise refuse(f"erratum: {key} is missing: a formula, or words under told")
    at = {name: str(number) for name, number in (data.get("at") or {}).items()}
    formulas = {
        key: None if told.get(key) else own or data.get(key)
        for key, own in (("printed", part.formula), ("right", part.truth_formula))
    }
    if any(formulas.values()) and not data.get("of"):
        raise refuse("erratum: of is missing: what the formulas are of")
    try:
        numbers = {key: value(str(f), at) for key, f in formulas.items() if f is not None}

        def filled(text: object) -> str:
            return FILLED.sub(
                lambda found: shown(
                    value(found[1][1:], at) if found[1][0] == "=" else numbers[found[1]]
                ),
                " ".join(str(text).split()),
            )

        sides = {
            key: Side(f"${latex(str(f))}$", shown(numbers[key]))
            if f is not None else Side(filled(told[key]))
            for key, f in formulas.items()
        }  # fmt: skip
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
_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow,
    ast.Div: lambda a, b: a // b if isinstance(a, int) and isinstance(b, int) and not a % b
    else a / b,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt, "exp": math.exp, "log": math.log, "gamma": math.gamma, "erf": math.erf,
    "erfc": math.erfc, "sin": math.sin, "cos": math.cos, "Rational": lambda a, b: a / b,
}  # fmt: skip
_CONSTANTS = {"pi": math.pi, "E": math.e}


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
        return _number(ast.parse(formula.strip(), mode="eval").body, at)
    except (SyntaxError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"formula: {formula!r} has no number there ({error})") from error


def _number(node: ast.expr, at: Mapping[str, str]) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.Name):
        if node.id in at:
            others = {name: text for name, text in at.items() if name != node.id}
            return value(at[node.id], others)
        if node.id in _CONSTANTS:
            return _CONSTANTS[node.id]
        raise ValueError(f"at: {node.id} has no value; given: {', '.join(at) or 'nothing'}")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand, at)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_number(node.left, at), _number(node.right, at))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in _FUNCTIONS:
            return _FUNCTIONS[node.func.id](*(_number(part, at) for part in node.args))
    raise ValueError(f"formula: the part {ast.unparse(node)!r} has no number")


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
