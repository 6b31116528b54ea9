"""`portable`, `fresh-seeds`, `newest`, `evidence`: on other processors, draws, versions, devices.

What came out is kept notebook by notebook, for the status page.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..account.code import library, notebook_key
from .notebooks import comparing
from .notebooks.running import Run, run
from .orders import with_orders
from .status import keep, keep_trial, kept, path, provenance, tree_key

# What ATen, oneDNN and MKL call the same limit.
_LIMITS = {
    "default": ("SSE41", "SSE4_2"),
    "avx2": ("AVX2", "AVX2"),
    "avx512": ("AVX512_CORE", "AVX512"),
}
_SHOWN, _KEPT = 6, 20  # differences of a notebook that are printed, and that are kept of a device


def processor(instructions: str, threads: int, hash_seed: int = 0) -> dict[str, str]:
    """Return the variables that make a process run as on another processor.

    Args:
        instructions: the instruction set: "default", "avx2" or "avx512".
        threads: how many it uses.
        hash_seed: of Python's hashes.
    """
    onednn, mkl = _LIMITS[instructions]
    return {
        "ATEN_CPU_CAPABILITY": instructions,
        "ONEDNN_MAX_CPU_ISA": onednn,
        "MKL_ENABLE_INSTRUCTIONS": mkl,
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "PYTHONHASHSEED": str(hash_seed),
        "VERIFIED_DEVICE": "cpu",
    }


PROCESSORS = {
    f"{instructions}/{threads}": processor(instructions, threads)
    for instructions in _LIMITS for threads in (1, 2)
} | {"default/1/h12345": processor("default", 1, 12345)}  # fmt: skip


def can_be_had(environment: Mapping[str, str]) -> bool:
    """Return whether torch really runs like this on this machine."""
    code = "import torch; print(torch.backends.cpu.get_cpu_capability(), torch.get_num_threads())"
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], env={**os.environ, **environment},
        capture_output=True, encoding="utf-8", check=False,
    ).stdout.split()  # fmt: skip
    return answer == [environment["ATEN_CPU_CAPABILITY"].upper(), environment["OMP_NUM_THREADS"]]


def portable(notebooks: Sequence[Path], root: Path, jobs: int = 2) -> int:
    """Run notebooks under every processor that this machine can play.

    How what came out differs from what is stored is printed, and kept for the status page,
    notebook by notebook.
    """
    processors = {name: it for name, it in PROCESSORS.items() if can_be_had(it)}
    for name in PROCESSORS:
        if name not in processors:
            print(f"{name}: this machine cannot play it; left out")
    failed = 0
    with ThreadPoolExecutor(jobs) as pool:
        for notebook in notebooks:
            found = {name: it.differences() for name, it in _under(processors, notebook, pool)}
            differ = {name: lines for name, lines in found.items() if lines}
            print(f"{_name(notebook, root)}: {', '.join(differ) or 'the same'}", flush=True)
            for name, lines in differ.items():
                print("".join(f"    {name}: {line}\n" for line in lines[:_SHOWN]), end="")
            failed += len(differ)
            counts = {name: len(lines) for name, lines in found.items()}
            entry = {"runs": len(counts), "failed": len(differ), "differences": counts}
            before = kept(root, "portable").get(_name(notebook, root), {}).get("orders")
            entry = with_orders(entry, **before) if before else entry
            keep(root, "portable", {_name(notebook, root): entry})
    print(f"{len(notebooks) * len(processors)} runs, {failed} differ from what is stored")
    return int(bool(failed))


def _under(
    environments: Mapping[str, Mapping[str, str]], notebook: Path, pool: ThreadPoolExecutor,
    through: bool = False,
) -> Iterator[tuple[str, Run]]:  # fmt: skip
    """The runs of a notebook under each of the environments, by their names."""
    runs = pool.map(lambda it: run(notebook, environment=it, through=through),
                    environments.values())  # fmt: skip
    yield from zip(environments, runs, strict=True)


# ------------------------------------------------------------------ other draws


def fresh_seeds(
    notebooks: Sequence[Path], root: Path, salts: int, jobs: int = 2, first: int = 1
) -> int:
    """Run notebooks under other seeds: every check must pass, every outcome be the stored one.

    Texts are not compared: numbers move with the draws. Runs and failures are printed, and added to
    those that are kept for the status page, notebook by notebook.

    Args:
        first: the first of the salts, so that further ones can be added, and a failure run again.
    """
    salted = {str(salt): {"VERIFIED_SALT": str(salt)} for salt in range(first, first + salts)}
    failed = 0
    with ThreadPoolExecutor(jobs) as pool:
        for notebook in notebooks:
            name, started, found = _name(notebook, root), time.perf_counter(), {}
            for salt, made in _under(salted, notebook, pool, through=True):
                found[salt] = made.other_outcomes()
                print(f"{name} salt {salt}: {'; '.join(found[salt]) or 'as stored'}", flush=True)
            failed += sum(map(bool, found.values()))
            seconds = round(time.perf_counter() - started)
            before, commit = kept(root, "fresh-seeds").get(name, {}), provenance(root)["commit"]
            keep(root, "fresh-seeds", {name: added(before, found, commit, seconds)})
    print(f"{len(notebooks) * salts} runs, {failed} failed   {path(root, 'fresh-seeds')}")
    return int(bool(failed))


def added(
    before: Mapping[str, Any], found: Mapping[str, Sequence[str]], commit: str, seconds: int
) -> dict[str, Any]:
    """Return what is kept of a notebook after further runs.

    Runs of other salts stay. A salt that is run again counts once, as it came out last; where it
    failed before and does not now, the failure is kept as one that is mended.

    Example:
        >>> once = added({}, {"1": ["cell 2: off"], "2": []}, "abc", 9)
        >>> once["runs"], once["failed"]
        (2, 1)
        >>> again = added(once, {"1": [], "3": []}, "def", 9)
        >>> again["runs"], again["failed"], again["mended"][0]["what"]
        (3, 0, 'cell 2: off')
    """
    salts = {**before.get("salts", {}), **dict.fromkeys(found, commit)}
    old = before.get("failures", [])
    failures = [one for one in old if one["salt"] not in found]
    failures += [{"salt": salt, "what": line} for salt, lines in found.items() for line in lines]
    passed = {salt for salt, lines in found.items() if not lines}
    mended = [one | {"at": before["salts"][one["salt"]]} for one in old if one["salt"] in passed]
    return {
        "runs": len(salts),
        "failed": len({failure["salt"] for failure in failures}),
        "salts": dict(sorted(salts.items(), key=lambda item: int(item[0]))),
        "failures": sorted(failures, key=lambda failure: int(failure["salt"])),
        "mended": before.get("mended", []) + mended,
        "seconds": before.get("seconds", 0) + seconds,
    }


# ------------------------------------------------------------------ other versions


def newest(notebooks: Sequence[Path], root: Path, jobs: int = 2) -> int:
    """Run notebooks with whatever versions are installed, and say by claim what moved.

    What it came to is kept for the status page as a row.
    """
    began, moved, failed = time.monotonic(), dict[str, list[str]](), 0
    with ThreadPoolExecutor(jobs) as pool:
        for notebook, made in zip(notebooks, pool.map(run, notebooks), strict=True):
            differ = made.differences()
            failed += bool(differ)
            print(f"{_name(notebook, root)}: {len(differ) or 'nothing'} moved", flush=True)
            for line in differ:
                claims = re.findall(r"\b[A-Z]{3,5}-\d{2,}\b", line.partition(": ")[0])
                for claim in claims or ["no claim"]:
                    moved.setdefault(claim, []).append(f"{_name(notebook, root)}, {line}")
    for claim, lines in sorted(moved.items()):
        print("\n    ".join([claim, *lines]))
    trial = {
        "where": "The newest torch, SymPy and transformers", "ran": f"{len(notebooks)} notebooks",
        "green": not failed, "result": f"{len(notebooks) - failed} as stored",
        "minutes": round((time.monotonic() - began) / 60, 1), "key": tree_key(root),
        **provenance(root),
    }  # fmt: skip
    print(f"{trial['result']} of {trial['ran']}   {keep_trial(root, trial, 'newest')}")
    return int(bool(failed))


# ------------------------------------------------------------------ another device
# Against the outputs that the CPU has left. A visit to a machine with a GPU may be short. So what
# is kept of the same code on the same device is not run again, and no notebook starts after the
# budget.


def evidence(
    notebooks: Sequence[Path],
    root: Path,
    device: str = "cuda",
    finer: float = 1.0,
    budget: float = 420.0,
    jobs: int = 2,
) -> int:
    """Run notebooks on a device, compare them with what is stored, and keep what they measured.

    Args:
        device: a value of ``VERIFIED_DEVICE``.
        finer: how many times finer measurements resolve, in a second run of each notebook.
        budget: seconds after which no notebook starts and no cell goes on.
        jobs: notebooks at a time.

    Returns:
        0 where all that are kept are as stored, 1 where one differs or is still to be run.

    Raises:
        ValueError: the device is not there, or a number is out of its range.
    """
    for word, value in (("finer", finer), ("budget", budget)):
        if not 1 <= value < math.inf:
            raise ValueError(f"{word}: got {value}; accepted: a number of at least 1")
    machine, end = _hardware(device), time.monotonic() + budget
    known = kept(root, "evidence")

    def one(notebook: Path) -> dict[str, Any] | None:
        left = end - time.monotonic()
        return _one(notebook, root, device, finer, left) if left > 0 else None

    package = library()
    keys = {n: {"key": notebook_key(n, package), "finer": finer, **machine} for n in notebooks}
    waiting = [n for n in notebooks if not keys[n].items() <= known.get(_name(n, root), {}).items()]
    left_over = 0
    with ThreadPoolExecutor(jobs) as pool:
        for notebook, entry in zip(waiting, pool.map(one, waiting), strict=True):
            if entry is None:
                left_over += 1
                continue
            entry |= keys[notebook]
            keep(root, "evidence", {_name(notebook, root): entry})
            lines = entry["differences"] + entry["finer differences"]
            print(f"{_name(notebook, root)}: {'; '.join(lines[:3]) or 'as stored'}", flush=True)
    failed = sum(kept(root, "evidence").get(_name(n, root), {}).get("failed", 0) for n in notebooks)
    print(f"{len(notebooks) - left_over} of {len(notebooks)} notebooks run on {machine['device']}, "
          f"{failed} not as stored   {path(root, 'evidence')}")  # fmt: skip
    if left_over:
        print(f"{left_over} are still to be run: the same command goes on with them")
    return int(bool(failed or left_over))


def _hardware(device: str) -> dict[str, Any]:
    """What a device is: its name, and the version of CUDA."""
    import torch

    try:
        where = torch.empty(0, device=device).device
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        said = str(error).splitlines()[0]
        raise ValueError(f"device: got {device!r}, which is not there ({said})") from None
    if where.type != "cuda":
        return {"device": str(where)}
    return {"device": torch.cuda.get_device_name(where), "cuda": torch.version.cuda}


def _name(notebook: Path, root: Path) -> str:
    return notebook.relative_to(root).as_posix()


def _one(
    notebook: Path, root: Path, device: str, finer: float, left: float
) -> dict[str, Any] | None:
    """What came out of a notebook; None where the budget ended in the middle of it."""
    end = time.monotonic() + left
    plain = run(notebook, environment={"VERIFIED_DEVICE": device}, longest=left)
    measured, other = plain, list[str]()
    if finer > 1 and not plain.errors and end > time.monotonic():
        environment = {"VERIFIED_DEVICE": device, "VERIFIED_FINER": str(finer)}
        measured = run(notebook, environment=environment, longest=end - time.monotonic())
        other = measured.other_outcomes()
    if time.monotonic() >= end:
        return None
    differ = plain.differences()
    return {
        "runs": 1, "failed": int(bool(differ or other)), "seconds": round(plain.seconds, 1),
        "differences": differ[:_KEPT], "finer differences": other[:_KEPT],
        "claims": _measurements(measured),
    }  # fmt: skip


def _measurements(made: Run) -> list[dict[str, Any]]:
    """What the checks of a run measured: a row for each point, with its claims."""
    found = []
    for record in comparing.records(made.book):
        told = record["volatile"]
        pairs = zip(told.get("rows", ()), told.get("estimates", ()), strict=False)
        about = {name: record[name] for name in ("claims", "outcome")}
        found += [{**about, **row, "z": estimate["z"]} for row, estimate in pairs]
    return found
