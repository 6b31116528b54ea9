"""The own words of a text, cut into sentences: what a section advises and asks to remember."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

ADVICE = "## What to do"
BOX = "> **Remember.**"
_LABEL = BOX.removeprefix("> ")
_LETTERS = re.compile(r"(?m)(?P<quote>^> ?)|\s+|\S")
_ITEM = re.compile(r"\s*(?:[-*] |\d+\. |: |\|)")
_RULE = re.compile(r"\|[\s|:-]+\|\s*$")  # under the heads of a table
_ASIDE = re.compile(
    r"#|:\w+:|---$|[\w.]+\.[\w.]+: |\(\S+\)=$|\{\w+\}`\S+`$"
)  # no words of their own
_FENCE = re.compile(r"(?:```+|:::+)(.*)")
_KEPT = r"(?P<display>\$\$.+?\$\$)|\$[^$]+\$|`[^`]+`|\[[^\]]*\]\([^)]*\)"
_END = re.compile(_KEPT + r"|(?P<end>[.?!][*\")]*)(?= [A-Z\[(`$*\"'\d|])")
_WORD = re.compile(r"[^\W\d_]{2}")
_TAG = re.compile(r"\\tag\{[^}]*\}|\$|\s")


@dataclass(frozen=True)
class Flow:
    """A text in one line, its blanks single and its marks of quotation away.

    Attributes:
        text: the line.
        places: where each of its letters stands in the source.
    """

    text: str
    places: Sequence[int]


def flow(markdown: str) -> Flow:
    r"""Return a source as one line.

    Example:
        >>> flow("> One.\n> Two  parts.").text
        'One. Two parts.'
    """
    letters, places = list[str](), list[int]()
    for found in _LETTERS.finditer(markdown):
        if found["quote"]:
            continue
        letter = found[0] if found[0].strip() else " "
        if letter != " " or (letters and letters[-1] != " "):
            letters.append(letter)
            places.append(found.start())
    return Flow("".join(letters), places)


def own_sentences(sources: Iterable[tuple[str, str]], whole: bool) -> dict[str, list[str]]:
    """Return the sentences that are own words, each in a line, by the id of their text.

    Args:
        sources: the texts in the order of reading, each with its id.
        whole: every word is an own one, as on a page of advice; else those under `ADVICE`, up to
            the next heading, and those in the `BOX`.

    Example:
        >>> text = "Some proof.\\n## What to do\\nDivide it. Why? See (1).\\n\\n> **Remember.** So."
        >>> own_sentences([("a", text)], whole=False)
        {'a': ['Divide it.', 'Why?', 'See (1).', 'So.']}
    """
    advice, found = False, dict[str, list[str]]()
    for name, source in sources:
        sentences = list[str]()
        for part, goes_on in _parts(source, whole, advice):
            advice, text = goes_on, flow(part).text.strip()
            sentences += [text] if text.startswith("```") else _sentences(text)
        sentences = [one for one in sentences if one != _LABEL and _WORD.search(one)]
        if sentences:
            found[name] = sentences
    return found


def _parts(source: str, whole: bool, advice: bool) -> Iterator[tuple[str, bool]]:
    """Runs of lines of prose, items of lists and listings, that are own words.

    With each goes whether advice goes on behind it.
    """
    fences, part, box = list[str](), "", False
    lines = [*source.splitlines(keepends=True), "#", ""]
    for line, below in pairwise(lines):
        bare = line.strip()
        if fence := _FENCE.match(bare):
            opens = bool(fence[1]) or not fences
            if opens:
                fences.append(fence[1])
            code = not fences[-1].startswith("{")
            if part and (opens or not code):
                yield part, advice
                part = ""
            if code and (whole or advice):
                part += line
            if not opens:
                fences.pop()
                if code and part:
                    yield part, advice
                    part = ""
            continue
        if fences and not fences[-1].startswith("{"):
            part += line if part else ""
            continue
        box = bare.startswith(BOX) or (box and bare.startswith(">"))
        own = (whole or advice or box) and not _ASIDE.match(bare)
        own = own and not _RULE.match(bare) and not _RULE.match(below)
        if part.strip() and (_ITEM.match(line) or (bare and not own)):
            yield part, advice
            part = ""
        if bare.startswith("#") and line != "#":
            advice = bare.startswith(ADVICE)
        part = part + line if own else part
        if own and bare.startswith("|"):
            yield part, advice
            part = ""
    yield "", advice


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a line; no point within a formula, a listing or a link ends one."""
    start = 0
    for found in _END.finditer(text):
        display = _TAG.sub("", found["display"] or "")
        if found["end"] or (display.endswith((".", "?")) and text[found.end() :].strip()):
            yield text[start : found.end()].strip()
            start = found.end()
    if text[start:].strip():
        yield text[start:].strip()
