"""`fresh-seeds`: the notebooks with other draws in the place of all of the book's."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..notebooks import comparing
from ..notebooks.running import run
from .keeping import keep, path


def fresh_seeds(notebooks: Sequence[Path], root: Path, salts: int, jobs: int = 2) -> int:
    """Run notebooks under other seeds: every check must pass, every outcome be the stored one.

    Texts are not compared: numbers move with the draws. Runs and failures are printed, and kept for
    the status page, notebook by notebook.

    Args:
        notebooks: which.
        root: the repository.
        salts: how many other seeds; the first is 1, so that a failure can be run again.
        jobs: how many notebooks to run at a time.

    Returns:
        1 where a run failed, else 0.
    """
    numbers, failed = [str(salt) for salt in range(1, salts + 1)], 0
    with ThreadPoolExecutor(jobs) as pool:
        for notebook in notebooks:
            name, started = str(notebook.relative_to(root)), time.perf_counter()
            failures = []
            found = pool.map(lambda salt, it=notebook: faults(it, salt), numbers)
            for salt, lines in zip(numbers, found, strict=True):
                print(f"{name} salt {salt}: {'; '.join(lines) or 'as stored'}", flush=True)
                failures += [{"salt": salt, "what": line} for line in lines]
            red = len({failure["salt"] for failure in failures})
            entry = {
                "runs": salts,
                "failed": red,
                "failures": failures,
                "seconds": round(time.perf_counter() - started),
            }
            failed += red
            keep(root, "fresh-seeds", {name: entry})
    print(f"{len(notebooks) * salts} runs, {failed} failed   {path(root, 'fresh-seeds')}")
    return int(bool(failed))


def faults(notebook: Path, salt: str) -> list[str]:
    """Run a notebook under a salt and say, in a line each, which cells or outcomes fail.

    Args:
        notebook: path of the ``.ipynb`` file.
        salt: what `verified_transformer.seeds` puts before every name.
    """
    import nbformat

    again = run(notebook, environment={"VERIFIED_SALT": salt}, through=True)
    if again.errors:
        return list(again.errors)
    old, new = (
        comparing.outcomes(book) for book in (nbformat.read(notebook, as_version=4), again.book)
    )
    return [f"outcome {change}" for change in comparing.changes(old, new)]
