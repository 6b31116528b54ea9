"""The lock on what every claim says and what became of it, which is renewed on purpose only.

``claims/verdicts.lock`` is JSON, one claim a line: where the article says it, its kind, a hash of
its words, the verdict, and a history of what was changed, when and why. What differs from it is
said in words, and the build is red until ``lock --reason "…"`` writes it anew. Behind the claims
stand the files that readers see, each with a hash of what it says.

``claims/published.lock`` is the lock of the last release. ``make release`` alone writes it, and no
later lock may hide what it holds: however many commits lie between, a history only grows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ...serving import LOCK, served
from ..hashing import hash_of
from ..records.record import LedgerError
from ..rendering.formulas import latex_fault

_WATCHED = {
    "says": "what the article says", "kind": "its kind", "where": "its place",
    "grade": "its grade", "reads": "how it is read",
}  # fmt: skip
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class LockError(LedgerError):
    """The lock is not whole, or may not be renewed like this; the message says why."""


@dataclass(frozen=True)
class State:
    """What is locked of a claim.

    Attributes:
        where, kind: as in the claims file.
        says: a hash of the statement (see `hash_of_words`).
        verdict, judged: see `Decision`.
        nature: of a claim that is set aside: definition, plan, opinion or picture.
        retired: why the id is no longer in use.
        grade: of a wrong claim, how much it matters, as judged.
        reads: a hash of how it is read; None where nobody did, or before this was locked.
    """

    where: str
    kind: str
    says: str
    verdict: str
    judged: bool = False
    nature: str | None = None
    retired: str | None = None
    grade: str | None = None
    reads: str | None = None


@dataclass(frozen=True)
class Change:
    """A change of what is locked: its date, what stood there (None: nothing), what stands, why."""

    date: str
    before: str | None
    after: str
    reason: str


@dataclass(frozen=True)
class Locked:
    """A claim as the lock holds it, with its changes, the oldest first."""

    state: State
    history: tuple[Change, ...] = ()


def hash_of_words(says: str) -> str:
    """Return the hash of a statement's words."""
    return hash_of(" ".join(says.split()), 12)


# ------------------------------------------------------------------ what differs


def differences(now: Mapping[str, State], locked: Mapping[str, Locked]) -> dict[str, list[str]]:
    """Say in words, by claim, how what is said and decided differs from what is locked.

    Returns:
        By id, one line for each thing that differs; nothing where all is as it was.
    """
    lines: dict[str, list[str]] = {}
    for name in [*locked, *(name for name in now if name not in locked)]:
        if name not in now:
            lines[name] = [
                f"{name}: no longer in the claims files; an id is retired, never dropped"
            ]
        elif name not in locked:
            lines[name] = [f"{name}: new, {_verdict(now[name])}"]
        else:
            said = [f"{name}: {line}" for line, _, _ in _moved(locked[name].state, now[name])]
            lines |= {name: said} if said else {}
    return lines


def _moved(old: State, new: State) -> Iterator[tuple[str, str, str]]:
    """What moved, each in words, and for the history what stood there and what stands."""
    if (before := _verdict(old)) != (after := _verdict(new)):
        aside = f"set aside as {new.nature}, before as {old.nature}"
        same = old.verdict == new.verdict
        yield aside if same else f"{old.verdict} -> {new.verdict}", before, after
    for name, what in _WATCHED.items():
        one, other = (getattr(state, name) or "none" for state in (old, new))
        if one != other and (name != "reads" or old.reads):
            words = f"{what} was changed"
            words += "" if name in ("says", "reads") else f": {one} -> {other}"
            yield words, f"{name} {one}", f"{name} {other}"
    if old.judged != new.judged:
        ran, judged = "decided by what ran", "judged by a person"
        if new.judged:
            yield f"{judged}, before {ran}", "not judged", "judged"
        else:
            yield f"{ran}, before {judged}", "judged", "not judged"
    if old.retired != new.retired:
        before, after = (f"retired: {s.retired}" if s.retired else "in use" for s in (old, new))
        yield after if new.retired else "no longer retired", before, after


def _verdict(state: State) -> str:
    return state.verdict + (f" ({state.nature})" if state.nature else "")


# ------------------------------------------------------------------ renewing


def renew(
    now: Mapping[str, State], locked: Mapping[str, Locked], reason: str, date: str
) -> dict[str, Locked]:
    """Return the lock of what is said and decided now, each change in its claim's history.

    Args:
        reason: why the changes are right. It names each claim that was there and is another now.

    Raises:
        LockError: no reason, no date, or a claim changed that the reason does not name.
    """
    reason = checked(reason, date)
    unnamed = [
        line
        for name, lines in differences(now, locked).items()
        for line in lines
        if name in locked and name not in re.findall(r"[A-Z]+-\d{2,}", reason)
    ]
    if unnamed:
        raise LockError(
            "\n".join(
                [*unnamed, "REASON: what is said, read and decided is locked; name each claim"]
            )
        )
    return {name: _renewed(state, locked.get(name), reason, date) for name, state in now.items()}


def checked(reason: str, date: str) -> str:
    """Return the reason for a change, blanks made single.

    Raises:
        LockError: it is empty, or readers could not read it; or the date is none.
    """
    if not (reason := " ".join(reason.split())):
        raise LockError(
            'REASON: got an empty text; accepted: why the changes are right, REASON="…"'
        )
    if fault := latex_fault(reason):
        raise LockError(f"REASON: {fault}; it is shown to readers")
    if not _DATE.fullmatch(date):
        raise LockError(f"DATE: got {date!r}; accepted: a day such as 2026-11-22")
    return reason


def _renewed(new: State, old: Locked | None, reason: str, date: str) -> Locked:
    if old is None:
        return Locked(new, (Change(date, None, _verdict(new), reason),))
    moved = [*_moved(old.state, new)]
    before, after = ("; ".join(change[place] for change in moved) for place in (1, 2))
    change = (Change(date, before, after, reason),) if moved else ()
    return Locked(new, old.history + change)


def lost(before: Mapping[str, Locked], after: Mapping[str, Locked]) -> list[str]:
    """Say where a later lock hides what an earlier one held.

    A history only grows, and it grows with every change.
    """
    faults = []
    for name, old in before.items():
        new = after.get(name)
        if new is None:
            faults.append(f"{name}: gone from the lock")
        elif new.history[: len(old.history)] != old.history:
            faults.append(f"{name}: its history was rewritten")
        elif [*_moved(old.state, new.state)] and len(new.history) == len(old.history):
            faults.append(f"{name}: changed, and its history does not say so")
    return faults


# ------------------------------------------------------------------ the file


def text(locked: Mapping[str, Locked], words: Mapping[str, str] | None = None) -> str:
    """Return the lock as its file holds it: one line a claim, a change of it, a file of words."""
    lines, written = [], partial(json.dumps, ensure_ascii=False)
    for name, item in locked.items():
        line = written(_fields(item.state))[:-1]
        if item.history:
            changes = ",\n  ".join(written(vars(change)) for change in item.history)
            line += f', "history": [\n  {changes}]'
        lines.append(f'"{name}": {line}}}')
    lines += [f'"{name}": {written({"hash": held})}' for name, held in (words or {}).items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(path: Path | None = None) -> dict[str, Locked]:
    """Read what is locked of the claims, by default in the book that is served.

    Raises:
        LockError: the lock is missing, or it is no lock.
    """
    try:
        held = _held(path or served().lock).items()
        return {name: _locked(fields) for name, fields in held if "hash" not in fields}
    except (TypeError, KeyError, AttributeError) as error:
        raise LockError(f"{LOCK}: is no lock of verdicts: {error}") from None


def read_words(path: Path | None = None) -> dict[str, str]:
    """Read the hashes of what files say, by their names; by default in the book that is served.

    Raises:
        LockError: the lock is missing, or it is no lock.
    """
    return {
        name: fields["hash"]
        for name, fields in _held(path or served().lock).items()
        if "hash" in fields
    }


def _held(path: Path) -> dict[str, dict[str, Any]]:
    try:
        found: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LockError(f"{path.name}: is missing; restore it from the repository") from None
    except ValueError as error:
        raise LockError(f"{path.name}: is no lock of verdicts: {error}") from None
    return found


def _locked(fields: dict[str, Any]) -> Locked:
    apart = ("history", "seal")  # locks of before had a seal
    kept = {key: value for key, value in fields.items() if key not in apart}
    return Locked(State(**kept), tuple(Change(**change) for change in fields.get("history", ())))


def _fields(state: State) -> dict[str, Any]:
    return {key: value for key, value in vars(state).items() if value}
