"""The lock on words: every file says what somebody took up, and what is said otherwise is shown."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from verifiedbook.account.verdicts import lock
from verifiedbook.commands.prose import words
from verifiedbook.serving import served

LOCK = f"{served().place}/verdicts.lock"
PAGE, OWNERS, NOTEBOOK = "book/a.md", "book/a.owners", "notebooks/1-a/1-b.ipynb"
MODULE = "packages/weightwise/src/weightwise/shapes.py"
ROWS = "experiments/long_runs/recordings/race.json"
YAML = "src/verified_transformer/book/claims/tied-loss.yaml"
CELLS = [
    {"cell_type": "markdown", "source": ["LOSS-14 grows.\n", "| no | yes |\n"]},
    {
        "cell_type": "code",
        "source": ["%pip install x\n", "bars(x, 'The table.', at=3)"],
        "metadata": {"mystnb": {"image": {"alt": "The tied curve lies highest."}}},
    },
]
FILES = {
    PAGE: "# Scale\n\nThe larger head\nis tied. It is not slow.\n",
    OWNERS: "(1) <- computed within 0.1\n",
    NOTEBOOK: json.dumps({"cells": CELLS}),
    MODULE: 'def sizes(n):\n    """All states lie on it."""\n    return 3\n',
    ROWS: json.dumps({"parts": {"tied": [0.5, 0.7]}, "provenance": {"date": "2026-11-22"}}),
    YAML: "reading:\n  text: The mean over tokens.\n  formula: 2*d\n",
}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A file of each kind, committed with a lock on what it says."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert take_up(tmp_path) == [f"{name}: nobody took up what it says" for name in sorted(FILES)]
    commit(tmp_path, "init", "-q")
    return tmp_path


def commit(book: Path, *first: str) -> None:
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for asked in filter(None, (first, ("add", "-A"), (*author, "commit", "-qm", "a change"))):
        subprocess.run(["git", "-C", book, *asked], check=True, capture_output=True)


def take_up(book: Path) -> list[str]:
    """Write the lock of what the book says; return what was said otherwise before."""
    held = lock.read_words(book / LOCK) if (book / LOCK).exists() else {}
    taken, changed = words.renewed(book, held)
    (book / LOCK).write_text(lock.text({}, taken), encoding="utf-8")
    return changed


def differences(book: Path) -> list[str]:
    held = lock.read_words(book / LOCK)
    return [
        fault
        for name in words.files(book)
        for fault in words.said_otherwise(book, name, held[name])
    ]


@pytest.mark.canary
@pytest.mark.parametrize(
    ("file", "old", "new", "now"),
    [
        (PAGE, "larger", "smaller", "The smaller head"),
        (PAGE, "is not", "is", "is tied. It is slow."),
        (PAGE, "# Scale", "# Rate", "# Rate"),
        (OWNERS, "0.1", "0.9", "(1) <- computed within 0.9"),
        (NOTEBOOK, "grows", "falls", "LOSS-14 falls."),
        (NOTEBOOK, "no | yes", "yes | no", "| yes | no |"),
        (NOTEBOOK, "The table", "No table", "No table."),
        (NOTEBOOK, "highest", "lowest", "The tied curve lies lowest."),
        (NOTEBOOK, "at=3", "at=4", "bars(x, 'The table.', at=4)"),
        (MODULE, "All", "No", "No states lie on it."),
        (ROWS, "0.7", "0.9", "0.9"),
        (YAML, "mean", "sum", "The sum over tokens."),
        (YAML, "2*d", "3*d", "formula: 3*d"),
    ],
)
def test_another_word_is_red(book: Path, file: str, old: str, new: str, now: str) -> None:
    (book / file).write_text(FILES[file].replace(old, new), encoding="utf-8")
    commit(book)  # what was said when it was taken up is shown after other commits
    told = differences(book)
    assert told and all(line.startswith(f"{file}: ") for line in told) and now in told[-1]
    assert take_up(book) == told and differences(book) == []


def test_breaks_of_lines_what_modules_do_and_provenance_are_not_its_matter(book: Path) -> None:
    changes = {PAGE: ("head\nis", "head is"), MODULE: ("3", "4"), ROWS: ("-22", "-23")}
    for file, (old, new) in changes.items():
        (book / file).write_text(FILES[file].replace(old, new), encoding="utf-8")
    assert differences(book) == []


@pytest.mark.canary
def test_a_lock_that_was_committed_without_being_renewed_is_red(book: Path) -> None:
    """So that a lock from a merge, in which nothing of the file is another, hides no word."""
    held = lock.read_words(book / LOCK) | {PAGE: "0" * 16}
    (book / LOCK).write_text(lock.text({}, held), encoding="utf-8")
    commit(book)
    assert differences(book) == [f"{PAGE}: does not say what was taken up"]
