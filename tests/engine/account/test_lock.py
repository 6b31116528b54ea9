"""The lock of what is said and decided: what differs from it is said in words, and refused."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from verifiedbook.account import ledger
from verifiedbook.account.ledger import Ledger
from verifiedbook.account.verdicts import lock
from verifiedbook.account.verdicts.lock import Change, Locked, LockError, State
from verifiedbook.commands import claims, command_line
from verifiedbook.commands.git import git
from verifiedbook.serving import served

ROOT = Path(__file__).parents[3]
WAS = State("section 2", "equation", lock.hash_of_words("$x=1$."), "holds-if", reads="3c0")
LOCKED = {"TEST-01": Locked(WAS), "TEST-02": Locked(replace(WAS, verdict="holds"))}
NOW = {name: item.state for name, item in LOCKED.items()}
DAY = "2026-11-22"
FIRST = (Change(DAY, None, "holds-if", "new"),)
UNSAID = "TEST-01: changed, and its history does not say so"


def now(**changes: Any) -> dict[str, State]:
    """The claims as they are locked, the first with some of its fields changed."""
    return {**NOW, "TEST-01": replace(WAS, **changes)}


def test_every_verdict_is_as_locked(collected: Ledger) -> None:
    """`make lock REASON="…"` renews the lock on purpose."""
    assert collected.differences() == []


def test_the_lock_holds_every_claim_in_order(collected: Ledger) -> None:
    assert list(lock.read()) == [claim.id for claim in collected.claims]


def test_the_lock_is_written_as_it_is_read() -> None:
    assert lock.text(lock.read(), lock.read_words()) == served().lock.read_text(encoding="utf-8")


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "verdict": ({"verdict": "wrong"}, "TEST-01: holds-if -> wrong"),
    "words": ({"says": lock.hash_of_words("$x=2$.")}, "TEST-01: what the article says was changed"),
    "kind": ({"kind": "statement"}, "TEST-01: its kind was changed: equation -> statement"),
    "place": ({"where": "1"}, "TEST-01: its place was changed: section 2 -> 1"),
    "judged": (
        {"judged": True}, "TEST-01: judged by a person, before decided by what ran",
    ),
    "retired": ({"retired": "says TEST-02"}, "TEST-01: retired: says TEST-02"),
    "reading": ({"reads": "4d1"}, "TEST-01: how it is read was changed"),
}  # fmt: skip


@pytest.mark.canary
@pytest.mark.parametrize("what", CHANGES)
def test_what_is_not_as_locked_is_said_in_words(what: str) -> None:
    changes, said = CHANGES[what]
    assert lock.differences(NOW, LOCKED) == {}
    assert lock.differences(now(**changes), LOCKED) == {"TEST-01": [said]}


@pytest.mark.canary
def test_another_reason_to_set_a_claim_aside_is_said() -> None:
    aside = replace(WAS, verdict="not-truth-apt", nature="plan")
    other = {"TEST-01": replace(aside, nature="opinion")}
    said = lock.differences(other, {"TEST-01": Locked(aside)})
    assert said == {"TEST-01": ["TEST-01: set aside as opinion, before as plan"]}


@pytest.mark.canary
def test_a_new_claim_and_one_that_is_gone_are_said() -> None:
    moved = {"TEST-01": WAS, "TEST-03": replace(WAS, verdict="holds")}
    assert [line for lines in lock.differences(moved, LOCKED).values() for line in lines] == [
        "TEST-02: no longer in the claims files; an id is retired, never dropped",
        "TEST-03: new, holds",
    ]


# ------------------------------------------------------------------ renewing


def test_a_renewed_lock_keeps_what_stood_there_and_why() -> None:
    first = lock.renew(now(verdict="wrong"), LOCKED, " its setting\nfails TEST-01 ", DAY)
    assert first["TEST-01"].state.verdict == "wrong"
    assert first["TEST-01"].history == (
        Change(DAY, "holds-if", "wrong", "its setting fails TEST-01"),
    )
    assert first["TEST-02"] == LOCKED["TEST-02"] and lock.lost(LOCKED, first) == []
    assert lock.renew(NOW, LOCKED, "no reason", DAY) == LOCKED
    made = lock.renew({**NOW, "TEST-03": WAS}, LOCKED, "said by the book", DAY)
    assert made["TEST-03"].history == (Change(DAY, None, "holds-if", "said by the book"),)
    again = lock.renew(
        now(verdict="holds", judged=True), first, "a source of TEST-01", "2026-12-01"
    )
    assert again["TEST-01"].history == (
        *first["TEST-01"].history,
        Change("2026-12-01", "wrong; not judged", "holds; judged", "a source of TEST-01"),
    )


def test_a_lock_of_before_takes_up_how_claims_are_read() -> None:
    before = {"TEST-01": Locked(replace(WAS, reads=None), FIRST)}
    assert lock.differences({"TEST-01": WAS}, before) == {}
    assert lock.renew({"TEST-01": WAS}, before, "a release", DAY) == {"TEST-01": Locked(WAS, FIRST)}


REFUSED: dict[str, tuple[dict[str, State], str, str, str]] = {
    "no reason": (now(verdict="wrong"), " \n", DAY, "REASON: got an empty text; accepted: why"),
    "no LaTeX": (now(verdict="wrong"), "since $d > 1", DAY, "REASON: an unpaired dollar sign; it"),
    "no day": (now(verdict="wrong"), "a reason", "today", "DATE: got 'today'; accepted: a day"),
    "a claim dropped": ({"TEST-01": WAS}, "not needed", DAY, "TEST-02: no longer in the claims"),
}


@pytest.mark.canary
@pytest.mark.parametrize("what", REFUSED)
def test_a_lock_is_not_renewed_with(what: str) -> None:
    states, reason, day, message = REFUSED[what]
    with pytest.raises(LockError, match=message):
        lock.renew(states, LOCKED, reason, day)


@pytest.mark.canary
@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("reason", ["a slip of translation", "as TEST-02", "as XTEST-011"])
def test_nothing_of_a_claim_is_changed_without_naming_it(what: str, reason: str) -> None:
    changes, said = CHANGES[what]
    with pytest.raises(LockError, match=f"{said}\nREASON: what is said, read and decided"):
        lock.renew(now(**changes), LOCKED, reason, DAY)
    named = lock.renew(now(**changes), LOCKED, f"{reason}, TEST-01", DAY)
    assert len(named["TEST-01"].history) == 1


# ------------------------------------------------------------------ from release to release


def test_nothing_is_lost_since_the_last_release() -> None:
    """However many commits ago that was."""
    assert lock.lost(lock.read(served().published), lock.read()) == []


def versions(file: str, root: Path = ROOT) -> list[str]:
    """Every text that a file has had in the commits of a repository, the newest first."""
    commits = git(root, "log", "--format=%H", "--diff-filter=AM", "--", file).split()
    return [git(root, "show", f"{commit}:{file}") for commit in commits]


def lost_of_any(released: list[str], now: dict[str, Locked], folder: Path) -> list[str]:
    """What a lock hides of any release, should the file of the last one be wiped like it."""
    found = []
    for text in released:
        (folder / "released.lock").write_text(text, encoding="utf-8")
        found += lock.lost(lock.read(folder / "released.lock"), now)
    return found


def test_nothing_is_lost_of_any_release_in_the_history(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists() or git(ROOT, "rev-parse", "--is-shallow-repository") == "true":
        pytest.skip("no history in this copy, or not the whole: `git fetch --unshallow`")
    released = versions(served().published.relative_to(ROOT).as_posix())
    assert released and lost_of_any(released, lock.read(), tmp_path) == []


@pytest.mark.canary
def test_both_locks_wiped_alike_are_found_in_the_history(tmp_path: Path) -> None:
    for held in (LOCKED, {}):  # a release, then a commit that empties it and the lock
        (tmp_path / "published.lock").write_text(lock.text(held), encoding="utf-8")
        if not (tmp_path / ".git").exists():
            git(tmp_path, "init", "-q")
        git(tmp_path, "add", ".")
        who = ("-c", "user.name=n", "-c", "user.email=e@x")
        git(tmp_path, *who, "commit", "-qm", "a release")
    released = versions("published.lock", tmp_path)
    assert lost_of_any(released, {}, tmp_path) == [f"{name}: gone from the lock" for name in LOCKED]


def test_what_changed_of_a_published_claim_stands_in_the_changelog() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert unnamed(lock.read(), lock.read(served().published), changelog) == []


def unnamed(now: dict[str, Locked], published: dict[str, Locked], changelog: str) -> list[str]:
    """What differs from the last release, but for readings, and the first heading does not say."""
    told = changelog.split("\n## ")[1]
    states = {name: item.state for name, item in now.items()}
    unread = {name: replace(item.state, reads=None) for name, item in published.items()}
    moved = lock.differences(states, {name: Locked(state) for name, state in unread.items()})
    return [line for name in published for line in moved.get(name, ()) if name not in told]


@pytest.mark.canary
def test_a_verdict_that_no_reviewer_was_told_of_is_found() -> None:
    wrong = {**LOCKED, "TEST-01": Locked(replace(WAS, verdict="wrong"))}
    told = "# Changes\n\n## Unreleased\n\n- TEST-01 is wrong.\n\n## 1.0\n\n- TEST-02 is new.\n"
    assert unnamed(wrong, LOCKED, told) == []
    said = ["TEST-01: holds-if -> wrong"]
    assert unnamed(wrong, LOCKED, told.replace("TEST-01", "TEST-02")) == said


@pytest.mark.canary
def test_a_release_that_would_hide_a_change_is_refused(tmp_path: Path) -> None:
    path, held = tmp_path / "published.lock", lock.read()
    path.write_text(lock.text({**held, "TEST-01": Locked(WAS, FIRST)}), encoding="utf-8")
    with pytest.raises(LockError, match="Not to be published:\nTEST-01: gone from the lock"):
        claims.release(ROOT, path)
    path.write_text(lock.text({"LOSS-14": held["LOSS-14"]}), encoding="utf-8")
    assert claims.release(ROOT, path).endswith("published.lock: written")
    assert lock.read(path) == held


@pytest.mark.canary
@pytest.mark.parametrize(
    ("after", "fault"),
    [
        (None, "TEST-01: gone from the lock"),
        (Locked(WAS), "TEST-01: its history was rewritten"),
        (Locked(WAS, (replace(FIRST[0], reason="another"),)), "TEST-01: its history was rewritten"),
        (Locked(replace(WAS, verdict="holds"), FIRST), UNSAID),
        (Locked(replace(WAS, says="0"), FIRST), UNSAID),
    ],
)
def test_a_lock_that_hides_a_change_is_found(after: Locked | None, fault: str) -> None:
    before = {"TEST-01": Locked(WAS, FIRST)}
    assert lock.lost(before, {"TEST-01": after} if after else {}) == [fault]


# ------------------------------------------------------------------ the file


@pytest.mark.canary
@pytest.mark.parametrize("text", ['{"TEST-01": {"sort": "equation"}}', "", "[]"])
def test_what_is_no_lock_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "verdicts.lock").write_text(text, encoding="utf-8")
    with pytest.raises(LockError, match="is no lock of verdicts"):
        lock.read(tmp_path / "verdicts.lock")


def test_what_files_say_stands_behind_the_claims(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.lock"
    path.write_text(lock.text(LOCKED, {"book/a.md": "12ab"}), encoding="utf-8")
    assert lock.read(path) == LOCKED and lock.read_words(path) == {"book/a.md": "12ab"}


@pytest.mark.canary
def test_a_lock_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    with pytest.raises(LockError, match=r"none\.lock: is missing; restore it from the repository"):
        claims.renew_lock(ROOT, "start again", DAY, path=tmp_path / "none.lock")


# ------------------------------------------------------------------ where it is red


@pytest.fixture
def altered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lock in which LOSS-14 does not hold."""
    held, path = lock.read(), tmp_path / "verdicts.lock"
    was = held["LOSS-14"]
    held["LOSS-14"] = replace(was, state=replace(was.state, verdict="wrong"))
    path.write_text(lock.text(held), encoding="utf-8")
    monkeypatch.setattr(lock, "read", lambda _=None, read=lock.read: read(path))
    return path


@pytest.mark.slow
@pytest.mark.canary
def test_the_command_is_red_and_says_what_differs(
    altered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(["claims", "--root", str(ROOT)]) == 1
    assert "Not as locked:\nLOSS-14: wrong -> holds\nmake lock" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_renews_the_lock_with_the_day_of_the_last_commit(
    altered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = lock.read()
    assert claims.renew_lock(ROOT, "LOSS-14 was right", DAY, path=altered) == 0
    assert "LOSS-14: wrong -> holds\n" in capsys.readouterr().out
    after = lock.read()
    change = Change(DAY, "wrong", "holds", "LOSS-14 was right")
    assert after["LOSS-14"].history == (*before["LOSS-14"].history, change)
    assert {name for name in after if after[name] != before[name]} == {"LOSS-14"}
    collected = ledger.collect(ROOT)
    assert collected.differences() == []
    published = next(c for c in collected.to_json()["claims"] if c["id"] == "LOSS-14")
    assert published["history"][-1] == vars(change)


@pytest.mark.canary
def test_the_pages_are_not_built_without_a_warning(
    altered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "book/_ext"))
    from verifiedbook import sphinx

    monkeypatch.setattr(sphinx, "logger", logging.getLogger("pages"))
    app: Any = SimpleNamespace(srcdir=ROOT, outdir=tmp_path / "html", env=SimpleNamespace())
    sphinx.read_claims(app)
    assert "not as locked: LOSS-14: wrong -> holds" in caplog.text


def test_a_claims_page_shows_setting_history_and_what_is_inherited(
    collected: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "book/_ext"))
    from verifiedbook.sphinx import render

    shown = next(c for c in collected.claims if c.id == "LOSS-14")
    changed = replace(
        shown, verdict="holds-if", setting="$d=768$",
        history=(Change(DAY, "holds", "holds-if", "it rests on LOSS-12"),),
        inherited=(("LOSS-12", "small angles"),), discharges=(("LOSS-11", "$d$ is even"),),
    )  # fmt: skip
    known = {claim.id: claim for claim in collected.claims}
    book = dict.fromkeys(("author", "title", "year", "url", "version"), "")
    page = render.page(changed, collected.articles[0], known, None, book, str)
    for text in (
        "<b>The article's setting</b> ",
        f"<li>{DAY}: holds → holds-if. it rests on LOSS-12</li>", "small angles",
        "<b>Only if</b> (of LOSS-12, on which it rests)", "<b>The condition of LOSS-11</b> is met",
    ):  # fmt: skip
        assert text in page
