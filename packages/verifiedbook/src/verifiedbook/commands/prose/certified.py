"""Digits that a ball certifies: a number whose owner is a formula, or a claim at a point.

`owners` asks whether a printed number agrees with what owns it, in floating point. Here the owner's
formula is enclosed, with every decimal of it read as the fraction that it is, and the printed
rounding has to be the only one that the ball allows. A digit beyond what is true is red.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import sympy as sp

from ...account import registry
from ...exact import balls
from ...exact.formulas.notation import FormulaReader, symbols
from ..status import provenance, write_status
from . import pages
from .owners import CLAIM, DEFINITION, FREE, PRINTED, Owned, Page, matched
from .tokens import RELATION, Token, tokens

ROUNDED = 4  # digits from which on a decimal of an owner is itself a rounded number
_DECIMAL = re.compile(r"[-−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?%?")
_POWER = re.compile(r"(?:([-\d.]+)\\cdot)?10\^\{?(-?\d+)\}?")


class _Exact(FormulaReader):
    """A reader for which 0.02 is 1/50, and 0.7737 what is rounded to it.

    Attributes:
        within: the ends of each decimal of four digits or more: half a unit to either side.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.within: dict[sp.Symbol, tuple[Fraction, Fraction]] = {}

    def _read(self, node: ast.expr, depth: int = 0) -> Any:
        if not (isinstance(node, ast.Constant) and isinstance(node.value, float)):
            return super()._read(node, depth)
        said = str(ast.get_source_segment(self._text, node))
        digits, _, power = said.lower().partition("e")
        if len(digits.replace(".", "").strip("0")) < ROUNDED:
            return sp.Rational(said)
        half = Fraction(10) ** (int(power or 0) - len(digits.partition(".")[2])) / 2
        ends = Fraction(said) - half, Fraction(said) + half
        symbol = sp.Symbol(said, positive=ends[0] > 0)
        self.within[symbol] = ends
        return symbol


@dataclass(frozen=True)
class Certified:
    """A printed number, what owns it, the formula behind it, and what the ball says.

    Attributes:
        said: the token as it is printed.
        owner: its row's owner.
        formula: the value of the owner.
        within: the ends of what is rounded in it.
        digits: the number, and the unit of its last digit.
        fault: why the ball does not certify it, or None.
        enclosed: whether there is a ball.
    """

    said: str
    owner: str
    formula: sp.Expr
    within: balls.Within
    digits: tuple[Fraction, Fraction]
    fault: str | None
    enclosed: bool = True


def printed(token: Token) -> tuple[Fraction, Fraction] | None:
    """Return the number that a token prints last, and the unit of its last digit.

    Example:
        >>> printed(Token("3.6 %", "number"))
        (Fraction(9, 250), Fraction(1, 1000))
        >>> printed(Token(r"$\\\\sqrt2\\\\approx1.41$", "formula"))
        (Fraction(141, 100), Fraction(1, 100))
        >>> printed(Token("twice", "word"))
    """
    if token.kind == "word":
        return None
    last = RELATION.split(token.text.strip("$ "))[-1]
    last = re.sub(r"\\,|\\%|[\s\u202f,]", lambda found: "%" * (found[0] == r"\%"), last)
    if power := _POWER.fullmatch(last):
        last = f"{power[1] or 1}e{power[2]}"
    if not _DECIMAL.fullmatch(last):
        return None
    last, scale = last.replace("−", "-"), Fraction(1, 100) if last.endswith("%") else Fraction(1)
    digits, _, power_text = last.rstrip("%").lower().partition("e")
    places = len(digits.partition(".")[2])
    shift = Fraction(10) ** int(power_text or 0) * scale
    return Fraction(digits) * shift, Fraction(1, 10**places) * shift


def formula_of(owner: str) -> tuple[sp.Expr, balls.Within] | None:
    """Return the value of an owner, a formula without letters or a claim's at a point, and the
    ends of what is rounded in it.

    None for what is printed, quoted, told, free or a definition; a formula that has letters is
    compared as a whole, and has no digits.
    """
    if owner.partition(":")[0] == FREE or owner[:1] in "@?" or owner.split(" ")[0] == DEFINITION:
        return None
    if owner.startswith("computed") or PRINTED.fullmatch(owner):
        return None
    point: dict[sp.Basic, sp.Expr] = {}
    within: balls.Within = {}
    if claim := CLAIM.fullmatch(owner):
        if claim["part"] == "told":
            return None
        of = registry.reading_of(claim["id"], claim["case"])
        owner = registry.formula_of(of, claim["part"])
        pairs = (item.split("=") for item in (claim["at"] or "").split(",") if item.strip())
        given_at = {symbols(name.strip()): _Exact(given) for name, given in pairs}
        point = {name: reader.value() for name, reader in given_at.items()}
        within = {s: ends for reader in given_at.values() for s, ends in reader.within.items()}
    reader = _Exact(owner)
    value = reader.value().subs(point).doit(integrals=False)
    within = {**within, **reader.within}
    return None if value.free_symbols - {*within} else (value, within)


def certified(
    markdown: str, own: Owned, page: Page, following: Sequence[str] = ()
) -> Iterator[Certified]:
    """Yield what the balls say of each printed number that is owned by a formula."""
    pairs, _ = matched([*tokens(markdown)], own, page, following)
    for token, row in pairs:
        digits = printed(token)
        text, owners = own.rows[row]
        for owner in owners if digits and text == token.text else ():
            try:
                found = formula_of(owner)
            except (KeyError, TypeError, ValueError):
                continue  # `owners` says so
            if found is None or digits is None:
                continue
            formula, within = found
            try:
                fault = balls.settles(formula, *digits, within)
                yield Certified(text, owner, formula, within, digits, fault)
            except ValueError as error:
                yield Certified(text, owner, formula, within, digits, str(error), enclosed=False)


def certified_in(path: Path) -> Iterator[Certified]:
    """Yield what the balls say of a notebook's printed numbers, or a page's."""
    owned = pages.owners_of(path)
    if path.suffix != ".ipynb":
        text = path.read_text(encoding="utf-8")
        yield from certified(text, owned[""], pages.page_of_text(path, text))
        return
    book = pages.read_notebook(path)
    page = pages.page(book)
    for index, cell in enumerate(book.cells):
        if cell.cell_type == "markdown" and cell.id in owned:
            yield from certified(cell.source, owned[cell.id], page, pages.following(book, index))


def uncertified_in(path: Path) -> Iterator[str]:
    """Yield the printed numbers of a notebook or page that no ball settles."""
    yield from _faults(path, certified_in(path))


def _faults(path: Path, found: Iterable[Certified]) -> Iterator[str]:
    return (f"{path.name}: {one.said} <- {one.owner}: {one.fault}" for one in found if one.fault)


def digits_of(root: Path) -> dict[str, dict[str, Any]]:
    """Return how many printed numbers a ball certifies, by page, and which, by the claim.

    Raises:
        ValueError: one is not certified.
    """
    paths = sorted([*root.glob("notebooks/*/*.ipynb"), *root.glob("book/*.md")])
    pages_of: dict[str, dict[str, int]] = {}
    claims: dict[str, list[str]] = {}
    for path in paths:
        found = [*certified_in(path)]
        if faults := [*_faults(path, found)]:
            raise ValueError("; ".join(faults))
        balls_of = [one for one in found if not one.formula.is_Rational]
        if found:
            counts = {"balls": len(balls_of), "fractions": len(found) - len(balls_of)}
            pages_of[path.relative_to(root).as_posix()] = counts
        for one in balls_of:
            if claim := CLAIM.fullmatch(one.owner):
                said = RELATION.split(one.said.strip("$ "))[-1].strip()
                at = f" at {claim['at']}" if claim["at"] else ""
                claims.setdefault(claim["id"], []).append(said + at)
    return {
        "pages": pages_of,
        "claims": {id: sorted({*said}) for id, said in sorted(claims.items())},
    }


def keep_digits(root: Path) -> Path:
    """Certify every printed number anew, and keep what `digits_of` finds."""
    made = {**provenance(root), "flint": version("python-flint")}
    return write_status(root, "digits", {**digits_of(root), **made})


def uncertified(
    markdown: str, own: Owned, page: Page, following: Sequence[str] = ()
) -> Iterator[str]:
    """Yield the printed numbers that are not the only rounding of what owns them.

    Example:
        >>> [*uncertified("It is 1.415.", Owned([("1.415", ["sqrt(2)"])]), Page())]
        ['1.415 <- sqrt(2): it is 1.4142136']
    """
    for one in certified(markdown, own, page, following):
        if one.fault:
            yield f"{one.said} <- {one.owner}: {one.fault}"
