"""`portable`: the notebooks on other processors, as far as one machine can play them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ..notebooks.running import run
from .keeping import keep

# What ATen, oneDNN and MKL call the same limit.
_LIMITS = {
    "default": ("SSE41", "SSE4_2"),
    "avx2": ("AVX2", "AVX2"),
    "avx512": ("AVX512_CORE", "AVX512"),
}
_SHOWN = 6  # differences of a notebook under a processor


@dataclass(frozen=True)
class Processor:
    """A processor to play: an instruction set, a number of threads, a hash seed."""

    instructions: str
    threads: int
    hash_seed: int = 0

    @property
    def name(self) -> str:
        """A short name for a column."""
        return f"{self.instructions}/{self.threads}" + (
            f"/h{self.hash_seed}" * bool(self.hash_seed)
        )

    @property
    def environment(self) -> dict[str, str]:
        """The variables that make a process run under it."""
        onednn, mkl = _LIMITS[self.instructions]
        return {
            "ATEN_CPU_CAPABILITY": self.instructions,
            "ONEDNN_MAX_CPU_ISA": onednn,
            "MKL_ENABLE_INSTRUCTIONS": mkl,
            "OMP_NUM_THREADS": str(self.threads),
            "MKL_NUM_THREADS": str(self.threads),
            "PYTHONHASHSEED": str(self.hash_seed),
            "VERIFIED_DEVICE": "cpu",
        }

    def can_be_had(self) -> bool:
        """Whether torch really runs under this processor on this machine."""
        code = (
            "import torch; print(torch.backends.cpu.get_cpu_capability(), torch.get_num_threads())"
        )
        answer = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            env={**os.environ, **self.environment},
            capture_output=True,
            encoding="utf-8",
            check=False,
        ).stdout.split()
        return answer == [self.instructions.upper(), str(self.threads)]


PROCESSORS = (
    *(Processor(instructions, threads) for instructions in _LIMITS for threads in (1, 2)),
    Processor("default", 1, hash_seed=12345),
)


def portable(notebooks: Sequence[Path], root: Path, jobs: int = 2) -> int:
    """Run notebooks under every processor that this machine can play.

    How what came out differs from what is stored is printed, and kept for the status page,
    notebook by notebook.
    """
    available = [processor for processor in PROCESSORS if processor.can_be_had()]
    for processor in PROCESSORS:
        if processor not in available:
            print(f"{processor.name}: this machine cannot play it; left out")
    names = [str(path.relative_to(root)) for path in notebooks]
    width = max(map(len, names))
    print(" " * width, *(f"{processor.name:>16}" for processor in available), flush=True)
    failed = []
    with ThreadPoolExecutor(jobs) as pool:
        for name, path in zip(names, notebooks, strict=True):
            runs = pool.map(lambda it, p=path: run(p, environment=it.environment), available)
            found = [made.differences(root) for made in runs]
            words = ["same" if not lines else f"{len(lines)} differ" for lines in found]
            print(f"{name:{width}}", *(f"{word:>16}" for word in words), flush=True)
            for processor, lines in zip(available, found, strict=True):
                failed += [(name, processor.name)] * bool(lines)
                print("".join(f"    {processor.name}: {line}\n" for line in lines[:_SHOWN]), end="")
            processors = {s.name: len(lines) for s, lines in zip(available, found, strict=True)}
            differ = sum(map(bool, processors.values()))
            entry = {"runs": len(processors), "failed": differ, "differences": processors}
            keep(root, "portable", {name: entry})
    print(f"{len(names) * len(available)} runs, {len(failed)} differ from what is stored")
    return int(bool(failed))
