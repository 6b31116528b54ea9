"""`claims`: the ledger, from the stored outputs."""

from __future__ import annotations

import json
from pathlib import Path

from ..account import ledger


def write(root: Path) -> int:
    """Write ``_build/claims.json`` and print how many claims are decided.

    Args:
        root: the repository.
    """
    data = ledger.collect(root).to_json()
    target = root / "_build" / "claims.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
    for key, count in data["summary"]["by_article"].items():
        verdicts = ", ".join(f"{n} {v}" for v, n in count["by_verdict"].items())
        print(f"{key:15} {count['decided']:3} of {count['total']:3} decided   {verdicts}")
    whole = data["summary"]
    mutants = whole["mutants"]
    print(
        f"{'all':15} {whole['decided']:3} of {whole['total']:3} decided   "
        f"{mutants['killed']}/{mutants['total']} mutants rejected   {target}"
    )
    return 0
