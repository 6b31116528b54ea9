"""`fresh-seeds`: the notebooks with other draws in the place of all of the book's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..notebooks import comparing
from ..notebooks.running import run


def fresh_seeds(notebooks: Sequence[Path], root: Path, salts: int, jobs: int = 2) -> int:
    """Run notebooks under other seeds: every check must pass, every outcome be the stored one.

    Texts are not compared: numbers move with the draws. Runs and failures are printed, and kept in
    ``_build/fresh-seeds.json``.

    Args:
        notebooks: which.
        root: the repository.
        salts: how many other seeds; the first is 1, so that a failure can be run again.
        jobs: how many notebooks to run at a time.

    Returns:
        1 where a run failed, else 0.
    """
    pairs = [(path, str(salt)) for path in notebooks for salt in range(1, salts + 1)]
    failures = []
    with ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda pair: faults(*pair), pairs)
        for (path, salt), lines in zip(pairs, found, strict=True):
            name = str(path.relative_to(root))
            print(f"{name} salt {salt}: {'; '.join(lines) or 'as stored'}", flush=True)
            failures += [{"notebook": name, "salt": salt, "what": line} for line in lines]
    failed = len({(failure["notebook"], failure["salt"]) for failure in failures})
    summary = {
        "when": datetime.now(UTC).date().isoformat(),
        "salts": salts,
        "runs": len(pairs),
        "failed": failed,
        "failures": failures,
    }
    target = root / "_build" / "fresh-seeds.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(summary, ensure_ascii=False, indent=1), encoding="utf-8")
    print(f"{len(pairs)} runs, {failed} failed   {target}")
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
    old, new = (_outcomes(book) for book in (nbformat.read(notebook, as_version=4), again.book))
    return [f"outcome {change}" for change in comparing.changes(old, new)]


def _outcomes(book: Any) -> list[str]:
    return [
        " ".join([*record["claims"], record.get("case") or "", record["kind"], record["outcome"]])
        for record in comparing.records(book)
    ]
