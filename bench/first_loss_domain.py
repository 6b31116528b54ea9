"""Does each law of the first loss hold in all of its domain? z-scores at 200 random points of each.

    python bench/first_loss_domain.py [COUNT]

A point of a law's domain is drawn, and models of it 16 times, each measured on one text by the
plain cross-entropy of its logits. The table, which the manual shows, has how far their mean lies
off, and how the z-scores are spread in units of the error bar: of one draw, and of the mean. About
four minutes on one core. Tests ask a few points of each law.
"""

from __future__ import annotations

import math
import sys
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import kstest

from verifiedbook.writing import write_whole
from weightwise import initial_loss
from weightwise.first_loss import Body, Norm, Stack

TABLE = Path(__file__).parents[1] / "book" / "initial-loss-domain.txt"
DRAWS = 16


class Headed(torch.nn.Module):
    """A table, an RMS norm, an untied head with a bias or a soft-cap."""

    def __init__(
        self, n: int, d: int, spread: float, bias: torch.Tensor | None = None,
        cap: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.table, self.cap = torch.nn.Embedding(n, d), cap
        self.head = torch.nn.Linear(d, n, bias=bias is not None)
        torch.nn.init.normal_(self.table.weight, std=0.02)
        torch.nn.init.normal_(self.head.weight, std=spread / math.sqrt(d))
        if bias is not None:
            self.head.bias = torch.nn.Parameter(bias)
        norm = Norm("rms", 0.0)
        stack = Stack((), "pre", norm, last=norm)
        head = spread / math.sqrt(d)
        self.body = Body("head", n, d, 0.02, stack, tied=False, head=head, cap=cap)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.table(tokens)
        logits: torch.Tensor = self.head(x / x.square().mean(-1, keepdim=True).sqrt())
        return logits if self.cap is None else self.cap * torch.tanh(logits / self.cap)


@dataclass(frozen=True)
class Point:
    """A model at step 0 that can be drawn again, the length of a text, and the labels' law."""

    draw: Callable[[], Any]
    n: int
    length: int
    law: torch.Tensor | None = None

    def off(self, seed: int, draws: int) -> tuple[float, float, float]:
        """How far the mean of some draws lies off, as a share; z of the first draw and of the mean.

        A z is in units of the error bar that the prediction came with.
        """
        losses = []
        for draw in range(draws):
            torch.manual_seed(seed + draw)
            model = self.draw()
            tokens = torch.randint(self.n, (1, self.length))
            with torch.no_grad():
                out = model(tokens)
            logits = (out if isinstance(out, torch.Tensor) else out.logits)[0].double()
            losses.append(averaged(logits, tokens[0], self.law))
        body = getattr(model, "body", None)
        answer = initial_loss(model, body=body, length=self.length, label_law=self.law)
        first, mean = losses[0] - answer.loss, float(np.mean(losses)) - answer.loss
        return mean / answer.loss, first / answer.error, mean / answer.error * math.sqrt(draws)


def averaged(logits: torch.Tensor, tokens: torch.Tensor, law: torch.Tensor | None) -> float:
    """The cross-entropy of logits (T, n) with its label, another than the token, averaged out."""
    law = torch.full(logits.shape[1:], 1 / logits.shape[1]) if law is None else law
    mine, own = law[tokens].double(), logits.gather(1, tokens[:, None]).squeeze(1)
    label = (logits @ law.double() - mine * own) / (1 - mine)
    return float((logits.logsumexp(1) - label).mean())


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """A random number, uniform in its logarithm."""
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))


def capped(rng: np.random.Generator) -> Point:
    """Soft-capped logits: caps of 5 to 50, spreads of 0.5 to 6."""
    n, d = int(between(rng, 300, 8000)), int(between(rng, 32, 256))
    spread, cap = float(rng.uniform(0.5, 6)), between(rng, 5, 50)
    return Point(lambda: Headed(n, d, spread, cap=cap), n, int(rng.choice([16, 64])))


def biased(rng: np.random.Generator) -> Point:
    """A normal bias of the head, of a deviation of 0 to 6."""
    n, d = int(between(rng, 300, 8000)), int(between(rng, 32, 256))
    spread = float(rng.uniform(0.1, 3))
    bias = torch.from_numpy(rng.standard_normal(n) * rng.uniform(0, 6)).float()
    return Point(lambda: Headed(n, d, spread, bias), n, int(rng.choice([16, 64])))


def log_frequent(rng: np.random.Generator) -> Point:
    """A bias of log frequencies, with labels of the same law: Zipf's, powers of 0.7 to 1.3."""
    n, d = int(between(rng, 300, 8000)), int(between(rng, 32, 256))
    spread = float(rng.uniform(0.1, 3))
    law = torch.arange(1, n + 1, dtype=torch.float64) ** -float(rng.uniform(0.7, 1.3))
    law = law / law.sum()
    return Point(lambda: Headed(n, d, spread, law.log().float()), n, int(rng.choice([16, 64])), law)


def narrow(rng: np.random.Generator) -> Point:
    """Tied Gemmas of widths of 16 to 128, one to three layers, initialisers of 0.02 to 0.2."""
    import transformers

    d, n = 16 * int(rng.integers(1, 9)), int(between(rng, 300, 4000))
    config = transformers.GemmaConfig(
        hidden_size=d, head_dim=d // 4, num_attention_heads=4, num_key_value_heads=4,
        intermediate_size=d * int(rng.integers(2, 5)), num_hidden_layers=int(rng.integers(1, 4)),
        vocab_size=n, initializer_range=between(rng, 0.02, 0.2), bos_token_id=0, eos_token_id=0,
        pad_token_id=0,
    )  # fmt: skip
    kind = transformers.GemmaForCausalLM
    return Point(lambda: kind(config).eval(), n, int(rng.choice([16, 64])))


LAWS: dict[str, Callable[[np.random.Generator], Point]] = {
    "soft-capped logits": capped, "a normal bias": biased,
    "a bias of log frequencies": log_frequent, "narrow Gemmas": narrow,
}  # fmt: skip


def points(name: str, count: int, draws: int = 1) -> np.ndarray:
    """What `Point.off` says at random points of a law's domain, (count, 3)."""
    first = zlib.crc32(name.encode()) % 10**6
    return np.array(
        [LAWS[name](np.random.default_rng(first + k)).off(1000 * k, draws) for k in range(count)]
    )


def main(count: int = 200) -> int:
    """Measure, write the table, and say whether z is a normal number for each law."""
    lines = [
        "| law | points | median error | worst | z | deviation of z | within 2 | within 3 | p |",
        "|---|--:|--:|--:|---|--:|--:|--:|--:|",
    ]
    least = 1.0
    for name in LAWS:
        off, *scores = points(name, count, DRAWS).T
        off = 100 * abs(off)
        for what, z in zip(("of one draw", f"of {DRAWS}"), scores, strict=True):
            p = float(kstest(z, "norm").pvalue)
            least = min(least, p)
            within = [f"{100 * (abs(z) < most).mean():.1f} %" for most in (2, 3)]
            lines.append(
                f"| {name} | {count} | {np.median(off):.3f} % | {off.max():.2f} % | {what} | "
                f"{z.std(ddof=1):.2f} | {within[0]} | {within[1]} | {p:.2g} |"
            )
            print(lines[-1], flush=True)
    if count == 200:
        write_whole(TABLE, "\n".join(lines) + "\n")
    return int(least < 1e-3)


if __name__ == "__main__":
    import transformers

    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    sys.exit(main(*map(int, sys.argv[1:])))
