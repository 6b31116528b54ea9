"""Lookups in factorised tables and a low-rank head at n = 160 000, d = 4096, beside their peers.

    python bench/factorised_tables.py

Each way runs in a process of its own on one thread, which reports the best seconds and CPU seconds
of several calls after a warm-up, and its peak memory beyond the inputs. ``built`` makes
the whole tensor-train table and then indexes it, the algorithm of tt-pytorch. It exits non-zero
where a lookup takes more than 4 times as long as a plain one, or is less than 45 times faster than
building, or the low-rank head has less than 0.6 of what the ratio of multiplications promises: in
CPU seconds, in which other work on the machine does not count.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys

from verified_transformer.experiments.factorised_lookup import (
    HEADS,
    LOOKUPS,
    Setting,
    figures,
    flop_ratio,
    job,
    timed,
)

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
    if len(sys.argv) > 1:
        one(sys.argv[1])
    else:
        sys.exit(main())
