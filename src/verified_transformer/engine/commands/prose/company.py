"""The words beside a number: in 8 keys it is the keys'.

That a section's code has an 8 somewhere says little for an 8 in its text.
"""

from __future__ import annotations

import re

_REACH = 3
_FAR = 120  # letters, in which so many words stand
_PARTED = re.compile(r"[.!?:;](?=\s)|\n\s*[-#>*\n]|\|")  # sentences, items, cells of a table
_WORD = re.compile(r"\\[A-Za-z]+|(?P<word>[A-Z][a-z]{2,}|[a-z]{3,}|[A-Z]{3,})")
_LITTLE = frozenset(
    "the and that with for are its this from has have was were which than not but one all each "
    "more when where what they them their there will would then can into over only also about "
    "after some most less every any other such same very much many been had does did who how why "
    "her his our you your import return lambda def".split()
)


def near(text: str, start: int, end: int) -> frozenset[str]:
    """Return the words beside what stands in a text, cut to five letters: keys are a key.

    Args:
        text: a line, or a text with other lines around it.
        start, end: where it stands.

    Example:
        >>> sorted(near("of the heads, and 512 distant keys. Their", 18, 21))
        ['dista', 'head', 'key']
    """
    left = _PARTED.split(text[max(0, start - _FAR) : start])[-1]
    right = _PARTED.split(text[end : end + _FAR])[0]
    return frozenset([*_words(left)[-_REACH:], *_words(right)[:_REACH]])


def _words(text: str) -> list[str]:
    found = (match["word"] for match in _WORD.finditer(text))
    return [word.lower()[:5].rstrip("s") for word in found if word and word.lower() not in _LITTLE]
