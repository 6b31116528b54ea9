"""Owners of what a text says, in a comment at the end of a cell, and whether they own it.

    <!-- owners
    $\\operatorname{Var}\\lVert w\\rVert^2=2d\\sigma^4$ <- LOSS-14
    3.6 % <- LOSS-14 at d=3, sigma=0.2
    0.143 <- printed "BERT-base"
    0.57 <- printed "Llama, untied" in notebooks/4-growth/7-grow-real-models.ipynb
    0.05 <- sqrt(2/768)
    three; twice <- free
    0.82 <- ATTN-08.told
    let w: Tensor(Normal(0, sigma), d); f(x): x + x**3
    (1) <- LOSS-14
    display 2 <- computed
    -->

A display is named by its ``\\tag`` or by its place in the text; see `displays`. ``told`` is what
the texts of the claim say: a whole formula of them, or a number. The comment is seen by nobody who
reads the page, in Colab neither. A number that is changed in the text alone has no owner any more;
changed in both places, it disagrees with its owner.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...account import registry
from ...account.rendering.formulas import latex
from ...exact.displays.latex_reader import read
from ...exact.displays.names import Names
from ...exact.formulas.evaluation import equivalent, number
from ...exact.formulas.notation import parse, symbols
from . import displays
from .tokens import Token, tokens, value

_LET = "let "
_COMMENT = re.compile(r"<!-- owners\n(.*?)-->", re.DOTALL)
_CLAIM = re.compile(
    r"(?P<id>[A-Z]+-\d{2})(?:\[(?P<case>[^\]]+)\])?(?:\.(?P<part>truth|claimed|quantity|told))?"
    r"(?: at (?P<at>.+))?"
)
_RELATION = re.compile(r"=|<|>|\\(?:approx|sim|propto|leq?|geq?|to|neq?|ll|gg)(?![A-Za-z])")
_PRINTED = re.compile(r"printed (.+?)(?: in (notebooks/\S+))?")
FREE, DEFINITION = "free", "definition"


def owners(markdown: str) -> list[tuple[str, str]]:
    """Return the pairs of token and owner in a text's comment.

    Raises:
        ValueError: a line of the comment has no owner.
    """
    pairs = []
    for comment in _COMMENT.findall(markdown):
        for line in filter(None, map(str.strip, comment.splitlines())):
            if line.startswith(_LET):
                continue
            said, arrow, owner = line.rpartition(" <- ")
            if not arrow:
                raise ValueError(f"owners: {line!r}; accepted: lines such as 3.6 % <- LOSS-14")
            listed = [said] if "$" in said else said.split(";")
            pairs += [(text.strip(), owner.strip()) for text in listed]
    return pairs


def lets(markdown: str) -> list[str]:
    """Return what a text's comment says of names, such as ``w: Tensor(Normal(0, sigma), d)``."""
    lines = (line.strip() for found in _COMMENT.findall(markdown) for line in found.splitlines())
    return [line.removeprefix(_LET) for line in lines if line.startswith(_LET)]


@dataclass(frozen=True)
class Page:
    """What a text may refer to.

    Attributes:
        printed: lines that the page's code cells print.
        sources: keys of the bibliography.
        names: what the names in its displays stand for; each text adds to them.
        elsewhere: gives the lines that another notebook prints, by its path.
    """

    printed: Sequence[str] = ()
    sources: frozenset[str] = frozenset()
    names: Names = field(default_factory=Names)
    elsewhere: Callable[[str], Sequence[str]] | None = None

    def lines(self, notebook: str) -> Sequence[str]:
        """Return what this page prints, or the notebook of that path."""
        if not notebook:
            return self.printed
        if self.elsewhere is None:
            raise ValueError(f"{notebook} cannot be looked up from here")
        return self.elsewhere(notebook)


def faults(markdown: str, page: Page) -> list[str]:
    """Say what in a text has no owner, or one that does not own it.

    Args:
        markdown: the text of a cell or page, with its comment.

    Example:
        >>> faults("It is $2/d$.\\n<!-- owners\\n$2/d$ <- 3/d\\n-->", Page())
        ['$2/d$ <- 3/d: it would be $\\\\frac{3}{d}$']
        >>> faults("It is 3.6 %.", Page())
        ['3.6 % has no owner']
    """
    listed = owners(markdown)
    by_text: dict[str, list[str]] = {}
    for text, owner in listed:
        by_text.setdefault(text, []).append(owner)
    said = {token.text: token for token in tokens(markdown)}
    shown = displays.named([text for text in said if text.startswith("$$")])
    owned = {shown.get(text, text) for text in by_text}
    found = [f"{text} has no owner" for text in said if text not in owned]
    found += displays.misread(lets(markdown), page.names)
    for text, named in by_text.items():
        if (display := shown.get(text, text)) in said and display.startswith("$$"):
            for owner in named:
                whole = display == text and not _fault(said[display], owner, page)
                fault = None if whole else displays.fault(display, owner, page.names)
                found += [f"{text} <- {owner}: {fault}"] if fault else []
            continue
        if text not in said:
            found.append(f"{text}, owned by {', '.join(named)}, is not in the text")
            continue
        for owner in named:
            fault = _fault(said[text], owner, page)
            if fault:
                found.append(f"{text} <- {owner}: {fault}")
    return found


def _fault(token: Token, owner: str, page: Page) -> str | None:
    if owner == FREE:
        return "a formula states something" if token.kind == "formula" else None
    if owner == DEFINITION and token.kind != "formula":
        return "a number is no definition"
    if owner == DEFINITION or owner.split(" ")[0] == displays.COMPUTED:
        return displays.inline_fault(token.text, owner, page.names)
    if owner.startswith("@"):
        return None if owner[1:] in page.sources else "not in the bibliography"
    claim = _CLAIM.fullmatch(owner)
    try:
        if label := _PRINTED.fullmatch(owner):
            return _printed(token, label[1].strip('" '), page.lines(label[2] or ""))
        return _claimed(token, claim) if claim else _computed(token, owner)
    except (KeyError, TypeError, ValueError) as error:
        return str(error.args[0])


def _printed(token: Token, label: str, lines: Sequence[str]) -> str | None:
    named = [line for line in lines if label in line]
    if not named:
        return f"no line that is printed has {label!r}"
    if token.kind == "formula":
        return "a formula is not printed"
    if any(_among(token, tokens(line.replace("$", ""))) for line in named):
        return None
    return f"what is printed: {named[0].strip()}"


def _among(token: Token, others: Iterable[Token]) -> bool:
    """Whether one of the others says the number, to the digits that the token has."""
    said, found = value(token), (value(other) for other in others)
    return said is not None and any(
        other is not None and abs(other[0] - said[0]) <= said[1] * (1 + 1e-9) for other in found
    )


def _claimed(token: Token, claim: re.Match[str]) -> str | None:
    of = displays.reading_of(claim)
    if claim["part"] == "told":
        said = "" if claim["case"] else registry.statement(claim["id"]).says
        return _told(token, " ".join([said, of.text, of.condition or "", of.truth or ""]))
    text = displays.formula_of(of, claim["part"])
    if token.kind == "formula" and not claim["at"]:
        return _written(token, text)
    return _agrees(token, text, _point(claim["at"] or ""))


def _told(token: Token, text: str) -> str | None:
    """Whether the texts of a claim have the whole formula, or the number."""
    there = list(tokens(text))
    if token.kind == "formula":
        whole = {normalised(other.text.strip("$ ")) for other in there}
        said = re.sub(r"\\tag\{[^{}]*\}", "", token.text.strip("$ ")).rstrip(" .,;")
        return None if normalised(said) in whole else "its texts do not have this formula"
    return None if _among(token, there) else "its texts do not have this number"


def _written(token: Token, text: str) -> str | None:
    """Whether a formula of the text ends in the claim's, sign by sign."""
    own = normalised(latex(text))
    sides = [normalised(side) for side in _RELATION.split(token.text.strip("$"))]
    if own in sides or _means(token, text):
        return None
    return f"it would be ${latex(text)}$"


def _means(token: Token, text: str) -> bool:
    """Whether a side of a formula is a claim's in another form, such as with a thin space."""
    formula = parse(text)
    for side in _RELATION.split(token.text.strip("$")):
        try:
            if equivalent(read(side, Names()), formula, tolerance=1e-12):
                return True
        except (ValueError, TypeError):
            continue
    return False


def _computed(token: Token, owner: str) -> str | None:
    """A sum, or an equation of two: both sides are written as they are computed."""
    left, equals, right = owner.partition(" = ")
    if not equals:
        formula = parse(owner)
        return _written(token, owner) if formula.free_symbols else _agrees(token, owner, {})
    if not equivalent(parse(left), parse(right)):
        return "its sides differ"
    sides = [normalised(side) for side in _RELATION.split(token.text.strip("$"))]
    return None if sides == [normalised(latex(left)), normalised(latex(right))] else (
        f"it would be ${latex(left)}={latex(right)}$"
    )  # fmt: skip


def _agrees(token: Token, text: str, point: Mapping[object, float]) -> str | None:
    found = number(parse(text), point, 20)
    if found is None:
        return "has no value there"
    last = token.text.strip("$").rsplit("\\approx", 1)[-1].rsplit("=", 1)[-1]
    said = value(token) or value(Token(last.strip().replace("\\,", ""), "number"))
    if said is None or abs(float(found) - said[0]) > said[1] * (1 + 1e-9):
        return f"it is {float(found):.6g}"
    return None


def _point(text: str) -> dict[object, float]:
    pairs = (item.split("=") for item in text.split(",") if item.strip())
    return {symbols(name.strip()): float(parse(given)) for name, given in pairs}


def normalised(formula: str) -> str:
    """Return a formula without spacing and without braces that change nothing."""
    text = re.sub(r"\\[,;!:]|\\(?:left|right|big|Big)\b|\s+|~|\\displaystyle", "", formula)
    text = text.replace(r"\tfrac", r"\frac").replace(r"\dfrac", r"\frac").replace(r"\cdot", "")
    return re.sub(r"([_^])\{(.)\}", r"\1\2", text)
