"""The book's own words: each has what decides it, and stands as it was judged."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from verifiedbook.account import ledger
from verifiedbook.account.words.support import SUFFIX, Text
from verifiedbook.commands.prose import own_words

ROOT = Path(__file__).parent.parent
PAGES = [path.with_suffix(".md") for path in sorted((ROOT / "book").glob(f"*{SUFFIX}"))]


@pytest.mark.parametrize("path", [*ledger.notebooks(ROOT), *PAGES], ids=lambda path: path.stem)
def test_every_own_word_is_judged(path: Path, collected: ledger.Ledger) -> None:
    assert [*Text(path, ROOT, collected).faults()] == []


SAYS = "## What to do\n\nDivide it. The variance doubles.\n\n> **Remember.** Twice is enough."
ROWS = """\
[advice]
Divide it.
    by advice: it is cheap
    false if it costs much
The variance doubles.
    by LOSS-14; cell shown; not LOSS-40
    false if it does not double
Twice is enough.
    by text proof
    false if it takes three
"""


def written(folder: Path, collected: ledger.Ledger, rows: str = ROWS) -> Text:
    """A notebook with a proof, a cell that prints, own words and their rows, sealed."""
    output = {"output_type": "stream", "name": "stdout", "text": "2.0\n"}
    cells: list[dict[str, Any]] = [
        {"id": "proof", "cell_type": "markdown", "source": "$$1+1=2$$"},
        {"id": "shown", "cell_type": "code", "source": "print(2.0)", "outputs": [output]},
        {"id": "advice", "cell_type": "markdown", "source": SAYS},
    ]
    path = folder / "1-a.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    path.with_suffix(SUFFIX).write_text(rows, encoding="utf-8")
    own_words.draft(Text(path, ROOT, collected))
    return Text(path, ROOT, collected)


def test_what_is_judged_has_no_fault(tmp_path: Path, collected: ledger.Ledger) -> None:
    text = written(tmp_path, collected)
    assert [*text.faults()] == []
    own_words.draft(text)
    assert text.rows == Text(text.path, ROOT, collected).rows


@pytest.mark.canary
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("doubles", "halves", "nobody judged as it stands: The variance halves."),
        ("Divide it.", "Divide it. Then wait.", "nobody judged as it stands: Then wait."),
        ("enough.", "enough, or thrice.", "does not stand there: Twice is enough."),
        ("1+1=2", "1+1=3", "text proof says something else than when this was judged by it"),
        ('"2.0\\n"', '"2.1\\n"', "cell shown says something else"),
        ('"shown"', '"gone"', "has no cell shown"),
        ('"2.0\\n"', '""', "cell shown shows nothing"),
    ],
)
def test_words_or_evidence_that_move_alone_are_red(
    tmp_path: Path, collected: ledger.Ledger, old: str, new: str, says: str
) -> None:
    path = written(tmp_path, collected).path
    before = path.read_text(encoding="utf-8")
    assert old in before
    path.with_name("1-b.ipynb").write_text(before.replace(old, new), encoding="utf-8")
    path.with_suffix(SUFFIX).rename(path.with_name(f"1-b{SUFFIX}"))
    assert any(
        says in fault for fault in Text(path.with_name("1-b.ipynb"), ROOT, collected).faults()
    )


@pytest.mark.canary
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("by LOSS-14; ", "by not LOSS-14; ", "not LOSS-14 does not decide this, for it is holds"),
        ("not LOSS-40", "LOSS-40", "LOSS-40 does not decide this, for it is wrong"),
        ("not LOSS-40", "LOSS-99", "LOSS-99 is no claim"),
        ("not LOSS-40", "LOSS-40[none]", "has no case 'none'"),
        ("not LOSS-40", "@nobody1999", "@nobody1999 is not in the bibliography"),
        ("not LOSS-40", "test tests/test_own_words.py::none", "shows nothing"),
        ("not LOSS-40", "it is clear", "decides nothing; accepted"),
        ("by advice: it is cheap", "by advice", "decides nothing; accepted"),
        ("    false if it takes three\n", "", "has no `false if`"),
        ("by text proof", "by ?", "decides nothing"),
    ],
)
def test_evidence_that_does_not_decide_is_red(
    tmp_path: Path, collected: ledger.Ledger, old: str, new: str, says: str
) -> None:
    assert old in ROWS
    path = written(tmp_path, collected).path
    path.with_suffix(SUFFIX).write_text(ROWS.replace(old, new), encoding="utf-8")
    assert any(says in fault for fault in Text(path, ROOT, collected).faults())


@pytest.mark.canary
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"verdict": "wrong"}, "LOSS-14 does not decide this, for it is wrong"),
        ({"says": "Another statement."}, "LOSS-14 says something else than when"),
    ],
)
def test_a_claim_that_turned_is_red(
    tmp_path: Path, collected: ledger.Ledger, change: dict[str, Any], says: str
) -> None:
    text = written(tmp_path, collected)
    claims = [
        dataclasses.replace(claim, **change) if claim.id == "LOSS-14" else claim
        for claim in collected.claims
    ]
    turned = dataclasses.replace(collected, claims=tuple(claims))
    assert any(says in fault for fault in Text(text.path, ROOT, turned).faults())


def test_a_new_sentence_is_left_to_a_person(tmp_path: Path, collected: ledger.Ledger) -> None:
    rows = ROWS.replace(ROWS.partition("[advice]\n")[2].partition("The variance")[0], "")
    text = written(tmp_path, collected, rows)
    first, second, _ = text.rows["advice"]
    assert (first.says, first.by) == ("Divide it.", ("?",))
    assert second.says == "The variance doubles."
    assert second.by[0].startswith("LOSS-14#")
