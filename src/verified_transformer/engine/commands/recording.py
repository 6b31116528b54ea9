"""Long experiments: run one and keep its result, or key what is kept by the present code.

An experiment is a module of the book's ``experiments`` with ``run()``, which returns what is kept
as JSON; ``fingerprint()``, which takes a second or two and returns numbers that depend on the same
seeds, distributions and formulas; ``SEEDS``; and ``DEVICE`` where that is not the CPU.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import platform
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from .. import BOOK
from ..account import recordings

NEAR = 5e-4  # another instruction set moves a number by 1.5e-4; another seed, by 1e-2 and more


def record(name: str, root: Path, *, rekey: bool = False) -> Path:
    """Keep the result of an experiment.

    Args:
        rekey: keep the result that there is, and key it by the code as it is now; its fingerprint,
            a tiny re-run, must match.

    Raises:
        ValueError: there is no such experiment.
        RuntimeError: what the result depends on is not committed, or the fingerprint differs.
    """
    experiment(name)
    commit = recordings.commit(name, root)
    parts = _kept(name, commit) if rekey else recorded(name, commit)
    return recordings.write(name, parts)


def _kept(name: str, commit: str) -> dict[str, Any]:
    kept = recordings.load(name)
    moved = difference(kept.fingerprint, fingerprint(name))
    if moved:
        raise RuntimeError(f"recording {name}: the fingerprint differs ({moved}); record again")
    provenance = kept.provenance | {"keyed anew": f"at {commit}, the fingerprint unchanged"}
    return {"result": kept.result, "fingerprint": kept.fingerprint, "provenance": provenance}


def names() -> list[str]:
    """Return the names of the experiments, those in folders as well."""
    return sorted(_places())


def _places() -> dict[str, str]:
    """Where each experiment stands in the wing, as an import has it."""
    wing = BOOK / "experiments"
    files = [path.relative_to(wing) for path in wing.rglob("*.py") if path.stem != "__init__"]
    return {
        path.stem: ".".join(path.with_suffix("").parts)
        for path in files if path.parts[0] != "laboratory"
    }  # fmt: skip


def experiment(name: str) -> ModuleType:
    """Return an experiment's module.

    Args:
        name: such as ``"tied_convergence"``.

    Raises:
        ValueError: there is no such experiment, or ``VERIFIED_SALT`` puts other draws in the place
            of its own.
    """
    places = _places()
    if name not in places:
        raise ValueError(f"name: got {name!r}; accepted: {', '.join(sorted(places))}")
    if os.environ.get("VERIFIED_SALT"):
        raise ValueError("VERIFIED_SALT: set; accepted: none, where an experiment is recorded")
    return importlib.import_module(f"{BOOK.parent.name}.{BOOK.name}.experiments.{places[name]}")


def fingerprint(name: str) -> Any:
    """Return the numbers of an experiment's tiny run, on one thread.

    Args:
        name: the experiment's.
    """
    module, threads = experiment(name), torch.get_num_threads()
    torch.set_num_threads(1)  # two that share a busy processor wait for each other
    try:
        with torch.random.fork_rng(devices=[]):
            return module.fingerprint()
    finally:
        torch.set_num_threads(threads)


def recorded(name: str, commit: str) -> dict[str, Any]:
    """Run an experiment.

    Args:
        name: the experiment's.
        commit: of the code that runs.

    Returns:
        ``result``, ``fingerprint`` and ``provenance``.
    """
    module = experiment(name)
    started, cpu = time.perf_counter(), time.process_time()
    result = module.run()
    wall, busy = time.perf_counter() - started, time.process_time() - cpu
    kept = parts_seconds()
    provenance = {
        "command": f"python -m verified_transformer record {name}",
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit,
        "device": getattr(module, "DEVICE", platform.machine() + " CPU"),
        "processor": processor(),
        "instruction set": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "seeds": module.SEEDS,
        "versions": versions(),
        "seconds": round(wall, 1),
        "CPU seconds": round(kept or busy, 1),
    }
    return {"result": result, "fingerprint": fingerprint(name), "provenance": provenance}


def parts_seconds() -> float:
    """Return the processor time of the parts that ``VERIFIED_PARTS`` keeps; 0 for none."""
    folder = os.environ.get("VERIFIED_PARTS")
    files = sorted(Path(folder).glob("*.json")) if folder else []
    return float(sum(json.loads(path.read_text(encoding="utf-8"))["seconds"] for path in files))


def processor() -> str:
    """Return the processor's name, as far as the system says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that compute."""
    packages = {name: version(name) for name in ("torch", "numpy")}
    return {"python": platform.python_version(), **packages}


def difference(stored: Any, found: Any) -> str | None:
    """Say where two fingerprints differ, or None where they match.

    Fractional numbers match within `NEAR`, relative or absolute; all else must be equal.

    Args:
        stored: the one that is kept.
        found: the one that a tiny run gave now.
    """
    mine, other = dict(_leaves(stored)), dict(_leaves(found))
    for place in [*mine, *(place for place in other if place not in mine)]:
        a, b = mine.get(place), other.get(place)
        if isinstance(a, float) and isinstance(b, float):
            equal = math.isclose(a, b, rel_tol=NEAR, abs_tol=NEAR)
        else:
            equal = a == b
        if not equal:
            return f"{place}: {b} in place of {a}"
    return None


def _leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{place} / {key}" if place else str(key))
    elif isinstance(value, list | tuple):
        for key, inner in enumerate(value):
            yield from _leaves(inner, f"{place} [{key}]")
    else:
        yield place, value
