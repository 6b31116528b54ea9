r"""What the Transformers learn: an artificial language, and letters of a real text.

In the artificial language each place asks for the sum of its own token and the first token of the
sequence, modulo the number of tokens: attention has to fetch, the feed-forward branch has to add.
The real text is the prose of SymPy's docstrings; each place asks for the next letter.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

import torch

from verifiedbook.sampling.zipf_markov import ZipfMarkov

ALPHABET = " abcdefghijklmnopqrstuvwxyz."  # every other mark counts as the last


class Task(Protocol):
    """What a batch is drawn from."""

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""

    @property
    def length(self) -> int:
        """Tokens in a sequence."""

    def batch(
        self, seeds: int, count: int, source: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return tokens and answers, (seeds, count, length) each."""


@dataclass(frozen=True)
class Sums:
    """The artificial language.

    Attributes:
        vocabulary, length: number of tokens, tokens in a sequence.
        exponent: of Zipf's law of the tokens; 0 for the uniform law.
        reversed: whether the law is dealt to the tokens in the reversed order.
    """

    vocabulary: int = 8
    length: int = 8
    exponent: float = 0.0
    reversed: bool = False

    def batch(
        self, seeds: int, count: int, source: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return tokens and answers, (seeds, count, length) each."""
        law = torch.arange(1.0, self.vocabulary + 1) ** -self.exponent
        law = law.flip(0) if self.reversed else law
        x = torch.multinomial(law, seeds * count * self.length, True, generator=source)
        x = x.view(seeds, count, self.length)
        return x, (x + x[..., :1]) % self.vocabulary


@dataclass(frozen=True)
class Letters:
    """Windows of a text, at random places; each place asks for the next letter (or word).

    Attributes:
        text: letters as numbers, places in `ALPHABET`; or words, of `worded`.
        length: letters of a window.
        vocabulary: how many kinds there are.
    """

    text: torch.Tensor
    length: int = 16
    vocabulary: int = len(ALPHABET)

    def batch(
        self, seeds: int, count: int, source: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return tokens and the letters after them, (seeds, count, length) each."""
        first = torch.randint(len(self.text) - self.length, (seeds, count, 1), generator=source)
        window = self.text[first + torch.arange(self.length + 1)]
        return window[..., :-1], window[..., 1:]


@dataclass(frozen=True)
class Chain:
    """Sequences of a Markov chain whose tokens follow Zipf's law; each place asks for the next.

    Attributes:
        language: the chain.
        length: tokens in a sequence.
    """

    language: ZipfMarkov
    length: int = 16

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""
        return self.language.n

    def batch(
        self, seeds: int, count: int, source: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return tokens and the tokens after them, (seeds, count, length) each."""
        drawn = self.language.sample(seeds * count, self.length + 1, source)
        window = drawn.view(seeds, count, -1)
        return window[..., :-1], window[..., 1:]


def worded(text: str, n: int) -> torch.Tensor:
    """Return a text as words and marks: the n − 1 most frequent, and one for all others.

    Args:
        text: any.
        n: number of tokens.
    """
    words = re.findall(r"[a-z]+|[.,;:()]", text.lower())
    place = {word: i for i, (word, _) in enumerate(Counter(words).most_common(n - 1))}
    return torch.tensor([place.get(word, n - 1) for word in words])


def guess(task: Task) -> float:
    """Return the loss of the uniform guess, in nats.

    Args:
        task: whose vocabulary counts.
    """
    return math.log(task.vocabulary)


def lettered(text: str) -> torch.Tensor:
    """Return a text as places in `ALPHABET`: small letters, runs of blanks as one.

    Args:
        text: any.
    """
    place = {letter: i for i, letter in enumerate(ALPHABET)}
    plain = re.sub(r"\s+", " ", text.lower())
    return torch.tensor([place.get(letter, len(ALPHABET) - 1) for letter in plain])


@cache
def documentation(letters: int = 400_000) -> tuple[str, str]:
    """Return the prose of SymPy's docstrings and the code around them, so many letters of each.

    Args:
        letters: how many of each.

    Raises:
        ValueError: the installed version has fewer.
    """
    import sympy

    docstring = re.compile(r'"""(.*?)"""', re.DOTALL)
    prose, code, found = [], [], 0
    for path in sorted(Path(sympy.__file__).parent.rglob("*.py")):
        if "tests" in path.parts or found > 2 * letters:
            continue
        source = path.read_text(encoding="utf-8")
        lines = "\n".join(docstring.findall(source)).splitlines()
        prose += [line for line in lines if not line.strip().startswith((">>>", "..."))]
        code.append(docstring.sub("", source))
        found = sum(map(len, prose))
    both = tuple(re.sub(r"\s+", " ", "\n".join(part))[:letters] for part in (prose, code))
    if min(map(len, both)) < letters:
        raise ValueError(f"letters: got {letters}; accepted: at most {min(map(len, both))}")
    return both[0], both[1]


def described(text: str) -> dict[str, str | int]:
    """Return what tells one text from another: version of SymPy, length, hash.

    Args:
        text: of `documentation`.
    """
    import sympy

    return {
        "source": f"docstrings of SymPy {sympy.__version__}", "letters": len(text),
        "sha256": hashlib.sha256(text.encode()).hexdigest()[:16],
    }  # fmt: skip
