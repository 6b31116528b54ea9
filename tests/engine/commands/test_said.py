"""The lock on words: every sentence is as somebody took it up, and what is not is shown."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from verified_transformer.engine.account.verdicts import lock
from verified_transformer.engine.commands.prose import said

PAGE = "# Scale\n\nThe larger head\nis tied. It is not slow.\n"
OWNERS = "2 <- free\nthree <- 3\n(1) <- computed within 0.1\n"
DAY, WHY = "2026-11-22", "as it stands"
NOTEBOOK = "notebooks/1-a/1-b.ipynb"
PICTURE = "src/verified_transformer/book/drawings/pictures/norm.py"
YAML = "src/verified_transformer/book/claims/tied-loss.yaml"
CLAIMS = {
    "id": "LOSS-01", "says": "A", "reading": {
        "text": "The mean over tokens.", "formula": "2*d", "false_if": "it is larger",
        "condition": {"text": "The head is tied."},
    },
}  # fmt: skip


AS = ["-c", "user.name=a", "-c", "user.email=a@example.org"]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A page, a notebook and a claims file, whose sentences are locked."""
    (tmp_path / "book").mkdir()
    (tmp_path / "book/a.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "book/a.owners").write_text(OWNERS, encoding="utf-8")
    cells = [
        {"cell_type": "markdown", "source": ["LOSS-14 grows.\n", "\n", "| no | yes |\n"]},
        {"cell_type": "code", "source": ["bars(x, 'What is drawn is the table.')"]},
        {
            "cell_type": "code",
            "source": ["# @title Figure: a\n", "plot(x, label='tied')"],
            "metadata": {"mystnb": {"image": {"alt": "The tied curve lies highest."}}},
        },
    ]
    notebook = tmp_path / NOTEBOOK
    notebook.parent.mkdir(parents=True)
    notebook.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    claims = tmp_path / YAML
    claims.parent.mkdir(parents=True)
    claims.write_text(json.dumps({"claims": [CLAIMS]}), encoding="utf-8")
    picture = tmp_path / PICTURE
    picture.parent.mkdir(parents=True)
    picture.write_text(
        '"""Of norms."""\ncard("All states lie on it.", kind="x")\n', encoding="utf-8"
    )
    take_up(tmp_path, {}, WHY)
    for words in (["init", "-q"], ["add", "-A"], [*AS, "commit", "-qm", "first"]):
        subprocess.run(["git", "-C", tmp_path, *words], check=True)
    assert differences(tmp_path) == []
    return tmp_path


def take_up(book: Path, locked: dict[str, lock.Taken], reason: str) -> list[str]:
    """Write the lock of the book's sentences; return what was said otherwise before."""
    taken, changed = said.renewed(book, locked, reason, DAY)
    (book / said.LOCK).write_text(lock.text({}, taken), encoding="utf-8")
    return changed


def differences(book: Path) -> list[str]:
    return [
        fault
        for name, taken_up in said.read(book).items()
        for fault in said.faults(book, name, taken_up)
    ]


@pytest.mark.canary
@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        (
            "book/a.md",
            "larger",
            "smaller",
            "a.md, page: The smaller head is tied. | before: The larger head is tied.",
        ),
        ("book/a.md", "is not", "is", "a.md, page: It is slow. | before: It is not slow."),
        ("book/a.md", "# Scale", "# Rate", "a.md, page: # Rate"),
        ("book/a.owners", "2 <-", "5 <-", "a.owners, owners: 5 <- free"),
        ("book/a.owners", "0.1", "0.9", "a.owners, owners: (1) <- computed within 0.9"),
        (NOTEBOOK, "'tied'", "'free'", "1-b.ipynb, cell 2: free"),
        (NOTEBOOK, "grows", "falls", "1-b.ipynb, cell 0 LOSS-14: LOSS-14 falls."),
        (NOTEBOOK, "is drawn", "is hidden", "1-b.ipynb, cell 1: What is hidden is the table."),
        (NOTEBOOK, "highest", "lowest", "1-b.ipynb, cell 2: The tied curve lies lowest."),
        (NOTEBOOK, "no | yes", "yes | no", "1-b.ipynb, cell 0 LOSS-14: | yes | no |"),
        (PICTURE, "All", "No", "norm.py, picture: No states lie on it."),
        (YAML, "mean", "sum", "yaml, LOSS-01: The sum over tokens."),
        (YAML, "2*d", "3*d", "yaml, LOSS-01: 3*d"),
        (YAML, "larger", "less", "yaml, LOSS-01: it is less"),
        (YAML, "head is", "head is not", "LOSS-01: The head is not tied. | before: The head is t"),
    ],
)
def test_another_word_is_red(book: Path, file: str, old: str, new: str, sentence: str) -> None:
    text = (book / file).read_text(encoding="utf-8")
    assert old in text
    (book / file).write_text(text.replace(old, new), encoding="utf-8")
    found = differences(book)
    assert sentence in found[0] and found[1].endswith("sentences that are gone: 1")


@pytest.mark.canary
def test_another_order_is_red(book: Path) -> None:
    page = PAGE.replace("The larger head\nis tied. It is not slow.", "It is not slow. The larger "
                        "head is tied.")  # fmt: skip
    (book / "book/a.md").write_text(page, encoding="utf-8")
    assert differences(book) == ["a.md: its sentences are not those that were taken up"]


def test_owners_that_are_computed_and_breaks_of_lines_are_not_its_matter(book: Path) -> None:
    (book / "book/a.md").write_text(PAGE.replace("head\nis", "head is"), encoding="utf-8")
    owners = OWNERS.replace("three <- 3", "three <- 2 + 1")
    (book / "book/a.owners").write_text(owners, encoding="utf-8")
    assert differences(book) == []


def test_what_is_taken_up_is_said_with_its_reason(book: Path) -> None:
    (book / "book/a.md").write_text(PAGE.replace("not slow", "slow"), encoding="utf-8")
    assert take_up(book, said.read(book), "it is") == [
        "a.md, page: It is slow. | before: It is not slow.", "a.md: sentences that are gone: 1"
    ]  # fmt: skip
    assert differences(book) == []
    reasons = {name: taken.reason for name, taken in said.read(book).items()}
    assert reasons.pop("book/a.md") == "it is" and set(reasons.values()) == {WHY}


@pytest.mark.canary
def test_what_was_said_when_it_was_taken_up_is_shown_after_other_commits(book: Path) -> None:
    for word in ("slower", "slowest"):
        (book / "book/a.md").write_text(PAGE.replace("slow", word), encoding="utf-8")
        subprocess.run(["git", "-C", book, *AS, "commit", "-qam", word], check=True)
    assert differences(book)[0] == ("a.md, page: It is not slowest. | before: It is not slow.")


@pytest.mark.canary
def test_a_file_that_nobody_took_up_is_red(book: Path) -> None:
    assert said.faults(book, "book/a.md", None) == ["book/a.md: 3 sentences that nobody took up"]
