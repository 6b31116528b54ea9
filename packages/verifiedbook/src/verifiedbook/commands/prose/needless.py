"""What in a text needs no owner: it states nothing, or what stands around it says the same.

- A number word: no machine knows whether "two" counts what the sentence is about.
- A number that the next output prints with the same digits, in the order of that output.
- A number that the section's code gives, or a reading of a claim that the section names; from a
  hundred on, that of any claim. And a name that is set to one, such as $d=768$, unless the code,
  these readings, displays, outputs or the rest of the text set that name to others alone.
- A formula without a relation that stands, in any form, in the section's displays, in its code,
  twice in its lines, or in such a reading, and a list of names; one with a relation, if a display
  has it, or if it sets a name to what stands there, as $s=1/\\sqrt k$ and $s<1/\\sqrt k$ do.
- A display that sets names to what stands in the code or in such a reading.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from ...account.registry import Statement
from ...account.rendering.formulas import latex
from ...exact.displays.marks import chains
from .meanings import Meaning, meaning, spelled
from .tokens import RELATION, SYMBOL, Token, number_of, tokens

NEXT_OUTPUT = "printed"
_DIGITS = re.compile(r"(\d+(?:[\u202f ]\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?)( ?%)?", re.IGNORECASE)
_SETTING = re.compile(r"=|<|>|\\[lg]eq?(?![A-Za-z])")  # what a name is, or is bounded by
_GROUPED = re.compile(r"(?<=\d)(?:_|\\,|,(?=\d{3}\b))(?=\d)")  # what parts the digits of a number
_SET = re.compile(
    r"(?<![\w}^\\])(\\?[^\W\d_]+(?:_(?:\{\w+\}|[^\W\d]+|\d+))?)['\"]?(?:=|:|\\approx)"
    r"(\d+(?:\.\d+)?)(?![\w^.{*/+-]|,\d)"
)
_SETS = re.compile(r"((?:\w+,)+\w+)=((?:\d[\d.]*,)+\d[\d.]*)")
_ARGUMENT = re.compile(r"(?<=[A-Za-z])\([a-z]\)(?=\s*=)")  # of a function that is defined
_INDEX = re.compile(r"_(?:\d|\{[^{}]*\})")


def numbers(text: str) -> frozenset[float]:
    """Return the numbers that code or a text with formulas has.

    Example:
        >>> sorted(numbers("n = 50_257, of $30\\\\,000$ and 5 %"))
        [0.05, 30000.0, 50257.0]
    """
    plain = _GROUPED.sub("", text)
    return frozenset(
        float(re.sub(r"[\u202f ]", "", digits)) / (100 if per_cent else 1)
        for digits, per_cent in _DIGITS.findall(plain)
    )


def settings(text: str) -> frozenset[tuple[str, float]]:
    r"""Return the names that code or a text with formulas sets to numbers, with these.

    Example:
        >>> sorted(settings("d, τ = 3, 0.7") | settings(r"At $n=50\,257$ and $\tau=0.7$"))
        [('d', 3.0), ('n', 50257.0), ('tau', 0.7)]
    """
    found: list[tuple[str, str]] = []
    for line in map(unspaced, _GROUPED.sub("", text).splitlines()):
        found += _SET.findall(line)
        for names, values in _SETS.findall(line):
            found += zip(names.split(","), values.split(","), strict=False)
    return frozenset((spelled(re.sub(r"\W", "", name)), float(value)) for name, value in found)


@dataclass(frozen=True)
class Around:
    """What stands around a text.

    Attributes:
        given: numbers that its code gives, and the readings of claims that it names.
        sets: names that these, its displays and its outputs set to numbers.
        displayed: formulas of its displays, as `unspaced` writes them.
        coded: what its code and these readings mean, with their parts; see `meanings`.
        meant: the same with the displays.
    """

    given: frozenset[float] = frozenset()
    sets: frozenset[tuple[str, float]] = frozenset()
    displayed: Sequence[str] = ()
    coded: Set[Meaning] = frozenset()
    meant: Set[Meaning] = frozenset()


def texts(statement: Statement, case: str | None = None) -> Iterator[str]:
    """Yield what a claim and its reading say, or one case of it, formulas in LaTeX."""
    parts = statement.reading.parts if statement.reading else {}
    if case is None:
        yield statement.says
    for of in parts.values() if case is None else [parts[case]]:
        words = (of.text, of.setting, of.condition, of.met_by, of.truth, of.false_if)
        yield from filter(None, words)
        yield from (f"${latex(text)}$" for text in (of.formula, of.truth_formula) if text)


def unspaced(formula: str) -> str:
    """Return a formula without spacing and without braces that change nothing."""
    text = re.sub(r"\\[,;!:]|\\(?:left|right|big|Big)\b|\s+|~|\\displaystyle", "", formula)
    text = text.replace(r"\tfrac", r"\frac").replace(r"\dfrac", r"\frac").replace(r"\cdot", "")
    return re.sub(r"([_^])\{(.)\}", r"\1\2", text)


def unasked(
    said: Sequence[Token], around: Around | None = None, following: Iterable[str] = ()
) -> list[str]:
    """Say of each token of a text why it needs no owner; nothing where it does.

    Args:
        said: the tokens, in their order.
        around: what stands around the text.
        following: the lines that the next output prints.

    Example:
        >>> said = [*tokens("of 2 laws, $d=3$ has $2/d$ and $n/d$")]
        >>> from verifiedbook.commands.prose.meanings import parts
        >>> unasked(said, Around(given=frozenset({3.0}), meant=parts("d = n d^{-1}")))
        ['', 'notation', '', 'notation']
    """
    around = around or Around()
    displayed = "\n".join(around.displayed)
    found = ["word" if token.kind == "word" else "" for token in said]
    for place, token in enumerate(said):
        if token.kind == "number" and _of(token) in around.given:
            found[place] = "given"
        elif token.kind == "formula" and _notation(token.text, around, displayed):
            found[place] = "notation"
    asked = [n for n, token in enumerate(said) if token.kind == "number" and not found[n]]
    printed = [_digits(t) for line in following for t in tokens(line.replace("$", ""))]
    for number in aligned([_digits(said[place]) for place in asked], printed):
        found[asked[number]] = NEXT_OUTPUT
    return found


def aligned(
    left: Sequence[Hashable], right: Sequence[Hashable], weights: Sequence[int] = ()
) -> dict[int, int]:
    """Pair equal items of two lists in their order, as many as can be paired.

    Args:
        weights: of the items on the left; one each by default.

    Returns:
        By place on the left the place on the right.

    Example:
        >>> aligned("abcb", "bxc")
        {1: 0, 2: 2}
    """
    rows, columns = len(left), len(right)
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            same = best[i + 1][j + 1] + (weights[i] if weights else 1)
            best[i][j] = max(best[i + 1][j], best[i][j + 1], same if left[i] == right[j] else 0)
    pairs, i, j = {}, 0, 0
    while i < rows and j < columns:
        if best[i][j] == best[i + 1][j]:
            i += 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            pairs[i] = j
            i, j = i + 1, j + 1
    return pairs


def _of(token: Token) -> float | None:
    said = number_of(token)
    return abs(said[0]) if said else None


def _digits(token: Token) -> str:
    return re.sub(r"[\s\u202f]", "", token.text).replace("−", "-")


def _notation(text: str, around: Around, displayed: str) -> bool:
    formula = unspaced(_GROUPED.sub("", text.strip("$ ")))
    if text.startswith("$$"):
        defined = (_ARGUMENT.sub("", chain) for chain in chains(text.strip("$ ")))
        return all(_set_to(chain, around.coded) for chain in defined)
    if all(map(_SET.fullmatch, formula.split(","))):
        known = {name for name, _ in around.sets}
        return all(
            value in around.given and ((name, value) in around.sets or name not in known)
            for name, value in settings(formula)
        )
    if _stands_in(formula, displayed):
        return True
    if RELATION.search(formula):
        return _set_to(text.strip("$ "), around.meant)
    shape = all(map(re.compile(r"\d+").fullmatch, formula.split(r"\times")))
    if shape and numbers(formula) <= around.given:
        return True
    means = meaning(text.strip("$ "))
    if means is None:
        return not re.search(r"\d", _INDEX.sub("", formula))
    return means in around.meant or (-means[0], -means[1]) in around.meant


def _set_to(formula: str, meant: Set[Meaning]) -> bool:
    """Whether a formula sets or bounds a name by what is meant elsewhere."""
    name, *others = _SETTING.split(formula)
    return bool(SYMBOL.fullmatch(name) and others) and {*map(meaning, others)} <= meant


def _stands_in(formula: str, texts: str) -> bool:
    whole = rf"(?<![A-Za-z0-9\\^_]){re.escape(formula)}(?![A-Za-z0-9^_])"
    return re.search(whole, texts) is not None
