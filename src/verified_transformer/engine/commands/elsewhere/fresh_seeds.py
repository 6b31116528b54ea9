"""`fresh-seeds`: the notebooks with other draws instead of all of the book's."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..notebooks.running import run
from .keeping import keep, kept, path, provenance

_NAME = "fresh-seeds"


def fresh_seeds(
    notebooks: Sequence[Path], root: Path, salts: int, jobs: int = 2, first: int = 1
) -> int:
    """Run notebooks under other seeds: every check must pass, every outcome be the stored one.

    Texts are not compared: numbers move with the draws. Runs and failures are printed, and added to
    those that are kept for the status page, notebook by notebook.

    Args:
        first: the first of the salts, so that further ones can be added, and a failure run again.
    """
    numbers, failed = [str(salt) for salt in range(first, first + salts)], 0
    with ThreadPoolExecutor(jobs) as pool:
        for notebook in notebooks:
            name, started = str(notebook.relative_to(root)), time.perf_counter()
            runs = pool.map(
                lambda salt, it=notebook: run(
                    it, environment={"VERIFIED_SALT": salt}, through=True
                ),
                numbers,
            )
            found = {}
            for salt, made in zip(numbers, runs, strict=True):
                lines = made.other_outcomes()
                print(f"{name} salt {salt}: {'; '.join(lines) or 'as stored'}", flush=True)
                found[salt] = lines
            failed += sum(map(bool, found.values()))
            seconds = round(time.perf_counter() - started)
            before, commit = kept(root, _NAME).get(name, {}), provenance(root)["commit"]
            keep(root, _NAME, {name: added(before, found, commit, seconds)})
    print(f"{len(notebooks) * salts} runs, {failed} failed   {path(root, _NAME)}")
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
