"""What each cell of a notebook is for, and the form that follows from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from verifiedbook.account import ledger
from verifiedbook.commands.notebooks import cell_kinds, form

ROOT = Path(__file__).parents[3]
NOTEBOOKS = ledger.notebooks(ROOT)


@pytest.mark.parametrize(
    ("source", "of"),
    [
        ("try:\n    import a\nexcept ImportError:\n    %pip install a", "set-up"),
        ("import torch\nfrom a import (\n    b,\n    c,\n)\nd = symbols('d')\nprint(d)", "set-up"),
        ("import torch\nd = 1\ne = 2\nprint(d + e)", "teach"),
        ("import torch\nclaim('LOSS-14').cited()", "check"),
        ('claim("LOSS-14")', "card"),
        ('claim("LOSS-14").case("mean")', "card"),
        ('claim("LOSS-14")\nprint(1)', "teach"),
        ('case = claim("LOSS-14")', "teach"),
        ("for c in cases:\n    c.prove(made)", "check"),
        ("try:\n    truth.measure(q)\nexcept ClaimFailed as e:\n    print(e)", "check"),
        ("which.count('parameters', f, at=points)", "check"),
        ("print('abc'.count('a'))", "teach"),
        ("by_rule(claim('GROW-50'), 0)", "check"),
        ("ax.plot(x)\nplt.show()", "figure"),
        ('exercise("3.4")', "figure"),
        ("drawings.bars()", "figure"),
        ("panel = 1\nDrawing((panel,), 'Words.', 'More words.')", "figure"),
        ("%time x = 1", "teach"),
    ],
)
def test_a_cell_is_told_by_its_syntax_tree(source: str, of: str) -> None:
    assert cell_kinds.kind(source) == of


def needless(cells: list[dict[str, Any]]) -> list[str]:
    """Cells that show nothing but the card of a claim, which its first check shows anyway."""
    kept = [output.get("metadata", {}) for cell in cells for output in cell.get("outputs", ())]
    records = [data[ledger.METADATA_KEY] for data in kept if ledger.METADATA_KEY in data]
    decided = {name for r in records if r["kind"] != "card" for name in r["claims"]}
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    cards = [source for source in sources if source and cell_kinds.kind(source) == "card"]
    return [source for source in cards if decided >= set(cell_kinds.claims(source))]


def test_no_cell_shows_a_card_that_a_check_shows() -> None:
    for notebook in NOTEBOOKS:
        assert not needless(json.loads(notebook.read_text(encoding="utf-8"))["cells"]), notebook


@pytest.mark.canary
def test_a_cell_that_shows_a_card_alone_is_seen() -> None:
    record = {"metadata": {ledger.METADATA_KEY: {"kind": "proof", "claims": ["LOSS-14"]}}}
    check = {"cell_type": "code", "source": ["x.prove()"], "outputs": [record]}
    alone = {"cell_type": "code", "source": ['claim("LOSS-14")']}
    other = {"cell_type": "code", "source": ['claim("LOSS-15")']}
    assert needless([alone, check, other]) == ['claim("LOSS-14")']


def test_what_left_a_record_is_a_check_and_what_shows_a_claim_a_card() -> None:
    for notebook in NOTEBOOKS:
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            kinds = {
                output["metadata"][ledger.METADATA_KEY]["kind"]
                for output in cell.get("outputs", ())
                if ledger.METADATA_KEY in output.get("metadata", {})
            }
            if kinds - {"card"}:
                assert cell_kinds.kind("".join(cell["source"])) == "check", notebook.name
            elif kinds:
                assert cell_kinds.kind("".join(cell["source"])) in ("card", "teach"), notebook.name


def cell(source: str, **metadata: Any) -> dict[str, Any]:
    outputs: list[Any] = []
    return {"cell_type": "code", "metadata": metadata, "outputs": outputs, "source": source}


def formed(*cells: dict[str, Any]) -> list[dict[str, Any]]:
    text = json.dumps({"cells": list(cells)})
    once = form.formed(text)
    assert form.formed(once) == once
    found: list[dict[str, Any]] = json.loads(once)["cells"]
    return found


def test_form_titles_and_folds_all_but_short_teaching() -> None:
    heading = {"cell_type": "markdown", "metadata": {}, "source": "## The $x$ of *it*\n\ntext"}
    long = cell("x = 1\n" * 17, tags=["mine"])
    alt = {"mystnb": {"image": {"alt": "a curve"}}}
    made = formed(
        cell("import torch"), heading, cell('claim("LOSS-14")'), cell("c.prove(x)"), cell("x = 1"),
        long, cell("def f(x):\n    return x\n" + "x = 1\n" * 16), cell("plt.show()", **alt),
    )  # fmt: skip
    titles = ["".join(c["source"]).partition("\n")[0] for c in made]
    assert titles == [
        "# @title Set-up", "## The $x$ of *it*", "# @title Claim: LOSS-14",
        "# @title Break it: LOSS-14", "x = 1", "# @title Code: The x of it", "# @title Code: f",
        "# @title Figure: The x of it",
    ]  # fmt: skip
    hidden = "hide-input"
    assert [c["metadata"].get("tags") for c in made] == [
        ["set-up", hidden], None, ["card", hidden], ["check", hidden], None,
        ["mine", "folded", hidden], ["folded", hidden], ["figure", hidden],
    ]  # fmt: skip
    assert made[4]["metadata"] == {}
    assert made[7]["metadata"] == {
        "cellView": "form", "jupyter": {"source_hidden": True}, "tags": ["figure", hidden], **alt,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "code", "shown"),
    [
        ("3.3.1", ['answer = ""  # @param {type:"string"}', 'exercise("3.3.1").answer(answer)'],
         {"cellView": "form"}),
        ("1.3.4", ['answer = ""  # @param ["", "a", "b", "c", "d"]',
                   'exercise("1.3.4").answer(answer)'], {"cellView": "form"}),
        ("5.11.4", ['exercise("5.11.4").answer()  # your function between the brackets'], {}),
        ("3.3.7", ['exercise("3.3.7")'],
         {"cellView": "form", "jupyter": {"source_hidden": True}}),
    ],
)  # fmt: skip
def test_an_exercise_has_a_line_to_answer_in(name: str, code: list[str], shown: Any) -> None:
    made = formed(cell("import a"), cell(f'exercise("{name}")', jupyter={"source_hidden": 1}))
    assert "".join(made[1]["source"]).splitlines() == [f"# @title Exercise {name}", *code]
    assert made[1]["metadata"] == {**shown, "tags": ["figure", "remove-input"]}


def test_a_cell_that_became_short_stands_open_again() -> None:
    made = formed(
        cell("import a"),
        cell("# @title Code: x\nx = 1", cellView="form", tags=["folded", "hide-input"]),
    )
    assert made[1]["source"] == ["x = 1"] and made[1]["metadata"] == {}


def test_a_short_cell_folds_if_only_its_result_is_to_be_read() -> None:
    made = formed(cell("import a"), cell("print(x)", tags=["result"]))
    assert made[1]["metadata"]["tags"] == ["result", "folded", "hide-input"]
