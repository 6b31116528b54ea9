"""Lookups in factorised tables and a low-rank head at n = 160 000, d = 4096, beside their peers.

    python bench/factorised_tables.py
    python bench/factorised_tables.py sizes > book/factorised-tables-speed.txt
    python bench/factorised_tables.py classes > book/factorised-tables-classes.txt

``sizes`` prints the manual's table: lookups and heads of every family as multiples of the dense
table's, in one process, in turn, each call with tokens and states of its own. ``classes`` runs the
tests of tables in models, and prints which operation was tried on which class, and what came of it.

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
import tempfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import torch

from long_runs.factorised_lookup import (
    HEADS,
    LOOKUPS,
    Setting,
    figures,
    flop_ratio,
    job,
    timed,
)
from weightwise import factorised_table
from weightwise.factorised.families import FAMILIES

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
TESTS = Path(__file__).parents[1] / "packages/weightwise/tests/test_factorised_hugging_face.py"
OPERATIONS = {  # the test of each, and what it holds where it passes
    "set; logits as on the whole table; `make_dense`": (
        "test_a_model_gives_what_it_gives_on_the_table_as_a_whole", "yes"),
    "tie": ("test_it_ties", "yes"),
    "resize": ("test_it_grows_and_shrinks", "yes"),
    "save, and `load_with_table`": ("test_it_saves_and_loads", "yes"),
    "state, deepcopy, pickle": ("test_state_copies_and_pickles", "yes"),
    "generate": ("test_it_generates", "yes"),
    "train: gradients as on the whole table": (
        "test_it_trains_as_on_the_table_as_a_whole_and_learns", "yes"),
    "`torch.compile`, `torch.export`": ("test_it_compiles_and_is_exported", "yes"),
    "`.weight`": ("test_what_asks_for_a_weight_is_told_what_to_do", "refused"),
    "sparse gradients, `max_norm`, `scale_grad_by_freq`": (
        "test_what_needs_a_row_of_its_own_is_refused", "refused"),
    "the files by a plain `from_pretrained`": (
        "test_no_plain_class_loads_it_and_drops_the_table", "refused"),
    "a part of the model alone": ("test_a_body_never_parts_from_its_head", "refused"),
}  # fmt: skip
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


def classes() -> int:
    """Print operation by class, as the tests of them end."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "tests.xml"
        command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider",
                   str(TESTS), f"--junitxml={told}"]  # fmt: skip
        ended = subprocess.run(command, check=False, stdout=sys.stderr).returncode
        cases = [*ElementTree.parse(told).iter("testcase")]
    kinds = ("GPT-2", "BERT", "Llama", "Llama, tied", "T5", "T5 1.1")
    print("| | " + " | ".join(kinds) + " |\n" + "|---" * (1 + len(kinds)) + "|")
    for what, (test, word) in OPERATIONS.items():
        cells = []
        for kind in kinds:
            mine = [
                c for c in cases if c.get("name", "").startswith(f"{test}[") and kind == _kind(c)
            ]
            bad = [c for c in mine if c.find("failure") is not None or c.find("error") is not None]
            skipped = [s.get("message", "") for c in mine for s in c.iter("skipped")]
            cells.append("not tried" if not mine else f"{len(bad)} of {len(mine)} fail" if bad
                         else skipped[0] if skipped else word)  # fmt: skip
        print(f"| {what} | " + " | ".join(cells) + " |")
    return ended


def _kind(case: ElementTree.Element) -> str:
    """The class of a test's case, which may name a family as well."""
    inner = case.get("name", "").partition("[")[2].removesuffix("]")
    for family in (*FAMILIES, "sparse", "scale_grad_by_freq", "max_norm"):
        inner = inner.removeprefix(f"{family}-").removesuffix(f"-{family}")
    return inner


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
    elif sys.argv[1:] == ["classes"]:
        sys.exit(classes())
    elif len(sys.argv) > 1:
        one(sys.argv[1])
    else:
        sys.exit(main())
