"""Time and memory of growth: a Llama of 64 million parameters, and one grown to a billion.

    python bench/growth_at_scale.py          both; two minutes, 8 GB under the temporary folder

Each work runs in a process of its own, on one thread, and reports its processor seconds, seconds,
and how much its resident memory rose at most. ``fill`` only allocates what the other makes, and
fills it with ones (and writes it, tensor by tensor, where the other writes); ``copy`` copies rows
and columns by their index. In memory all works take turns, five times, and medians are kept:
how fast new pages come is another matter from minute to minute. The billion is in
bfloat16 on a disk, by `widen_checkpoint`, which is killed once half of the tensors are written and
called again; what is then there is held against an undisturbed call, bit by bit.

Figures are kept in `growth_at_scale.json`, of which the manual's table is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM

from verifiedbook.writing import write_whole
from weightwise import grow, widen_checkpoint

RESULT = Path(__file__).with_suffix(".json")
TABLE = Path(__file__).parents[1] / "book/grow-at-scale.txt"
MEDIUM = {"hidden_size": 512, "intermediate_size": 1376, "num_hidden_layers": 10}
IN_MEMORY = ("fill", "copy", "grow", "grow, checked")
LARGE = {"hidden_size": 1024, "intermediate_size": 2752, "num_hidden_layers": 18}


def llama(
    sizes: dict[str, int], k: int, dtype: torch.dtype = torch.float32, device: str = "meta"
) -> Any:
    """A Llama of some sizes, k times as wide."""
    wide = {name: size * (k if name != "num_hidden_layers" else 1) for name, size in sizes.items()}
    with torch.device(device):
        return LlamaForCausalLM(LlamaConfig(**wide, num_attention_heads=8, pad_token_id=0)).to(
            dtype
        )


def resident() -> float:
    """MB of resident memory at most, so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(work: Callable[[], Any]) -> dict[str, float]:
    """What some work takes, its result alive."""
    work_before, before = resident(), (time.process_time(), time.perf_counter())
    kept = work()
    cpu, wall = time.process_time() - before[0], time.perf_counter() - before[1]
    del kept
    return {"CPU seconds": cpu, "seconds": wall, "MB": resident() - work_before}


def filled(model: Any, path: Path | None = None) -> list[torch.Tensor]:
    """Allocate and fill what a model has; with a path, write it, a tensor at a time."""
    if path is None:
        return [torch.empty(p.shape, dtype=p.dtype).fill_(1) for p in model.parameters()]
    with path.open("wb") as out:
        for p in model.parameters():
            ones = torch.empty(p.shape, dtype=p.dtype).fill_(1)
            out.write(memoryview(ones.view(-1).view(torch.uint8).numpy()))  # type: ignore[arg-type]
            out.flush()
            os.fsync(out.fileno())
    return []


def copied(small: Any, k: int = 2) -> list[torch.Tensor]:
    """Every number of a model, k times along each dimension, by index and nothing else."""
    made = []
    for value in small.parameters():
        wide = value.detach()
        for dim, size in enumerate(value.shape):
            wide = wide.index_select(dim, torch.arange(size).repeat_interleave(k))
        made.append(wide)
    return made


def one(what: str, folder: Path) -> None:
    """Run one work and print what it took."""
    torch.set_num_threads(1)
    if what == "fill":
        large = llama(MEDIUM, 2)
        work: Callable[[], Any] = lambda: filled(large)  # noqa: E731
    elif what == "copy":
        small = llama(MEDIUM, 1, device="cpu")
        work = lambda: copied(small)  # noqa: E731
    elif what in ("grow", "grow, checked"):
        small = llama(MEDIUM, 1, device="cpu")
        tiny = llama({**MEDIUM, "hidden_size": 32, "intermediate_size": 64}, 1, device="cpu")
        grow(tiny, 2)  # what loads late
        work = lambda: grow(small, 2, check="checked" in what)  # noqa: E731
    elif what == "fill on disk":
        large = llama(LARGE, 2, torch.bfloat16)
        work = lambda: filled(large, folder / "ones")  # noqa: E731
    elif what == "small on disk":
        small = llama(LARGE, 1, torch.bfloat16, device="cpu")
        work = lambda: small.save_pretrained(folder / "small", max_shard_size="200MB")  # noqa: E731
    else:
        count = 0

        def stop(_: str, done: int, of: int) -> None:
            nonlocal count
            count += 1
            if what == "widen, killed" and count == 80:
                os.kill(os.getpid(), signal.SIGKILL)

        target = folder / ("wide" if what.endswith(("widen", "checked")) else "again")
        work = lambda: widen_checkpoint(  # noqa: E731
            folder / "small", target, 2, check="checked" in what, progress=stop
        )
    print(json.dumps(measured(work)))


def run(what: str, folder: Path) -> dict[str, float]:
    """One work, in a process of its own."""
    command = [sys.executable, "-W", "ignore", __file__, what, str(folder)]
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, env=alone)
    told: dict[str, float] = {"killed": -done.returncode}
    if done.returncode != -signal.SIGKILL:
        done.check_returncode()
        told = json.loads(done.stdout.splitlines()[-1])
    print(what, told, flush=True)
    return told


def digests(folder: Path) -> dict[str, str]:
    """What the files of a folder are."""
    return {
        path.name: hashlib.file_digest(path.open("rb"), "sha256").hexdigest()
        for path in folder.iterdir()
    }


def main() -> int:
    """Run all works, keep the figures, and write the table."""
    told: dict[str, Any] = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        turns = [[run(what, folder) for what in IN_MEMORY] for _ in range(5)]
        for what, runs in zip(IN_MEMORY, zip(*turns, strict=True), strict=True):
            told[what] = {key: median(each[key] for each in runs) for key in runs[0]}
        for what in ("small on disk", "fill on disk", "widen"):
            told[what] = run(what, folder)
        (folder / "ones").unlink()
        before = digests(folder / "wide")
        for what in ("widen, killed", "widen, resumed"):
            told[what] = run(what, folder)
        assert told["widen, killed"] == {"killed": signal.SIGKILL}
        told["resumed is the same"] = digests(folder / "again") == before
        shutil.rmtree(folder / "wide")
        told["widen, checked"] = run("widen, checked", folder)
    for name, sizes, dtype in (("medium", MEDIUM, torch.float32), ("large", LARGE, torch.bfloat16)):
        small, every = ([p.numel() for p in llama(sizes, k).parameters()] for k in (1, 2))
        told[name] = {"small": sum(small), "parameters": sum(every),
                      "MB": sum(every) * dtype.itemsize / 2**20,
                      "largest, MB": max(every) * dtype.itemsize / 2**20}  # fmt: skip
    told["made with"] = {"torch": torch.__version__, "transformers": transformers.__version__}
    write_whole(RESULT, json.dumps(told, indent=1) + "\n")
    write_whole(TABLE, table(told))
    return int(not told["resumed is the same"])


def table(told: dict[str, Any]) -> str:
    """The manual's table."""
    rows = []
    for what, base, size, name in (
        ("copying by index", "fill", "medium", "copy"),
        ("`grow(…, check=False)`", "fill", "medium", "grow"),
        ("`grow`, which compares", "fill", "medium", "grow, checked"),
        ("`widen_checkpoint(…, check=False)`", "fill on disk", "large", "widen"),
        ("`widen_checkpoint`, which compares", "fill on disk", "large", "widen, checked"),
    ):
        it, unit = told[name], told[size]["MB" if size == "medium" else "largest, MB"]
        ratios = [f"{it[key] / told[base][key]:.1f}" for key in ("CPU seconds", "seconds")]
        rows.append(f"| {what} | {ratios[0]} | {ratios[1]} | {it['MB'] / unit:.2f} |")
    half = told["widen, resumed"]["CPU seconds"] / told["widen"]["CPU seconds"]
    sizes = [f"{told[size][which] / 1e6:.0f}" for size in ("medium", "large")
             for which in ("small", "parameters")]  # fmt: skip
    same = "the same, bit by bit" if told["resumed is the same"] else "another"
    return "\n".join([
        "| | processor seconds over allocating and filling | seconds over that | "
        "peak memory over the result, or on disk over the largest tensor |",
        "|---|--:|--:|--:|", *rows, "",
        f"`grow` took a Llama of {sizes[0]} million parameters to {sizes[1]} million, in float32; "
        f"`widen_checkpoint` one of {sizes[2]} million to {sizes[3]} million, in bfloat16.",
        f"Killed after half of the tensors and called again: {same}, in {half:.2f} of the time "
        "of a whole call.",
    ]) + "\n"  # fmt: skip


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    if len(sys.argv) > 1:
        one(sys.argv[1], Path(sys.argv[2]))
    else:
        sys.exit(main())
