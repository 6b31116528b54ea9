"""The lock on words: every sentence is as somebody took it up, and what is not is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from verified_transformer.commands.prose import said

PAGE = "# Scale\n\nThe larger head\nis tied. It is not slow.\n<!-- owners\ntwo <- free\n-->\n"
CLAIMS = {
    "id": "LOSS-01", "says": "A", "reading": {
        "text": "The mean over tokens.", "formula": "2*d", "false_if": "it is larger",
        "condition": {"text": "The head is tied."},
    },
}  # fmt: skip


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A page, a notebook and a claims file, whose sentences are locked."""
    (tmp_path / "book").mkdir()
    (tmp_path / "book/a.md").write_text(PAGE, encoding="utf-8")
    cells = [
        {"cell_type": "markdown", "source": ["It grows.\n", "\n", "| no | yes |\n"]},
        {"cell_type": "code", "source": ["x = 1"]},
    ]
    notebook = tmp_path / "notebooks/1-a/1-b.ipynb"
    notebook.parent.mkdir(parents=True)
    notebook.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    claims = tmp_path / "src/verified_transformer/claims/tied-loss.yaml"
    claims.parent.mkdir(parents=True)
    claims.write_text(json.dumps({"claims": [CLAIMS]}), encoding="utf-8")
    said.renew(tmp_path)
    assert said.differences(tmp_path) == []
    return tmp_path


@pytest.mark.canary
@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        ("book/a.md", "larger", "smaller", "a.md: new: The smaller head is tied."),
        ("book/a.md", "is not", "is", "a.md: new: It is slow."),
        ("book/a.md", "# Scale", "# Rate", "a.md: new: # Rate"),
        ("notebooks/1-a/1-b.ipynb", "grows", "falls", "1-b.ipynb: new: It falls."),
        ("notebooks/1-a/1-b.ipynb", "no | yes", "yes | no", "1-b.ipynb: new: | yes | no |"),
        ("src/verified_transformer/claims/tied-loss.yaml", "mean", "sum", "new: The sum over"),
        ("src/verified_transformer/claims/tied-loss.yaml", "larger", "less", "new: it is less"),
        ("src/verified_transformer/claims/tied-loss.yaml", "head is", "head is not", "not tied."),
    ],
)
def test_another_word_is_red(book: Path, file: str, old: str, new: str, sentence: str) -> None:
    text = (book / file).read_text(encoding="utf-8")
    assert old in text
    (book / file).write_text(text.replace(old, new), encoding="utf-8")
    found = said.differences(book)
    assert sentence in found[0] and found[1].endswith("sentences that are gone: 1")


@pytest.mark.canary
def test_a_new_page_a_page_that_is_gone_and_another_order_are_red(book: Path) -> None:
    (book / "book/b.md").write_text("New.", encoding="utf-8")
    (book / "notebooks/1-a/1-b.ipynb").unlink()
    page = PAGE.replace("The larger head\nis tied. It is not slow.", "It is not slow. The larger "
                        "head is tied.")  # fmt: skip
    (book / "book/a.md").write_text(page, encoding="utf-8")
    assert said.differences(book) == [
        "notebooks/1-a/1-b.ipynb: in said.lock, and no file",
        "a.md: its sentences stand in another order",
        "b.md: is not in said.lock",
    ]


def test_owners_breaks_of_lines_and_formulas_that_run_are_not_its_matter(book: Path) -> None:
    page = PAGE.replace("head\nis", "head is").replace("two <- free", "two <- 2")
    (book / "book/a.md").write_text(page, encoding="utf-8")
    claims = book / "src/verified_transformer/claims/tied-loss.yaml"
    text = claims.read_text(encoding="utf-8")
    claims.write_text(text.replace("2*d", "3*d"), encoding="utf-8")
    assert said.differences(book) == []


def test_what_is_taken_up_is_said(book: Path) -> None:
    (book / "book/a.md").write_text(PAGE.replace("not slow", "slow"), encoding="utf-8")
    assert said.renew(book) == [
        "a.md: new: It is slow.", "a.md: sentences that are gone: 1"
    ]  # fmt: skip
    assert said.differences(book) == []
