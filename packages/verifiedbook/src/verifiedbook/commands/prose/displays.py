r"""Displays that a text types: read, and each of their relations held against what owns them.

    (1) <- LOSS-14                      its formula stands in the chain, and each equality is true
    display 2 <- computed               each relation is true, at points of its symbols
    (3) <- computed at d=768 within 0.01
    (4) <- definition                   the left side is a new name, and stands for the right one
    (5) <- LOSS-33 for \nabla_W L       a left side that cannot be read is the claim's quantity
    let w: Tensor(Normal(0, sigma), d); i: Index(d)

An equality that is true whatever its names stand for is no definition. A formula within a line may
be computed as well, or a definition, which teaches no name.

What owns a display of a wrong claim owns a quotation: the formula stands in it, and it is not true.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence

import sympy as sp

from ...account.registry import PART, formula_of, reading_of
from ...account.rendering.formulas import latex
from ...exact.displays import relations
from ...exact.displays.latex_reader import read
from ...exact.displays.marks import Unread, chains, marks
from ...exact.displays.names import Names
from ...exact.formulas.evaluation import equivalent
from ...exact.formulas.notation import parse

COMPUTED, DEFINITION = "computed", "definition"
STATES = "is true whatever its names stand for, so that it states something: accepted: computed"
_TAG = re.compile(r"\\tag\*?\{([^{}]*)\}")
_OWNER = re.compile(
    rf"(?:{PART}|(?P<computed>computed)|(?P<definition>definition))"
    r"(?: for (?P<named>.+?))?(?: at (?P<at>.+?))?(?: within (?P<within>[\d.e-]+))?"
)
_BOUND = re.compile(r"<|>|\\(?:leq?|geq?|ll|gg|neq?|approx|sim)(?![A-Za-z])")
_FUNCTION = re.compile(r"@?\\?([A-Za-z]+) \( \\?([A-Za-z]+) \)")


def named(displays: Sequence[str]) -> dict[str, str]:
    r"""Return displays by the names that a comment may give them: ``(1)`` and ``display 1``."""
    found = {f"display {place}": text for place, text in enumerate(displays, start=1)}
    return found | {f"({tag[1]})": text for text in displays if (tag := _TAG.search(text))}


def misread(declarations: Sequence[str], names: Names) -> list[str]:
    """Take up what a comment says of names, and say what of it cannot be read."""
    found = []
    for said in declarations:
        try:
            names.let(said)
        except (ValueError, TypeError) as error:
            found.append(f"let {said}: {error.args[0]}")
    return found


def display_fault(display: str, owner: str, names: Names) -> str | None:
    """Say why an owner does not own a display; None where it does.

    Args:
        names: what the page's names stand for; what the display defines is added.
    """
    said = _OWNER.fullmatch(owner)
    if not said:
        return "accepted: a claim, computed, or definition; at d=3 and within 0.01 behind it"
    try:
        point = _point(said["at"] or "", names)
        within = float(said["within"]) if said["within"] else None
        parts = chains(display.strip("$ "))
        if said["definition"]:
            return _defined(parts, names)
        if said["computed"]:
            return "; ".join(_false(parts, said["named"], names, point, within)) or None
        return _claimed(parts, said, names, point, within)
    except (KeyError, TypeError, ValueError) as error:
        return str(error.args[0])


def inline_fault(formula: str, owner: str, names: Names) -> str | None:
    """Say why ``definition`` or ``computed`` does not own a formula within a line; None if it does.

    Args:
        formula: with its dollar signs; a definition teaches no name.
    """
    if owner != DEFINITION:
        return display_fault(formula, owner, names)
    try:
        return STATES if _is_true(chains(formula.strip("$ ")), names) else None
    except ValueError:
        return None


def _claimed(
    parts: Sequence[str],
    said: re.Match[str],
    names: Names,
    point: Mapping[sp.Symbol, object],
    within: float | None,
) -> str | None:
    """Whether a claim's formula stands in a display, and the rest of it is true."""
    of = reading_of(said["id"], said["case"])
    text = formula_of(of, said["part"])
    local = _apart(names)
    for name, meaning in of.where.items():
        if name not in local.known:
            local.let(f"{name}: {meaning}")
    quoted = bool(of.truth_formula) and said["part"] is None
    formula = parse(text).subs(dict(point))
    there = False
    for part in parts:
        sides = _sides(part, said["named"], local)
        there = there or any(_same(side.value.subs(dict(point)), formula) for side in sides)
        if not quoted:
            unnamed = sides[1:] if _is_the_quantity(sides, said["named"], local) else sides
            if false := [*relations.faults(unnamed, point, within)]:
                return "; ".join(false)
            _remember(sides, names)
    return None if there else f"it would be ${latex(text)}$"


def _sides(part: str, named_: str | None, names: Names) -> list[relations.Member]:
    """The sides of a chain; a first one that is given a name as the claim's quantity, as that."""
    if not named_:
        return relations.members(part, names)
    first, relation, rest = re.split(r"(=|\\approx(?![A-Za-z]))", part, maxsplit=1)
    if marks(first) != marks(named_):
        raise Unread(f"begins with {first.strip()}, not with {named_}")
    quantity = relations.Member(first.strip(), "", sp.Symbol(first.strip().lstrip("\\")))
    sides = relations.members(rest, names)
    return [quantity, relations.Member(sides[0].latex, relation, sides[0].value), *sides[1:]]


def _is_the_quantity(sides: Sequence[relations.Member], named_: str | None, names: Names) -> bool:
    if named_:
        return True
    if not relations.is_name(sides[0], names) or len(sides) == 1:
        return False
    if "[" in str(sides[0].value):
        raise Unread(
            f"{sides[0].latex} is a mean of what is not known: say what is drawn, let …: …, or "
            f"name it behind the claim: for {sides[0].latex}"
        )
    return True


def _false(
    parts: Sequence[str],
    named_: str | None,
    names: Names,
    point: Mapping[sp.Symbol, object],
    within: float | None,
) -> Iterator[str]:
    """Say which relations of chains are false; the first may begin with a name that is new."""
    for place, part in enumerate(parts):
        sides = _sides(part, None if place else named_, names)
        if len(sides) == 1:
            yield f"{part} states no relation"
        if named_ and len(sides) == 2 and len(parts) == 1:
            yield f"nothing is computed, where {named_} is all that there is: accepted: a claim"
        new = named_ and not place
        yield from relations.faults(sides[1:] if new else sides, point, within)
        if new:
            relations.learn(sides, names)


def _is_true(parts: Sequence[str], names: Names) -> bool:
    """Whether what a text calls a definition can be read, and holds without being one."""
    if any(map(_BOUND.search, parts)):  # which may hold at some points and be a choice
        return False
    inner = _apart(names)
    try:
        return not any(_false(parts, None, inner, {}, None))
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
        return False  # it cannot be read, or SymPy cannot compute it


def _defined(parts: Sequence[str], names: Names) -> str | None:
    """Take up definitions: a new name on the left, what it stands for on the right."""
    if _is_true(parts, names):
        return STATES
    for part in parts:
        left, equals, right = part.partition("=")
        if not equals:
            return f"{part} is no definition: accepted: a new name, =, and what it stands for"
        left = left.rstrip(": ")
        if function := _FUNCTION.fullmatch(" ".join(marks(left))):
            name, variable = function[1], sp.Symbol(function[2], real=True)
            inner = _apart(names)
            inner.known[function[2]] = variable
            body = read(right, inner)
            names.define(name, lambda x, body=body, variable=variable: body.subs(variable, x))
            continue
        try:
            sides = relations.members(part, names)
        except Unread:
            continue  # what cannot be read is a definition of words, and nothing is learnt of it
        if sides[0].value.is_number or not any(map(names.is_new, _names(sides[0].value))):
            return f"{left} has a meaning already: accepted: computed"
        if not isinstance(sides[0].value.as_base_exp()[0], (sp.Symbol, sp.Indexed)):
            return f"{left} is no name, so that this states something: accepted: computed"
        if len(sides) > 2 and (false := [*relations.faults(sides[1:], {}, None)]):
            return "; ".join(false)
        _remember(sides, names)
    return None


def _apart(names: Names) -> Names:
    """What names stand for, apart from them: what is learnt there, the page does not know."""
    found = copy.copy(names)
    found.known = dict(names.known)
    return found


def _names(value: sp.Expr) -> list[str]:
    return [symbol.name for symbol in value.free_symbols]


def _remember(sides: Sequence[relations.Member], names: Names) -> None:
    """Learn a new name that is no symbol of the notation, which stands for many things."""
    if isinstance(sides[0].value, sp.Symbol) and not names.is_notation(sides[0].value.name):
        relations.learn(sides, names)


def _same(value: sp.Expr, formula: sp.Expr) -> bool:
    return not value.has(sp.Indexed) and equivalent(value, formula, tolerance=1e-12)


def _point(text: str, names: Names) -> dict[sp.Symbol, object]:
    pairs = (item.split("=") for item in text.split(",") if item.strip())
    return {names.of(name.strip()): parse(given.strip()) for name, given in pairs}
