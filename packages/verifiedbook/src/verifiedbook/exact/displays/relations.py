r"""Whether what a display states is true: each of its relations, tried at points of its symbols."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import sympy as sp

from ..formulas.evaluation import equivalent, number, random_points
from .latex_reader import read
from .names import Names

_RELATION = re.compile(r"\\(?:approx|leq?|geq?|neq?|equiv|simeq)(?![A-Za-z])|:=|=|<|>")
_SMALL = {r"\leq": r"\le", r"\geq": r"\ge", r"\neq": r"\ne", ":=": "=", r"\equiv": "="}
_CLOSE = 0.05  # what "about" may be off by between two formulas, where no tolerance is given


@dataclass(frozen=True)
class Member:
    """A side of a chain: its LaTeX, the relation before it, and what it states."""

    latex: str
    relation: str
    value: sp.Expr


def members(chain: str, names: Names) -> list[Member]:
    """Read the sides of a chain of relations.

    Args:
        chain: LaTeX of one chain, such as ``a = b \\le c``.
        names: what the names stand for.

    Raises:
        Unread: a side cannot be read; a first side that is a new name reads as that name.
    """
    cuts = [m for m in _RELATION.finditer(chain) if _outside(chain, m.start())]
    ends = [0, *(m.end() for m in cuts)]
    starts = [*(m.start() for m in cuts), len(chain)]
    relations = ["", *(_SMALL.get(m.group(), m.group()) for m in cuts)]
    return [
        Member(text, relation, read(text, names))
        for text, relation in zip(
            (chain[a:b].strip() for a, b in zip(ends, starts, strict=True)), relations, strict=True
        )
    ]


def faults(
    sides: Sequence[Member], point: Mapping[sp.Symbol, object], within: float | None
) -> Iterator[str]:
    """Say which relations of a chain do not hold.

    Args:
        sides: as `members` reads them.
        point: numbers for some symbols, or none.
        within: how far apart the sides of ``\\approx`` may be, relatively.
    """
    put = dict(point)
    for left, right in pairwise(sides):
        a, b = (side.value.subs(put) if put else side.value for side in (left, right))
        a, b = _instantiated(a), _instantiated(b)
        if right.relation in ("=", r"\approx", r"\simeq"):
            close = right.relation != "="
            if close and (decimal := _decimal(right.latex)) and not a.free_symbols:
                found = number(a, {}, 20)
                if found is None or abs(float(found) - decimal[0]) > decimal[1] * (1 + 1e-9):
                    yield f"{left.latex} is {_shown(found)}, not {right.latex}"
            elif close:
                yield from _apart(left, right, a, b, within or _CLOSE)
            elif not equivalent(a, b, tolerance=1e-12):
                yield f"{left.latex} = {right.latex} is false{_example(a, b)}"
        else:
            yield from _ordered(left, right, a, b)


def learn(sides: Sequence[Member], names: Names) -> None:
    """Let the new name with which a chain begins stand for what the chain says that it is."""
    symbol = sides[0].value
    if isinstance(symbol, sp.Symbol) and names.is_new(symbol.name) and len(sides) > 1:
        if sides[1].relation == "=" and symbol not in sides[1].value.free_symbols:
            names.define(symbol.name, sides[1].value)


def is_name(side: Member, names: Names) -> bool:
    """Whether a side is a name of which nothing is known yet, such as L_0 or E[L]."""
    return isinstance(side.value, sp.Symbol) and names.is_new(side.value.name)


def _instantiated(value: sp.Expr) -> sp.Expr:
    """A number for every entry outside of a mean: an equality between arrays holds for any."""
    if not value.has(sp.Indexed):
        return value
    arrays = {entry.base.label for entry in value.atoms(sp.Indexed)}
    sizes = sorted({s for a in arrays for size in a.sizes for s in size.free_symbols}, key=str)
    value = value.subs({s: sp.Integer(2 + n) for n, s in enumerate(sizes)}).doit()
    fixed = {i: sp.Integer(1) for e in value.atoms(sp.Indexed) for i in e.indices if i.is_Symbol}
    value = value.subs(fixed)
    return value.replace(lambda e: isinstance(e, sp.Indexed), _entry)


def _entry(entry: sp.Indexed) -> sp.Rational:
    digest = hashlib.sha256(str(entry).encode()).digest()
    return sp.Rational(int.from_bytes(digest[:2], "big") - 32000, 9973)


def _values(a: sp.Expr, b: sp.Expr, count: int = 3) -> Iterator[tuple[Any, sp.Expr, sp.Expr]]:
    """Points at which both sides have numbers, and these."""
    for at in random_points(a, b, count=count):
        first, second = number(a, at, 15), number(b, at, 15)
        if first is not None and second is not None:
            yield at, first, second


def _apart(left: Member, right: Member, a: sp.Expr, b: sp.Expr, within: float) -> Iterator[str]:
    for at, first, second in _values(a, b):
        off = abs(float(first) / float(second) - 1) if second else abs(float(first))
        if off > within:
            where = "" if not at else f" at {_at(at)}"
            yield f"{left.latex} is {off:.2g} off {right.latex}{where}, relatively"
            return


def _ordered(left: Member, right: Member, a: sp.Expr, b: sp.Expr) -> Iterator[str]:
    for at, first, second in _values(a, b, count=12):
        true = {
            "<": first < second, ">": first > second, r"\le": first <= second,
            r"\ge": first >= second, r"\ne": first != second,
        }[right.relation]  # fmt: skip
        if not true:
            yield (
                f"{left.latex} {right.relation} {right.latex} is false at {_at(at)}: "
                f"{_shown(first)} and {_shown(second)}"
            )
            return


def _example(a: sp.Expr, b: sp.Expr) -> str:
    for at, first, second in _values(a, b):
        if abs(first - second) > 1e-12 * (1 + abs(first)):
            where = f" at {_at(at)}" if at else ""
            return f"{where}: {_shown(first)} and {_shown(second)}"
    return ""


def _at(point: Mapping[sp.Symbol, object]) -> str:
    return ", ".join(f"{s}={float(str(sp.N(v))):.4g}" for s, v in point.items())


def _shown(value: object) -> str:
    return "no number" if value is None else f"{float(str(value)):.6g}"


def _decimal(latex: str) -> tuple[float, float] | None:
    """The number that LaTeX says, and half a unit of its last digit."""
    text = re.sub(r"\\[,;!]|\{,\}|\s", "", latex)
    found = re.fullmatch(
        r"(-?\d+(?:\.(?P<places>\d+))?)(?:(?:\\cdot|\\times)10\^\{?(?P<power>-?\d+)\}?)?(?P<cent>\\%)?",
        text,
    )
    if not found:
        return None
    scale = 10.0 ** int(found["power"] or 0) * (0.01 if found["cent"] else 1)
    return float(found[1]) * scale, 0.5 * 10.0 ** -len(found["places"] or "") * scale


def _outside(text: str, place: int) -> bool:
    """Whether a place stands in no brackets, subscript or environment."""
    before = text[:place]
    depth = sum(before.count(x) for x in "([{") - sum(before.count(x) for x in ")]}")
    return depth == 0 and before.count(r"\begin") == before.count(r"\end")
