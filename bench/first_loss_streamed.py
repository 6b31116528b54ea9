"""The first loss of a 152 064 x 4096 head: streamed, and as its peers compute it.

    python bench/first_loss_streamed.py

Each way runs in a process of its own, which reports its loss, the standard error over tokens, its
seconds and its peak memory beyond the inputs. `drawn` never stores the vocabulary; the others are
given it. The peers need a label for each token, so that their error is that of drawn labels.
"""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F

from verified_transformer.models.first_loss import DrawnVocabulary, first_loss

N, D, TOKENS = 152_064, 4096, 512
LIMIT = 0.35  # GiB beyond the inputs


def drawn(features: torch.Tensor, table: DrawnVocabulary) -> torch.Tensor:
    return first_loss(features, table).loss


def streamed(features: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    return first_loss(features, table).loss


def plain(features: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    labels = torch.randint(N, (TOKENS,))
    return F.cross_entropy(features @ table.T, labels, reduction="none")


def fused(features: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    labels = torch.randint(N, (TOKENS,))
    return F.linear_cross_entropy(features, table, labels, reduction="none")


WAYS: dict[str, Callable[..., torch.Tensor]] = {
    "drawn": drawn, "streamed": streamed, "plain": plain, "linear_cross_entropy": fused,
}  # fmt: skip


def peak() -> float:
    """GiB of resident memory at most, so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def one(way: str) -> None:
    """Run one way and print what it took."""
    torch.manual_seed(0)
    features = torch.randn(TOKENS, D)
    table = DrawnVocabulary(N, D, σ=D**-0.5, seed=1)
    if way != "drawn":
        table = torch.randn(N, D).mul_(D**-0.5)
    before, started = peak(), time.perf_counter()
    loss = WAYS[way](features, table).double()
    seconds = time.perf_counter() - started
    print(
        json.dumps(
            {
                "way": way,
                "loss": round(loss.mean().item(), 5),
                "standard error": round(loss.std().item() / math.sqrt(TOKENS), 5),
                "GiB beyond the inputs": round(peak() - before, 3),
                "seconds": round(seconds, 2),
            }
        )
    )


def main() -> int:
    """Run all ways, one after the other."""
    rows = []
    for way in WAYS:
        if way == "linear_cross_entropy" and not hasattr(F, "linear_cross_entropy"):
            continue
        command = [sys.executable, __file__, way]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append(json.loads(done.stdout))
        print(done.stdout, end="", flush=True)
    print(f"predicted: log n + 1/2 = {math.log(N) + 0.5:.5f}; limit {LIMIT} GiB")
    return int(any(row["GiB beyond the inputs"] > LIMIT for row in rows[:2]))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        one(sys.argv[1])
    else:
        sys.exit(main())
