"""Long experiments: run one and keep its parts, make a part again, or key all by the present code.

An experiment is a module of the book's ``experiments`` with ``run()``, which returns what is kept
as JSON; ``fingerprint()``, which takes a second or two and returns numbers that depend on the same
seeds, distributions and formulas; ``SEEDS``; ``DEVICE`` where that is not the CPU; and ``TIMED``
where parts are times: by which factor one may differ from the others, whose machine may be slower.
"""

from __future__ import annotations

import json
import math
import os
import platform
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from operator import eq
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from ..account import recordings
from ..account.parts import assembled
from ..account.recordings import Recording
from ..serving import served
from ..writing import write_whole
from .git import git

NEAR = 5e-4  # another instruction set moves a number by 1.5e-4; another seed, by 1e-2 and more
ROUNDED = "rounded otherwise"  # since the recording was made, says its provenance
ALONE = 1e-2  # what one seed, whose row spans nothing, may be moved by in a run of full length


def record(name: str, root: Path, *, rekey: bool = False) -> Path:
    """Keep the parts of an experiment.

    Args:
        rekey: keep those that there are, and key them by the code as it is now; the fingerprint,
            a tiny re-run, must match.

    Raises:
        ValueError: there is no such experiment.
        RuntimeError: what the result depends on is not committed, or the fingerprint differs.
    """
    experiment(name)
    commit = _commit(name, root)
    if not rekey:
        return recordings.write(recorded(name, commit))
    kept = recordings.load(name)
    if moved := difference(kept.fingerprint, fingerprint(name)):
        raise RuntimeError(f"recording {name}: the fingerprint differs ({moved}); record again")
    provenance = kept.provenance | {"keyed anew": f"at {commit}, the fingerprint unchanged"}
    return recordings.write(replace(kept, provenance=provenance))


def _commit(name: str, root: Path) -> str:
    """The repository's commit, in which an experiment's code must be as it is."""
    files = recordings.code(name).files
    if changed := git(root, "status", "--porcelain", "--", *map(str, files)):
        raise RuntimeError(f"commit first what the recording depends on:\n{changed}")
    return git(root, "rev-parse", "HEAD")


def experiment(name: str) -> ModuleType:
    """Return an experiment's module, where its own draws are made.

    Args:
        name: such as ``"tied_convergence"``.

    Raises:
        ValueError: there is no such experiment, or ``VERIFIED_SALT`` puts other draws in the place
            of its own.
    """
    if os.environ.get("VERIFIED_SALT"):
        raise ValueError("VERIFIED_SALT: set; accepted: none, where an experiment is recorded")
    return recordings.experiment(name)


@contextmanager
def _alone() -> Iterator[None]:
    """One thread, since two that share a busy processor wait for each other; draws left as are."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(threads)


def fingerprint(name: str) -> Any:
    """Return the numbers of an experiment's tiny run, on one thread.

    Args:
        name: the experiment's.
    """
    with _alone():
        return experiment(name).fingerprint()


def recorded(name: str, commit: str) -> Recording:
    """Run an experiment.

    Args:
        name: the experiment's.
        commit: of the code that runs.
    """
    module = experiment(name)
    started = time.perf_counter()
    parts, busy = _made(name, module.run)
    provenance = {
        "command": f"{served().command} record {name}",
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit,
        "device": getattr(module, "DEVICE", platform.machine() + " CPU"),
        "processor": processor(),
        "instruction set": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "seeds": module.SEEDS,
        "versions": versions(),
        "seconds": round(time.perf_counter() - started, 1),
        "CPU seconds": round(busy, 1),
    }
    return Recording(name, parts, provenance, fingerprint(name))


def _made(name: str, run: Callable[[], Any]) -> tuple[dict[str, Any], float]:
    """The parts of an experiment and their processor time.

    ``VERIFIED_PARTS=FOLDER`` keeps each as it is made: an experiment that was cut off goes on.

    Raises:
        ValueError: other code made those that are kept.
    """
    folder, code = os.environ.get("VERIFIED_PARTS"), recordings.code(name).key
    path = Path(folder) / f"{name}.json" if folder else None
    kept: dict[str, Any] = {"code": code, "seconds": 0.0, "parts": {}}
    if path and path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["code"] != code:
            raise ValueError(f"VERIFIED_PARTS: {path} was made by other code; accepted: this")

    def make(part: str, made: Callable[[], Any]) -> Any:
        began = time.process_time()
        kept["parts"][part] = _as_json(made())
        kept["seconds"] += time.process_time() - began
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(kept))
        return kept["parts"][part]

    return assembled(run, dict(kept["parts"]), make)[1], kept["seconds"]


def again(name: str, part: str = "") -> str:
    """Make one part of a recording again and say how it was compared.

    Args:
        name: the experiment's.
        part: which; one at random where not said.

    Raises:
        ValueError: there is no such experiment or part.
        RuntimeError: the part is another.
    """
    kept = recordings.load(name)
    if kept.provenance.get("instruction set") == "AVX2":  # which AVX512 has too; before any draw
        os.environ["ATEN_CPU_CAPABILITY"] = "avx2"
    chosen, began = part or random.SystemRandom().choice([*kept.parts]), time.process_time()
    how, moved = made_again(kept, chosen)
    if moved:
        raise RuntimeError(f"{name}, {chosen}: is another than is kept, {how}: {moved}")
    return f"{name}, {chosen}: as it is kept, {how} ({time.process_time() - began:.0f} s)"


def made_again(kept: Recording, part: str) -> tuple[str, str | None]:
    """Make one part of a recording again.

    Args:
        kept: the recording.
        part: of its parts.

    Returns:
        How the part is compared, "bit for bit" on the recording's processor, with its instruction
        set and version of torch, else, and where its provenance says that the code now rounds
        otherwise, "within the seeds' spread"; a time beside those of its part, within a factor; and
        where it is another, or None.

    Raises:
        ValueError: there is no such part.
    """
    if part not in kept.parts:
        raise ValueError(f"part: got {part!r}; accepted: {', '.join(kept.parts)}")
    module, rest = experiment(kept.name), {**kept.parts}
    stored = rest.pop(part)
    with _alone():
        found = assembled(module.run, rest, lambda _, made: _as_json(made()))[1][part]
    # matrices are multiplied by a library that has other kernels for other makers' processors
    here = (processor(), torch.backends.cpu.get_cpu_capability(), version("torch"))
    told = kept.provenance
    there = (told.get("processor"), told.get("instruction set"), told["versions"]["torch"])
    if factor := getattr(module, "TIMED", None):
        factor = factor if here == there else factor**2
        alike = at_a_pace(stored, found, factor)
        return f"times within a factor of {factor:g}", difference(stored, found, alike)
    if here == there and ROUNDED not in kept.provenance:
        return "bit for bit", difference(stored, found, eq)
    return "within the seeds' spread", difference(stored, found, in_the_spread, rows=True)


def in_the_spread(stored: Any, found: Any) -> bool:
    """Return whether the mean of a row is moved by no more than the row spans.

    Args:
        stored: a row by seed, or what else is in a part.
        found: the same, made again.
    """
    if isinstance(stored, list) and isinstance(found, list):
        row, new = ([_mean(value) for value in every] for every in (stored, found))
        span = max(row) - min(row) if len(row) > 1 else ALONE
        return len(row) == len(new) and abs(_mean(row) - _mean(new)) <= span + NEAR
    return _near(stored, found)


def at_a_pace(stored: Any, found: Any, factor: float) -> Callable[[Any, Any], bool]:
    """Return what says whether a time is as it was, but for the pace that all of its part share.

    Args:
        stored: a part with times, which are fractions, and other numbers.
        found: the same, made again.
        factor: by which a time may differ.
    """
    pairs = zip(
        dict(_leaves(stored, False)).values(), dict(_leaves(found, False)).values(), strict=False
    )
    ratios = [new / old for old, new in pairs if isinstance(old, float)]
    pace = statistics.median(ratios) if ratios else 1.0

    def alike(old: Any, new: Any) -> bool:
        if not isinstance(old, float):
            return bool(old == new)
        return old / factor <= new / pace <= old * factor

    return alike


def _mean(value: Any) -> float:
    return sum(map(_mean, value)) / len(value) if isinstance(value, list) else float(value)


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


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


def _near(a: Any, b: Any) -> bool:
    """Whether fractions match within `NEAR`, relative or absolute, and all else is equal."""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=NEAR, abs_tol=NEAR)
    return bool(a == b)


def difference(
    stored: Any, found: Any, alike: Callable[[Any, Any], bool] = _near, *, rows: bool = False
) -> str | None:
    """Say where two fingerprints or parts differ, or None where they match.

    Args:
        stored: the one that is kept.
        found: the one that was made now.
        alike: whether a number matches.
        rows: whether ``alike`` takes whole lists.
    """
    mine, other = dict(_leaves(stored, rows)), dict(_leaves(found, rows))
    for place in [*mine, *(place for place in other if place not in mine)]:
        a, b = mine.get(place), other.get(place)
        if not alike(a, b):
            return f"{place}: {b} in place of {a}"
    return None


def _leaves(value: Any, rows: bool, place: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, rows, f"{place} / {key}" if place else str(key))
    elif isinstance(value, list | tuple) and not rows:
        for key, inner in enumerate(value):
            yield from _leaves(inner, rows, f"{place} [{key}]")
    else:
        yield place, value
