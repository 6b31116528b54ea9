"""Sentences that say which of two is larger, held against the two numbers.

    compare BERT starts far below the Llama: printed "BertModel: spread" < printed "LlamaModel:"
    compare a sum is larger than its terms: LOSS-14 at d=3, sigma=1 > LOSS-14 at d=2, sigma=1

The words stand in the text as they are here, and have one word that says a direction. Where both
numbers are printed, the words name the first before the second, by a word that its line alone has.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_DIRECTIONS = {
    **dict.fromkeys("larger more longer higher above later faster".split(), ">"),
    **dict.fromkeys("smaller less fewer shorter lower below earlier slower".split(), "<"),
    **dict.fromkeys("equal same".split(), "="),
}
_COMPARED = re.compile(r"(?P<said>.+?): (?P<left>.+) (?P<relation>[<>=]) (?P<right>.+)")
_WORD = re.compile(r"[a-z]\w+")
_LABEL = re.compile(r'printed "(.+?)"')


def comparison_fault(line: str, markdown: str, value: Callable[[str], float]) -> str | None:
    """Say why a comparison does not own the words that it gives; None where it does.

    Args:
        line: the words, a colon, and two numbers with a sign between.
        markdown: the text.
        value: gives the number that a printed line, a claim or a formula has.

    Example:
        >>> comparison_fault("two are more than one: 2 > 1", "Two? two are more than one.", float)
        >>> comparison_fault("two are less than one: 2 > 1", "two are less than one.", float)
        "'less' says <"
    """
    found = _COMPARED.fullmatch(line)
    if not found:
        return "accepted: words of the text: a number > another, or with < or ="
    said, relation = found["said"], found["relation"]
    words = _WORD.findall(said.lower())
    if said not in " ".join(markdown.split()):
        return "is not in the text"
    if {"not", "no", "never", "nor", "neither"} & {*words}:
        return "denies: accepted: words that say what is so"
    directions = {word: _DIRECTIONS[word] for word in words if word in _DIRECTIONS}
    if len(directions) != 1:
        return f"has {len(directions)} of the words that say a direction; accepted: one"
    ((word, says),) = directions.items()
    if says != relation:
        return f"{word!r} says {says}"
    labels = [_LABEL.fullmatch(side) for side in (found["left"], found["right"])]
    if all(labels) and not _named_first(words, *(label[1] for label in labels if label)):
        return "does not name the first of the two lines before the second"
    try:
        left, right = value(found["left"]), value(found["right"])
    except (KeyError, TypeError, ValueError) as error:
        return str(error.args[0])
    true = {"<": left < right, ">": left > right, "=": left == right}[relation]
    return None if true else f"they are {left:.6g} and {right:.6g}"


def _named_first(words: list[str], left: str, right: str) -> bool:
    """Whether words of two labels' own come in their order; true where one has none of its own."""
    one, other = ({*_WORD.findall(label.lower())} for label in (left, right))
    if one <= other or other <= one:
        return True
    first, second = _first(words, one - other), _first(words, other - one)
    return first < len(words) and first < second


def _first(words: list[str], own: set[str]) -> int:
    """The place of the first of some words, which may be cut short: BERT for BertModel."""
    there = (n for n, said in enumerate(words) if said in own or (
        len(said) > 3 and any(word.startswith(said) for word in own)))  # fmt: skip
    return next(there, len(words))
