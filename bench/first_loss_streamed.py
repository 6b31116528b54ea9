"""The first loss of a 152 064 x 4096 head: streamed, and as its peers compute it.

    python bench/first_loss_streamed.py [parts]

With `parts`, the streamed loss beside drawing the rows and multiplying with them, measured apart in
the same run, in slices in turn, so that another load of the machine meets all alike. Streaming may
take one and a half times as long as both; bench/first_loss_streamed.json keeps what was found.

Otherwise each way runs in a process of its own, which reports its loss, the standard error over
tokens, its seconds and its peak memory beyond the inputs. `drawn` never stores the vocabulary; the
others are given it. The peers need a label for each token, so that their error is that of drawn
labels.
"""

from __future__ import annotations

import json
import math
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F

from verifiedbook.writing import write_whole
from weightwise.first_loss import DrawnVocabulary, first_loss

N, D, TOKENS = 152_064, 4096, 512
LIMIT, TIMES = 0.35, 1.5  # GiB beyond the inputs; how much longer than its parts
SLICES, BLOCK = 16, 2048


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


def slice_of(features: torch.Tensor, table: DrawnVocabulary) -> dict[str, Callable[[], object]]:
    """The two parts of a slice of the vocabulary, and the whole of it."""
    rows = table.shape[0]
    ends = [(start, min(start + BLOCK, rows)) for start in range(0, rows, BLOCK)]
    block = table.rows(0, BLOCK)
    return {
        "generation": lambda: [table.rows(*each) for each in ends][-1],
        "GEMM": lambda: [features @ block[: stop - start].T for start, stop in ends][-1],
        "streamed": lambda: first_loss(features, table, block=BLOCK),
    }


def parts() -> int:
    """Time the streamed loss beside its two parts."""
    torch.manual_seed(0)
    features = torch.randn(TOKENS, D)
    spent = {"generation": [0.0, 0.0], "GEMM": [0.0, 0.0], "streamed": [0.0, 0.0]}
    before = peak()
    for number in range(SLICES):
        table = DrawnVocabulary(N // SLICES, D, σ=D**-0.5, seed=number)
        for name, run in slice_of(features, table).items():
            started = time.process_time(), time.perf_counter()
            run()
            spent[name][0] += time.process_time() - started[0]
            spent[name][1] += time.perf_counter() - started[1]
    both = [spent["generation"][k] + spent["GEMM"][k] for k in (0, 1)]
    found = {
        "n": N, "d": D, "tokens": TOKENS, "threads": torch.get_num_threads(),
        "CPU seconds": {name: round(each[0], 2) for name, each in spent.items()},
        "seconds": {name: round(each[1], 2) for name, each in spent.items()},
        "streamed over its parts, CPU": round(spent["streamed"][0] / both[0], 3),
        "streamed over its parts": round(spent["streamed"][1] / both[1], 3),
        "GiB beyond the inputs": round(peak() - before, 3),
        "made with": {"torch": torch.__version__, "python": platform.python_version(),
                      "processor": platform.processor() or platform.machine()},
    }  # fmt: skip
    write_whole(Path(__file__).with_suffix(".json"), json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))
    slow = found["streamed over its parts, CPU"] > TIMES
    return int(slow or found["GiB beyond the inputs"] > LIMIT)


def main() -> int:
    """Run all ways, one after the other."""
    rows = []
    for way in WAYS:
        if way == "linear_cross_entropy" and not hasattr(F, "linear_cross_entropy"):
            continue
        command = [sys.executable, __file__, way]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
        rows.append(json.loads(done.stdout))
        print(done.stdout, end="", flush=True)
    print(f"predicted: log n + 1/2 = {math.log(N) + 0.5:.5f}; limit {LIMIT} GiB")
    return int(any(row["GiB beyond the inputs"] > LIMIT for row in rows[:2]))


if __name__ == "__main__":
    if sys.argv[1:] == ["parts"]:
        sys.exit(parts())
    elif len(sys.argv) > 1:
        one(sys.argv[1])
    else:
        sys.exit(main())
