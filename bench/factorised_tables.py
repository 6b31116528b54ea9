"""Lookups in factorised tables and a low-rank head at n = 160 000, d = 4096, beside their peers.

    python bench/factorised_tables.py
    python bench/factorised_tables.py sizes > book/factorised-tables-speed.txt

``sizes`` prints the manual's table: lookups and heads of every family as multiples of the dense
table's, in one process, in turn, each call with tokens and states of its own.

Without it, each way runs in a process of its own on one thread, which reports the best seconds and
CPU seconds of several calls after a warm-up, and its peak memory beyond the inputs. ``built`` makes
the whole tensor-train table and then indexes it, the algorithm of tt-pytorch. It exits non-zero
where a lookup takes more than 4 times as long as a plain one, or is less than 45 times faster than
building, or the low-rank head has less than 0.6 of what the ratio of multiplications promises: in
CPU seconds, in which other work on the machine does not count.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable

import torch

from verified_transformer.book.experiments.factorised_lookup import (
    HEADS,
    LOOKUPS,
    Setting,
    figures,
    flop_ratio,
    job,
    timed,
)
from verified_transformer.models import factorised_table

TABLES = [
    ("low rank", 16, 2), ("low rank", 64, 2), ("Kronecker", 16, 2), ("Kronecker", 16, 3),
    ("tensor train", 4, 3), ("tensor train", 16, 2), ("tensor train", 16, 3),
    ("tensor train", 64, 2), ("tensor train", 64, 3), ("tensor product", 1, 2),
]  # fmt: skip
COLUMNS = [  # lookups of tokens, then scores of states
    (50_257, 768, "lookup", 2048), (50_257, 768, "lookup", 16_384),
    (152_000, 4096, "lookup", 2048), (50_257, 768, "head", 1), (50_257, 768, "head", 128),
    (50_257, 768, "head", 1024),
]  # fmt: skip
REPEATS = {"built": 3, "dense head": 3}
LEAST = {"built over the slowest": 45, "part of the FLOP ratio": 0.6}
MOST = {"slowest over plain": 4}


def peak() -> float:
    """GiB of resident memory at most, so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def one(way: str) -> None:
    """Run one way and print what it took."""
    setting = Setting()
    work = job(way, setting)
    before = peak()
    timed(work)
    times = [timed(work) for _ in range(REPEATS.get(way, 9))]
    print(
        json.dumps(
            {
                "way": way,
                "seconds": min(wall for wall, _ in times),
                "CPU seconds": min(cpu for _, cpu in times),
                "GiB beyond the inputs": peak() - before,
            }
        )
    )


@torch.no_grad()
def column(n: int, d: int, work: str, many: int) -> list[str]:
    """What each table takes for one kind of work, as a multiple of a dense one's CPU seconds."""
    dense = torch.nn.Embedding(n, d)
    tables = [factorised_table(f, n, d, r, factors=k, σ=0.02) for f, r, k in TABLES]
    ways: list[Callable[[torch.Tensor], torch.Tensor]]
    if work == "lookup":
        ways = [dense, *tables]
        given = [torch.randint(n, (many,)) for _ in range(7)]
    else:
        ways = [lambda hidden: hidden @ dense.weight.T, *(table.attend for table in tables)]
        given = [torch.randn(many, d) for _ in range(3)]
    rows = [[timed(lambda way=way, one=one: way(one))[1] for way in ways] for one in given]
    plain, *others = (statistics.median(way) for way in zip(*rows[1:], strict=True))
    made = [" (rows)" if t.scores_by(many) == "rows" else "" for t in tables]
    found = zip(others, made, strict=True)
    return [f"{seconds / plain:.2f}{how if work == 'head' else ''}" for seconds, how in found]


def sizes() -> None:
    """Print the manual's table."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    names = [f"{f}, rank {r}, {k} factors" for f, r, k in TABLES]
    heads = [f"{work} of {many}, n = {n}, d = {d}" for n, d, work, many in COLUMNS]
    print("| | " + " | ".join(heads) + " |\n" + "|---" * (1 + len(heads)) + "|")
    columns = [column(*one) for one in COLUMNS]
    for name, *values in zip(names, *columns, strict=True):
        print(f"| {name} | " + " | ".join(values) + " |")


def main() -> int:
    """Run all ways, one after the other, and hold the figures against the aims."""
    setting, wall, cpu = Setting(), {}, {}
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}  # more threads spin: their CPU seconds count
    print(f"{'way':16}{'seconds':>10}{'CPU s':>10}{'GiB':>8}")
    for way in LOOKUPS + HEADS:
        command = [sys.executable, __file__, way]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, env=alone)
        row = json.loads(done.stdout)
        wall[way], cpu[way] = row["seconds"], row["CPU seconds"]
        gib = row["GiB beyond the inputs"]
        print(f"{way:16}{wall[way]:10.4f}{cpu[way]:10.4f}{gib:8.3f}", flush=True)
    seconds, found = figures(wall, setting), figures(cpu, setting)
    missed = [name for name, least in LEAST.items() if found[name] < least]
    missed += [name for name, most in MOST.items() if found[name] > most]
    print(f"{'figure':32}{'seconds':>10}{'CPU s':>10}")
    for name, value in found.items():
        aim = f"  at least {LEAST[name]}" if name in LEAST else ""
        aim += f"  at most {MOST[name]}" if name in MOST else ""
        aim += ", MISSED" if name in missed else ""
        print(f"{name:32}{seconds[name]:10.3g}{value:10.3g}{aim}")
    print(f"FLOP ratio of the heads: {flop_ratio(setting):.3g}")
    return int(bool(missed))


if __name__ == "__main__":
    if sys.argv[1:] == ["sizes"]:
        sizes()
    elif len(sys.argv) > 1:
        one(sys.argv[1])
    else:
        sys.exit(main())
