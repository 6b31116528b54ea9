"""What refuses a changed claims file before anything runs: the registry, and the gates on prose.

Run in a process of its own: ``python -m mutation.refusing TRIALS`` reads changed files as JSON and
prints one line of JSON for each. Every trial is a fork, because registry and gates keep what they
have read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import notebook_gates

from verifiedbook.account import ledger, registry

from .forked import Trial, in_a_fork

ROOT = notebook_gates.ROOT


def refused(trial: Trial) -> tuple[str, str] | None:
    """What is wrong with the registry, or with the prose that names the claim, if anything is."""
    registry.load.cache_clear()
    try:
        registry.load()
    except (registry.RegistryError, ValueError) as error:
        return "registry", str(error)
    found = [fault for page in _naming(trial["claim"]) for fault in _faults(page)]
    return ("prose", "\n".join(found)) if found else None


def _naming(claim: str) -> Iterator[Path]:
    for page in (*ledger.notebooks(ROOT), *sorted((ROOT / "book").glob("*.md"))):
        if claim in page.read_text(encoding="utf-8"):
            yield page


def _faults(page: Path) -> list[str]:
    gates = notebook_gates.GATES if page.suffix == ".ipynb" else notebook_gates.PROSE_GATES
    return [fault for gate in gates for fault in gate(page)]


def main(file: str) -> int:
    """Print what became of each trial."""
    refused({"claim": "LOSS-14"})  # loads what all of them need
    for trial in json.loads(Path(file).read_text(encoding="utf-8")):
        print(json.dumps(in_a_fork(trial, refused)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
