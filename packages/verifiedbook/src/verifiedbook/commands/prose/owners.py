"""Owners of what a text says, in a file beside it, and whether they own it.

``notebooks/3-first-loss/3-norm-variance.owners`` has them by the id of each cell, a line each, in
the order in which the text says them; of a page they stand without an id.

    [norm-variance-14]
    let w: Tensor(Normal(0, sigma), d); f(x): x + x**3
    $\\operatorname{Var}\\lVert w\\rVert^2=2d\\sigma^4$ <- LOSS-14
    3.6 % <- LOSS-14 at d=3, sigma=0.2
    0.143 <- printed "BERT-base"
    0.57 <- printed "Llama, untied" in notebooks/4-growth/7-grow-real-models.ipynb
    0.05 <- sqrt(2/768)
    768 <- @radford2019
    $u=r^2/2$ <- definition
    0.82 <- ATTN-08.told
    (1) <- LOSS-14
    display 2 <- computed <- LOSS-15
    compare the tied loss is larger: printed "tied" > printed "untied"

A source owns what the `annote` of its entry in the bibliography says. A display is named by its
``\\tag`` or by its place in the text; see `displays`. ``told`` is what the texts of the claim say:
a formula of them, whole or a side of it in any form, or a number. A whole number that is part of
the story may be ``free``, any other with a reason behind it, ``free: a rate that was tried``. A
number alone owns nothing. What needs no owner, `needless` says; it may have one. A number that is
changed in the text alone, or changes places with another, has no owner any more; changed in both
places, it disagrees with its owner.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ...account import registry
from ...account.rendering.formulas import latex
from ...exact.displays.latex_reader import read
from ...exact.displays.names import Names
from ...exact.formulas.evaluation import number
from ...exact.formulas.notation import parse, symbols
from . import displays, needless
from .comparisons import comparison_fault
from .meanings import meaning
from .needless import unspaced
from .tokens import RELATION, Token, number_of, tokens

_LET, _COMPARE = "let ", "compare "
_ARROW = " <- "
_CELL = re.compile(r"\[([\w-]+)\]")
CLAIM = re.compile(rf"{registry.PART}(?: at (?P<at>.+))?")
PRINTED = re.compile(r"printed (.+?)(?: in (notebooks/\S+))?")
_BELOW, _ABOVE = (["<"], [r"\le"], [r"\leq"]), ([">"], [r"\ge"], [r"\geq"])
_POWER = re.compile(r"(?:([\d.]+)\\cdot)?10\^\{?(-?\d+)\}?")
FREE, DEFINITION = "free", "definition"


@dataclass
class Owned:
    """The owners of one text.

    Attributes:
        rows: what is said, with its owners, in the order of the text.
        lets: what names stand for, such as ``w: Tensor(Normal(0, sigma), d)``.
        compared: words that say which of two is larger, with the two; see `comparisons`.
    """

    rows: list[tuple[str, list[str]]] = field(default_factory=list)
    lets: list[str] = field(default_factory=list)
    compared: list[str] = field(default_factory=list)


def read_owners(text: str) -> dict[str, Owned]:
    """Return the owners that a file has, by the id of the cell; of a page by "".

    Raises:
        ValueError: a line has no owner.
    """
    found: dict[str, Owned] = {}
    own = found.setdefault("", Owned())
    for line in filter(None, map(str.strip, text.splitlines())):
        if cell := _CELL.fullmatch(line):
            own = found.setdefault(cell[1], Owned())
        elif line.startswith(_LET):
            own.lets.append(line.removeprefix(_LET))
        elif line.startswith(_COMPARE):
            own.compared.append(line.removeprefix(_COMPARE))
        else:
            said, *owners = map(str.strip, line.split(_ARROW))
            if not owners:
                raise ValueError(f"owners: {line!r}; accepted: lines such as 3.6 % <- LOSS-14")
            own.rows.append((said, owners))
    return found


def owners_text(owned: Mapping[str, Owned]) -> str:
    """Return the text of a file of owners; what `read_owners` gives of it is the same."""
    parts = []
    for cell, own in owned.items():
        lines = [_LET + said for said in own.lets]
        lines += [_COMPARE + said for said in own.compared]
        lines += [_ARROW.join([said, *owners]) for said, owners in own.rows]
        if lines:
            parts.append("\n".join([f"[{cell}]", *lines] if cell else lines) + "\n")
    return "\n".join(parts)


@dataclass(frozen=True)
class Page:
    """What a text may refer to.

    Attributes:
        printed: lines that the page's code cells print.
        sources: by key of the bibliography what is quoted there, its `annote`.
        names: what the names in its displays stand for; each text adds to them.
        around: what stands around them.
        elsewhere: gives the lines that another notebook prints, by its path.
    """

    printed: Sequence[str] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    around: needless.Around = field(default_factory=needless.Around)
    elsewhere: Callable[[str], Sequence[str]] | None = None

    def lines(self, notebook: str) -> Sequence[str]:
        """Return what this page prints, or the notebook of that path."""
        if not notebook:
            return self.printed
        if self.elsewhere is None:
            raise ValueError(f"{notebook} cannot be looked up from here")
        return self.elsewhere(notebook)


def faults(markdown: str, own: Owned, page: Page, following: Iterable[str] = ()) -> list[str]:
    """Say what in a text has no owner, or one that does not own it.

    Args:
        markdown: the text of a cell or page.
        own: its owners.
        page: what it may refer to.
        following: the lines that the next output prints.

    Example:
        >>> faults("It is $2/d$.", Owned([("$2/d$", ["3/d"])]), Page())
        ['$2/d$ <- 3/d: it would be $\\\\frac{3}{d}$']
        >>> faults("It is 3.6 %.", Owned(), Page())
        ['3.6 % has no owner']
    """
    said = [*tokens(markdown)]
    shown = shown_as(said)
    pairs, unowned = matched(said, own, page, following)
    found = [f"{token.text} has no owner" for token in unowned]
    found += displays.misread(own.lets, page.names)
    for line in own.compared:
        fault = comparison_fault(line, markdown, partial(_number, page=page))
        found += [f"compare {line}: {fault}"] if fault else []
    rows = {id(token): row for token, row in pairs}
    for token in said:
        if id(token) not in rows and token.text.startswith("$$"):
            displays.display_fault(token.text, DEFINITION, page.names)  # which learns its names
        text, owners = own.rows[rows[id(token)]] if id(token) in rows else ("", [])
        for owner in owners:
            shown_by_name = text != token.text  # whole, it may also be told, as a formula in a line
            fault = None if shown_by_name else owner_fault(token, owner, page)
            if shown_by_name or (fault and text.startswith("$$")):
                fault = displays.display_fault(token.text, owner, page.names)
            found += [f"{text} <- {owner}: {fault}"] if fault else []
    there = {token.text for token in said}
    for row in sorted({*range(len(own.rows))} - {row for _, row in pairs}):
        text, owners = own.rows[row]
        where = "stands elsewhere in the text: owners are in its order"
        where = where if shown.get(text, text) in there else "is not in the text"
        found.append(f"{text}, owned by {', '.join(owners)}, {where}")
    return found


def shown_as(said: Iterable[Token]) -> dict[str, str]:
    """Return the displays of a text by the names that owners may give them."""
    return displays.named([token.text for token in said if token.text.startswith("$$")])


def matched(
    said: Sequence[Token], own: Owned, page: Page, following: Iterable[str] = ()
) -> tuple[list[tuple[Token, int]], list[Token]]:
    """Pair what a text says with the rows of its owners, both in their order.

    Returns:
        Tokens with the number of their row, and those that need an owner and have none.
    """
    shown = shown_as(said)
    done = needless.unasked(said, page.around, following)
    rows = [shown.get(text, text) for text, _ in own.rows]
    pairs = needless.aligned(
        [token.text for token in said], rows, [1 if free else 2 for free in done]
    )
    unowned = [t for n, (t, free) in enumerate(zip(said, done, strict=True))
               if n not in pairs and not free]  # fmt: skip
    return [(said[place], row) for place, row in pairs.items()], unowned


def owner_fault(token: Token, owner: str, page: Page) -> str | None:
    """Say why an owner does not own a number, a word or a formula in a line; None where it does."""
    if owner.startswith("? "):
        return "has changed its place: where this owns it there as well, take the ? away"
    if owner.partition(":")[0] == FREE:
        told = owner != FREE or (token.kind == "number" and not re.search(r"\d\.\d|%", token.text))
        return None if told else f"accepted: what computes or prints it, or {FREE}: and why"
    if owner == DEFINITION and not RELATION.search(token.text) and _said(token):
        return "a number is no definition; accepted: what computes or prints it"
    if owner == DEFINITION or owner.split(" ")[0] == displays.COMPUTED:
        return displays.inline_fault(token.text, owner, page.names)
    if re.fullmatch(r"[\d.e-]+", owner):
        return "a number owns nothing; accepted: what it is computed from"
    claim = CLAIM.fullmatch(owner)
    try:
        if owner.startswith("@"):
            return _quoted(token, page.sources.get(owner[1:]))
        if label := PRINTED.fullmatch(owner):
            return _printed(token, label[1].strip('" '), page.lines(label[2] or ""))
        if claim:
            return _claimed(token, claim)
        letters = parse(owner).free_symbols
        return _written(token, owner) if letters else _agrees(token, owner, {})
    except (KeyError, TypeError, ValueError) as error:
        return str(error.args[0])


def _quoted(token: Token, quotation: str | None) -> str | None:
    """Whether what the bibliography quotes of a source has a number."""
    if quotation is None:
        return "not in the bibliography"
    there = _among(token, tokens(quotation))
    return None if there else f"its annote in the bibliography: {quotation or 'there is none'}"


def _printed(token: Token, label: str, lines: Sequence[str]) -> str | None:
    named = [line for line in lines if label in line]
    if len(label) < 3:
        return f"{label!r} may stand in any line; accepted: three letters or more"
    if not named:
        return f"no line that is printed has {label!r}"
    if _said(token) is None:
        return "a formula is not printed"
    if any(_among(token, tokens(line.replace("$", ""))) for line in named):
        return None
    return f"what is printed: {named[0].strip()}"


def _number(owner: str, page: Page) -> float:
    """The number that stands first behind a printed label, or that a claim or a formula has."""
    if label := PRINTED.fullmatch(owner):
        text = label[1].strip('" ')
        rests = [line.partition(text)[2] for line in page.lines(label[2] or "") if text in line]
        read = [said for rest in rests for token in tokens(rest) if (said := number_of(token))]
        if not read:
            raise ValueError(f"no line that is printed has a number behind {text!r}")
        return read[0][0]
    if claim := CLAIM.fullmatch(owner):
        of = registry.reading_of(claim["id"], claim["case"])
        owner, point = registry.formula_of(of, claim["part"]), _point(claim["at"] or "")
    found = number(parse(owner), point if claim else {}, 20)
    if found is None:
        raise ValueError(f"{owner} has no value there")
    return float(found)


def _among(token: Token, others: Iterable[Token]) -> bool:
    """Whether one of the others says the number, to the digits that the token has."""
    said, found = _said(token), (number_of(other) for other in others)
    return said is not None and any(
        other is not None and abs(other[0] - said[0]) <= said[1] * (1 + 1e-9) for other in found
    )


def _claimed(token: Token, claim: re.Match[str]) -> str | None:
    of = registry.reading_of(claim["id"], claim["case"])
    if claim["part"] == "told":
        statement = registry.statement(claim["id"])
        return _told(token, " ".join(needless.texts(statement, claim["case"])))
    text = registry.formula_of(of, claim["part"])
    if token.kind == "formula" and not claim["at"]:
        return _written(token, text)
    return _agrees(token, text, _point(claim["at"] or ""))


def _told(token: Token, text: str) -> str | None:
    """Whether the texts of a claim have the whole formula, or the number."""
    there = list(tokens(text))
    if token.kind == "formula":
        whole = [other.text.strip("$ ") for other in there if other.kind == "formula"]
        said = re.sub(r"\\tag\{[^{}]*\}", "", token.text.strip("$ ")).rstrip(" .,;")
        sides = {meaning(side) for formula in whole for side in RELATION.split(formula)} - {None}
        told = unspaced(said) in map(unspaced, whole) or meaning(said) in sides
        return None if told else "its texts do not have this formula"
    return None if _among(token, there) else "its texts do not have this number"


def _written(token: Token, text: str) -> str | None:
    """Whether a side of a formula of the text is the claim's, in any form."""
    wanted, sides = latex(text), RELATION.split(token.text.strip("$"))
    if unspaced(wanted) in map(unspaced, sides) or meaning(wanted) in {*map(meaning, sides)} - {
        None
    }:
        return None
    return f"it would be ${wanted}$"


def _agrees(token: Token, text: str, point: Mapping[object, float]) -> str | None:
    """Whether a number is the value of a formula, and in a line whatever else is said to be it."""
    found = number(parse(text), point, 20)
    if found is None:
        return "has no value there"
    *sides, _ = RELATION.split(token.text.strip("$"))
    said = _said(token)
    if said is None or abs(float(found) - said[0]) > (near := said[1] * (1 + 1e-9)):
        return f"it is {float(found):.6g}"
    relation = RELATION.findall(token.text.strip("$"))[-1:]
    if (relation in _BELOW and found > said[0]) or (relation in _ABOVE and found < said[0]):
        return f"it is {float(found):.6g}, not {relation[0]} that"
    for side in sides:
        other = _value(side)
        if other is not None and abs(other - float(found)) > near:
            return f"{side.strip()} is {other:.6g}"
    return None


def _said(token: Token) -> tuple[float, float] | None:
    """The number that a token or its last side says, and by how much it may be rounded."""
    last = RELATION.split(token.text.strip("$ "))[-1].strip().replace("\\,", "")
    power = _POWER.fullmatch(last)
    try:
        digits = f"{power[1] or 1}e{power[2]}" if power else last
        return number_of(token) or number_of(Token(digits, "number"))
    except ValueError:
        value = _value(last)
        return None if value is None else (value, 1e-9 * abs(value))


def _value(side: str) -> float | None:
    """The number that a side of a formula stands for; None where it has letters."""
    try:
        found = number(read(side, Names()), {}, 20)
    except (ArithmeticError, TypeError, ValueError):
        return None
    return None if found is None else float(found)


def _point(text: str) -> dict[object, float]:
    pairs = (item.split("=") for item in text.split(",") if item.strip())
    return {symbols(name.strip()): float(parse(given)) for name, given in pairs}
