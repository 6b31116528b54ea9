"""What runs elsewhere came to, as committed data for the status page, each with its provenance."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..writing import write_whole
from .git import git

PACKAGES = ("torch", "numpy", "sympy", "scipy", "transformers")
_NOT_READ = re.compile(r"\.|__pycache__$|_build$|status$|.*\.egg-info$")
UNFIT = "accepted: a run of `make test`, whole, that has just ended"


def path(root: Path, name: str) -> Path:
    """Return where the data of a command stand, such as "fresh-seeds"."""
    return root / "tests" / "status" / f"{name}.json"


def kept(root: Path, name: str, part: str = "notebooks") -> dict[str, Any]:
    """Return what a command has kept: by notebook, or another part of its data."""
    target = path(root, name)
    whole = json.loads(target.read_text(encoding="utf-8")) if target.exists() else {}
    return dict(whole.get(part, {}))


def keep(root: Path, name: str, entries: Mapping[str, Any]) -> None:
    """Put what came out of notebooks, by their paths, instead of what was kept of them."""
    every = kept(root, name)
    every |= {notebook: {**entry, **provenance(root)} for notebook, entry in entries.items()}
    there = {notebook: every[notebook] for notebook in sorted(every) if (root / notebook).exists()}
    write_status(root, name, {"notebooks": there})


def keep_times(root: Path) -> Path:
    """Keep where the time of the last `make test` went.

    Raises:
        ValueError: there was none, or it ran a part only.
    """
    source = root / "_build" / "times.json"
    found = json.loads(source.read_text(encoding="utf-8")) if source.exists() else {}
    if found.get("asked", [])[-2:] != ["tests", "notebooks"]:
        raise ValueError(f"_build/times.json: got {found.get('asked')}; {UNFIT}")
    return write_status(root, "times", {**found, **provenance(root)})


def keep_trial(root: Path, trial: Mapping[str, Any], name: str = "machines") -> Path:
    """Keep what was tried on some machine, instead of what the same setting came to before.

    Args:
        trial: `where`, `ran`, `green`, `result`, `minutes`, the `key` of the files, provenance.
        name: of the file beneath `tests/status`.
    """
    target = path(root, name)
    tried = json.loads(target.read_text(encoding="utf-8"))["tried"] if target.exists() else []
    setting = ("where", "ran", "python", "processor")
    others = [one for one in tried if any(one.get(name) != trial.get(name) for name in setting)]
    return write_status(root, name, {"tried": [*others, trial]})


def tree_key(root: Path) -> str:
    """Return a key that changes when any file does that a run of all tests may read.

    What stands in `tests/status`, what is hidden and what is built is left out.
    """
    digest = sha256()
    for folder, inner, files in os.walk(root):
        inner[:] = sorted(name for name in inner if not _NOT_READ.match(name))
        for name in sorted(files):
            file = Path(folder, name)
            digest.update(f"{file.relative_to(root).as_posix()}\0".encode())
            digest.update(sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def provenance(root: Path) -> dict[str, Any]:
    """Say when, from which commit, with which versions and on which processor something ran.

    A copy without git has the commit from ``VERIFIED_COMMIT``.
    """
    from .recording import processor

    commit = os.environ.get("VERIFIED_COMMIT", "")
    if not commit:
        with suppress(ValueError):  # no repository
            commit = git(root, "rev-parse", "--short=12", "HEAD")
    return {
        "when": datetime.now(UTC).date().isoformat(),
        "commit": commit,
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
        "processor": processor(),
        "cores": os.cpu_count(),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def write_status(root: Path, name: str, data: Mapping[str, Any]) -> Path:
    """Write the data of a command, and return their file."""
    target = path(root, name)
    target.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"command": f"make {name}", **data}, ensure_ascii=False, indent=1)
    write_whole(target, text + "\n")
    return target
