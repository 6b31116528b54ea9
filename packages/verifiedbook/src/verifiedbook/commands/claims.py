"""`claims`, `lock`, `release`: the ledger, the lock on what is said, what of it is published."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ..account import ledger
from ..account.verdicts import lock
from ..serving import served
from ..writing import write_whole
from .git import git
from .prose import words


def write_ledger(root: Path) -> int:
    """Write ``_build/claims.json``, print how many are decided, and what is not as locked."""
    made = ledger.collect(root)
    data = made.to_json()
    target = root / "_build" / "claims.json"
    target.parent.mkdir(exist_ok=True)
    write_whole(target, json.dumps(data, ensure_ascii=False, indent=1))
    for key, count in data["summary"]["by_article"].items():
        verdicts = ", ".join(f"{n} {v}" for v, n in count["by_verdict"].items())
        print(f"{key:15} {count['decided']:3} of {count['total']:3} decided   {verdicts}")
    whole = data["summary"]
    mutants = whole["mutants"]
    print(
        f"{'all':15} {whole['decided']:3} of {whole['total']:3} decided   "
        f"{mutants['killed']}/{mutants['total']} mutants rejected   {target}"
    )
    changed = made.differences()
    if changed:
        renew = served().to_run("lock", '"…"') + " renews the lock on purpose; git diff shows it"
        print("\n".join(["Not as locked:", *changed, renew]), file=sys.stderr)
    faults = made.faults()
    if faults:
        print("\n".join(["Errata:", *faults]), file=sys.stderr)
    return 1 if changed or faults else 0


def renew_lock(root: Path, reason: str, date: str | None = None, path: Path | None = None) -> int:
    """Write the lock anew: each change of a claim with date and reason, and what each file says.

    Args:
        reason: why the changes are right; it names each claim that changed.
        date: of the changes; that of the last commit by default.
        path: of the lock; that of the book that is served by default.

    Raises:
        LedgerError: no reason, no date, or a claim changed that the reason does not name.
    """
    path = path or served().lock
    locked, held = lock.read(path), lock.read_words(path)
    made = ledger.collect(root, locked)
    changed = made.differences(locked)
    now = {claim.id: claim.state for claim in made.claims}
    claims = lock.renew(now, locked, reason, date or _last_commit(root))
    taken_up, spoken = words.renewed(root, held)
    write_whole(path, lock.text(claims, taken_up))
    print("\n".join([*changed, *spoken]))
    print(f"{path.name}: {len(changed)} changes of {len(now)} claims, {len(spoken)} of words")
    return 0


def release(root: Path, path: Path | None = None) -> str:
    """Keep the lock as the one that is published, and return what differs from the one before.

    Args:
        path: of the published lock; that of the book that is served by default.

    Raises:
        LedgerError: the ledger is not as locked, or the lock hides what was published before.
    """
    path = path or served().published
    now, before = lock.read(), lock.read(path)
    faults = [*ledger.collect(root, now).differences(now), *lock.lost(before, now)]
    if faults:
        raise lock.LockError("\n".join(["Not to be published:", *faults]))
    write_whole(path, lock.text(now))
    moved = lock.differences({name: item.state for name, item in now.items()}, before)
    lines = [line for told in moved.values() for line in told]
    return "\n".join([*lines, f"{path.name}: written"])


def _last_commit(root: Path) -> str:
    """The day of the last commit, so that the same tree gives the same lock."""
    try:
        return git(root, "log", "-1", "--format=%cs")
    except ValueError:
        raise lock.LockError("DATE: there is no commit to take it from; give DATE=…") from None
