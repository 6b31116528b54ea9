"""Real text beside the drawn languages: pairs of neighbouring words in SymPy's docstrings."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import islice
from pathlib import Path

import torch

from ..learning import roles
from ..learning.roles import RUNS, WORDS, Languages

_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
_WORD = re.compile(r"[a-z]+|[.,;:()]")
_LENGTH = 3000  # words of a text


def _words_of_sympy() -> list[str]:
    import sympy

    found: list[str] = []
    for path in sorted(Path(sympy.__file__).parent.rglob("*.py")):
        if "tests" in path.parts or len(found) > RUNS * _LENGTH:
            continue
        for text in _DOCSTRING.findall(path.read_text(encoding="utf-8")):
            prose = [
                line for line in text.splitlines() if not line.strip().startswith((">>>", "..."))
            ]
            found += _WORD.findall("\n".join(prose).lower())
    return found


@cache
def documentation() -> Languages:
    """Return the laws of pairs of neighbours in 128 texts, consecutive parts of SymPy's docstrings.

    Of each text the 63 most frequent words (and marks) count one by one, all others as one. The
    classes of the words are not known; those of the drawn languages stand in their place.

    Raises:
        ValueError: the installed version has too few words.
    """
    words = _words_of_sympy()
    if len(words) < RUNS * _LENGTH:
        raise ValueError(f"sympy: its docstrings have {len(words)} words; accepted: more")
    laws = torch.zeros(RUNS, WORDS, WORDS)
    for law, first in zip(laws, range(0, len(words), _LENGTH), strict=False):
        text = list(islice(words, first, first + _LENGTH))
        common = Counter(text).most_common(WORDS - 1)
        number = {word: place for place, (word, _) in enumerate(common)}
        read = torch.tensor([number.get(word, WORDS - 1) for word in text])
        law.index_put_((read[:-1], read[1:]), torch.ones(len(text) - 1), accumulate=True)
        law /= law.sum()
    drawn = roles.languages()
    following = laws / laws.sum(-1, keepdim=True).clamp_min(1e-12)
    return Languages(drawn.followed, drawn.follows, following, laws)
