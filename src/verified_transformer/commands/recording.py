"""Long experiments: run one and keep its result, or key what is kept by the present code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..account import recordings
from ..experiments.laboratory import recording


def record(name: str, root: Path, *, rekey: bool = False) -> Path:
    """Keep the result of an experiment.

    Args:
        rekey: keep the result that there is, and key it by the code as it is now; its fingerprint,
            a tiny re-run, must match.

    Raises:
        ValueError: there is no such experiment.
        RuntimeError: what the result depends on is not committed, or the fingerprint differs.
    """
    recording.experiment(name)
    commit = recordings.commit(name, root)
    parts = _kept(name, commit) if rekey else recording.recorded(name, commit)
    return recordings.write(name, parts)


def _kept(name: str, commit: str) -> dict[str, Any]:
    kept = recordings.load(name)
    moved = recording.difference(kept.fingerprint, recording.fingerprint(name))
    if moved:
        raise RuntimeError(f"recording {name}: the fingerprint differs ({moved}); record again")
    provenance = kept.provenance | {"keyed anew": f"at {commit}, the fingerprint unchanged"}
    return {"result": kept.result, "fingerprint": kept.fingerprint, "provenance": provenance}
