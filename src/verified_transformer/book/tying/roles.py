"""Small languages in which a word has one role or two, and tied and untied models that learn them.

The next word depends on the class of the present one. In half of the languages a word follows by
the same class by which it is followed (one role), in the other half by another (two roles). The law
of the pairs is known, so a loss on held-out data needs no sample. All languages are learnt at once.
Beside the drawn languages stands real text: pairs of neighbouring words in SymPy's docstrings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import torch

from ...seeds import generator
from . import roles

WORDS, CLASSES, WIDTH, INNER = 64, 8, 12, 24
SEEDS = 64  # languages of each kind
RUNS = 2 * SEEDS
ONE_ROLE, TWO_ROLES = slice(0, SEEDS), slice(SEEDS, RUNS)

Weights = Mapping[str, torch.Tensor]
Step = Callable[..., None]


@dataclass(frozen=True)
class Languages:
    """The drawn languages.

    Attributes:
        followed: class of each word as the present one, (RUNS, WORDS).
        follows: its class as the next one, (RUNS, WORDS).
        next_law: law of the next word, (RUNS, WORDS, WORDS).
        pair_law: law of pairs of neighbours, (RUNS, WORDS, WORDS).
    """

    followed: torch.Tensor
    follows: torch.Tensor
    next_law: torch.Tensor
    pair_law: torch.Tensor

    @property
    def entropy(self) -> torch.Tensor:
        """Entropy of the next word given the present one, (RUNS,), in nats."""
        return -(self.pair_law * self.next_law.clamp_min(1e-30).log()).sum((-1, -2))

    def sampled(self, pairs: int, source: torch.Generator) -> torch.Tensor:
        """Draw data: the share of each pair among so many, (RUNS, WORDS, WORDS)."""
        index = torch.multinomial(self.pair_law.flatten(1), pairs, True, generator=source)
        counts = torch.zeros(RUNS, WORDS**2).scatter_add_(1, index, torch.ones(RUNS, pairs))
        return counts.view(RUNS, WORDS, WORDS) / pairs


@cache
def languages() -> Languages:
    """Draw the languages, with Zipf's law of the words in each class."""
    draw = generator("languages")
    followed = (torch.arange(WORDS) % CLASSES).expand(RUNS, WORDS)
    dealt = torch.rand(SEEDS, WORDS, generator=draw).argsort(1) % CLASSES
    follows = torch.cat([followed[:SEEDS], dealt])
    between = torch.softmax(2 * torch.randn(RUNS, CLASSES, CLASSES, generator=draw), -1)
    zipf = 1 / torch.arange(1.0, WORDS + 1)
    words = zipf * (follows[:, None] == torch.arange(CLASSES)[:, None])
    rows = between.gather(1, followed[..., None].expand(-1, -1, CLASSES))
    law = rows @ (words / words.sum(-1, keepdim=True))
    often = torch.full((RUNS, 1, WORDS), 1 / WORDS)
    for _ in range(50):
        often = often @ law
    return Languages(followed, follows, law, often.mT * law)


def _norm(x: torch.Tensor) -> torch.Tensor:
    return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()


def start(tied: bool, rates: int) -> dict[str, torch.Tensor]:
    """Return fresh weights that learn, the same for tied and untied: (rates, RUNS, …).

    Args:
        tied: whether there is no table of the output's own.
        rates: how many learning rates are tried side by side.
    """
    draw = generator("start")

    def drawn(rows: int, columns: int, sd: float) -> torch.Tensor:
        w = sd * torch.randn(SEEDS, rows, columns, generator=draw)
        return w.repeat(rates, 2, 1, 1)

    p = {
        "input": drawn(WORDS, WIDTH, 0.1),
        "up": drawn(WIDTH, INNER, WIDTH**-0.5),
        "down": drawn(INNER, WIDTH, (2 / INNER) ** 0.5),
        "gain": torch.ones(rates, RUNS, 1, WIDTH),
    }
    if not tied:
        p["output"] = p["input"].clone()
    return {name: w.requires_grad_() for name, w in p.items()}


def log_chances(p: Weights) -> torch.Tensor:
    """Return the log-probabilities of the next word after each word: one residual block, a norm."""
    x = p["input"]
    h = p["gain"] * _norm(x + torch.relu(_norm(x) @ p["up"]) @ p["down"])
    return torch.log_softmax(h @ p.get("output", x).mT, -1)


def adam(
    t: int, w: torch.Tensor, g: torch.Tensor, mean: torch.Tensor, square: torch.Tensor,
    rate: torch.Tensor,
) -> None:  # fmt: skip
    """One step of Adam in place, with a rate for each run: what `torch.optim` has not."""
    mean.lerp_(g, 0.1)
    square.lerp_(g * g, 0.001)
    w -= rate * (mean / (1 - 0.9**t)) / ((square / (1 - 0.999**t)).sqrt() + 1e-8)


def learn(
    tied: bool,
    rates: list[float],
    steps: int,
    batches: Iterable[torch.Tensor],
    step: Step = adam,
    known: Languages | None = None,
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Train on all languages at once.

    Args:
        tied: whether the output's table is the input's.
        rates: learning rates tried side by side.
        steps: how many.
        batches: shares of pairs for each step, as `Languages.sampled` draws them.
        step: `adam`, or another rule of its kind.
        known: the languages; the drawn ones where not said.

    Returns:
        Losses above the entropy before each step, (steps, 2, rates, RUNS): on the data and on the
        true law; and the weights.
    """
    known, p = known or languages(), start(tied, len(rates))
    rate = torch.tensor(rates)[:, None, None, None]
    states = [(torch.zeros_like(w), torch.zeros_like(w)) for w in p.values()]
    curve = []
    for t, batch in zip(range(1, steps + 1), batches, strict=False):
        found = log_chances(p)
        loss = -(batch * found).sum((-1, -2))
        held_out = -(known.pair_law * found.detach()).sum((-1, -2))
        curve.append(torch.stack([loss.detach(), held_out]) - known.entropy)
        gradients = torch.autograd.grad(loss.sum(), list(p.values()))
        with torch.no_grad():
            for w, g, state in zip(p.values(), gradients, states, strict=True):
                step(t, w, g, *state, rate)
    return torch.stack(curve), {name: w.detach() for name, w in p.items()}


# ------------------------------------------------------------------------------ real text

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
