"""`evidence`: the notebooks on another device, against the outputs that the CPU has left.

A visit to a machine with a GPU may be short. So what came out is kept notebook by notebook; what is
kept of the same code on the same device is not run again, and no notebook starts after the budget.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ...account.code import library, notebook_key
from ..notebooks import comparing
from ..notebooks.running import Run, run
from .keeping import keep, kept, path

_NAME = "evidence"
_SHOWN = 20  # differences kept of a notebook


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
    machine, end = hardware(device), time.monotonic() + budget
    known = kept(root, _NAME)

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
            keep(root, _NAME, {_name(notebook, root): entry})
            lines = entry["differences"] + entry["finer differences"]
            print(f"{_name(notebook, root)}: {'; '.join(lines[:3]) or 'as stored'}", flush=True)
    failed = sum(kept(root, _NAME).get(_name(n, root), {}).get("failed", 0) for n in notebooks)
    print(f"{len(notebooks) - left_over} of {len(notebooks)} notebooks run on {machine['device']}, "
          f"{failed} not as stored   {path(root, _NAME)}")  # fmt: skip
    if left_over:
        print(f"{left_over} are still to be run: the same command goes on with them")
    return int(bool(failed or left_over))


def hardware(device: str) -> dict[str, Any]:
    """Return what a device is: its name, and the version of CUDA.

    Raises:
        ValueError: it is not there.
    """
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
    differ = plain.differences(root)
    return {
        "runs": 1, "failed": int(bool(differ or other)), "seconds": round(plain.seconds, 1),
        "differences": differ[:_SHOWN], "finer differences": other[:_SHOWN],
        "claims": measurements(measured),
    }  # fmt: skip


def measurements(made: Run) -> list[dict[str, Any]]:
    """Return what the checks of a run measured: a row for each point, with its claims."""
    found = []
    for record in comparing.records(made.book):
        told = record["volatile"]
        pairs = zip(told.get("rows", ()), told.get("estimates", ()), strict=False)
        about = {name: record[name] for name in ("claims", "outcome")}
        found += [{**about, **row, "z": estimate["z"]} for row, estimate in pairs]
    return found
