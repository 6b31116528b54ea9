"""The known-bad notebooks: each gate finds the fault that it is for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import notebook_gates as gates
import pytest

from verifiedbook.account import ledger
from verifiedbook.account.records import pictures
from verifiedbook.account.records.record import from_json

ROOT = Path(__file__).parent.parent
SAMPLE = ROOT / "notebooks/3-first-loss/3-norm-variance.ipynb"
PLOTS = ROOT / "notebooks/3-first-loss/5-where-the-formula-holds.ipynb"
Book = dict[str, Any]


def code(book: Book, index: int = 0) -> dict[str, Any]:
    """The index-th code cell; negative ones count from the end."""
    return [cell for cell in book["cells"] if cell["cell_type"] == "code"][index]


def tagged(book: Book, tag: str | None) -> dict[str, Any]:
    """The first code cell with a tag, or the first with none."""
    return next(
        cell for cell in book["cells"]
        if cell["cell_type"] == "code" and (cell["metadata"].get("tags") or [None])[0] == tag
    )  # fmt: skip


def record_output(book: Book, kind: str) -> dict[str, Any]:
    """The first output that holds a record of this kind."""
    for cell in book["cells"]:
        for output in cell.get("outputs", []):
            if output.get("metadata", {}).get(ledger.METADATA_KEY, {}).get("kind") == kind:
                return output
    raise LookupError(kind)


def never_run_cell(book: Book) -> None:
    code(book, -1)["execution_count"] = None


def hidden_by_a_tag(book: Book) -> None:
    code(book, 4)["metadata"]["tags"] = ["nbval-skip"]


def hidden_by_a_comment(book: Book) -> None:
    code(book, 4)["source"].insert(0, "  ## NBVAL_IGNORE_OUTPUT \n")


def hidden_by_a_small_comment(book: Book) -> None:
    code(book, 4)["source"].append("\n# nbval_skip")


def hidden_by_a_magic(book: Book) -> None:
    code(book, 4)["source"].insert(0, "%%capture out\n")


def stored_error(book: Book) -> None:
    code(book, 4)["outputs"] = [
        {"output_type": "error", "ename": "ClaimFailed", "evalue": "", "traceback": []}
    ]


def stored_warning(book: Book) -> None:
    code(book, 4)["outputs"] = [{"output_type": "stream", "name": "stderr", "text": ["warned"]}]


def figure_that_is_not_shown(book: Book) -> None:
    cell = next(c for c in book["cells"] if "# @title Figure" in "".join(c["source"]))
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["1 of 2"]}]


def outputs_nobody_compares(book: Book) -> None:
    bare = {"data": {"text/plain": ["<Figure size 640x480 with 1 Axes>"], "image/png": "x"}}
    for cell in book["cells"][:20]:
        if cell["cell_type"] == "code" and cell["outputs"]:
            cell["outputs"] = [{"output_type": "display_data", "metadata": {}, **bare}]


def check_that_stands_open(book: Book) -> None:
    check = tagged(book, "check")
    check["metadata"], check["source"] = {}, check["source"][1:]


def teaching_that_is_folded(book: Book) -> None:
    teaching = tagged(book, None)
    teaching["metadata"] = {**tagged(book, "check")["metadata"], "tags": ["folded"]}
    teaching["source"].insert(0, "# @title Code: not to be seen\n")


def teaching_called_a_check(book: Book) -> None:
    teaching = tagged(book, None)
    teaching["metadata"] = tagged(book, "check")["metadata"]
    teaching["source"].insert(0, "# @title Check: LOSS-14\n")


def another_title(book: Book) -> None:
    check = tagged(book, "check")
    check["source"][0] = "# @title Check: LOSS-15\n"


def edited_text(book: Book) -> None:
    output = record_output(book, "proof")
    output["data"]["text/plain"] = ["".join(output["data"]["text/plain"]).replace(" = ", " = 2*")]


def edited_record(book: Book) -> None:
    record_output(book, "measurement")["metadata"][ledger.METADATA_KEY]["detail"] = "sees all"


def impossible_record(book: Book) -> None:
    record_output(book, "measurement")["metadata"][ledger.METADATA_KEY]["outcome"] = "contradicts"


def another_reading(book: Book) -> None:
    output = record_output(book, "proof")
    record = output["metadata"][ledger.METADATA_KEY]
    record["readings"] = ["000000000000"]
    output["data"]["text/plain"] = [from_json(record).line]


def another_picture(book: Book) -> None:
    """A plot of another section, with the data of yet another."""
    plots = json.loads(PLOTS.read_text(encoding="utf-8"))["cells"]
    cell = next(c for c in plots for o in c.get("outputs", []) if "image/png" in o.get("data", {}))
    for output in cell["outputs"]:
        if "image/png" in output.get("data", {}):
            data = {"picture": "0" * 64, "panels": []}
            output["metadata"] = {"image/png": {pictures.KEY: data}}
    book["cells"].append(cell)


def wide_band(book: Book) -> None:
    cell = next(c for c in book["cells"] for o in c.get("outputs", []) if o.get("name") == "stdout")
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["a loss of 3.66"]}]
    cell["metadata"]["bands"] = {"stdout": {"200": "0"}}


def formula_without_an_owner(book: Book) -> None:
    text = "$$\\mathcal{L} = \\log n$$"
    book["cells"].append({"cell_type": "markdown", "id": "m", "metadata": {}, "source": [text]})


def faults_of_records(notebook: Path) -> list[str]:
    """What keeps the ledger from being built: `test_lock` and the pages build it."""
    try:
        ledger.read(notebook.parents[2])
    except ledger.LedgerError as error:
        return str(error).splitlines()
    return []


@pytest.mark.slow
@pytest.mark.canary
@pytest.mark.parametrize(
    ("spoil", "gate", "finding"),
    [
        (never_run_cell, gates.never_run, "execution counts"),
        (hidden_by_a_tag, gates.other_form, "'tags': ['nbval-skip']"),
        (hidden_by_a_comment, gates.hidden, "'NBVAL_IGNORE_OUTPUT' hides"),
        (hidden_by_a_small_comment, gates.hidden, "'nbval_skip' hides"),
        (hidden_by_a_magic, gates.hidden, "'%%capture' hides"),
        (stored_error, gates.faulty_outputs, "stored error ClaimFailed"),
        (stored_warning, gates.faulty_outputs, "stored stderr"),
        (figure_that_is_not_shown, gates.faulty_outputs, "no figure in"),
        (outputs_nobody_compares, gates.uncompared_share, "outputs compared"),
        (check_that_stands_open, gates.other_form, "metadata is {}, not {'cellView': 'form'"),
        (teaching_that_is_folded, gates.other_form, "'tags': ['folded']}, not {}"),
        (teaching_called_a_check, gates.other_form, "# @title Check"),
        (another_title, gates.other_form, "LOSS-15"),
        (edited_text, faults_of_records, "LOSS-11: text and hash do not belong"),
        (edited_record, faults_of_records, "LOSS-11: text and hash do not belong"),
        (impossible_record, faults_of_records, "LOSS-11: outcome: got 'contradicts' of kind"),
        (another_reading, faults_of_records, "LOSS-11 was decided from another wording"),
        (another_picture, gates.other_pictures, "a picture that is not the one"),
        (wide_band, gates.weak_bands, "stdout: 3.66 may be half as much again"),
        (formula_without_an_owner, gates.ownerless_prose, "has no owner"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_gate_catches(
    spoil: Callable[[Book], None],
    gate: Callable[[Path], list[str]],
    finding: str,
    tmp_path: Path,
) -> None:
    book = json.loads(SAMPLE.read_text(encoding="utf-8"))
    spoil(book)
    spoiled = tmp_path / "notebooks" / "3-first-loss" / SAMPLE.name
    spoiled.parent.mkdir(parents=True)
    spoiled.write_text(json.dumps(book), encoding="utf-8")
    found = gate(spoiled)
    assert any(finding in line for line in found), found
