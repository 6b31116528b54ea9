"""Records in notebooks: found where they stand, and refused where they are not whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from verified_transformer.engine.account.ledger import LedgerError
from verified_transformer.engine.account.records.notebook_records import (
    notebooks,
    records_in,
    stored_records,
)
from verified_transformer.engine.account.records.record import METADATA_KEY, Record
from verified_transformer.engine.account.registry import statement
from verified_transformer.engine.account.rendering import cards as rendering

PROOF = Record(("LOSS-14",), ("abc",), "proof", "supports", "Var = 2*d", "two routes")


def output(record: Record = PROOF) -> dict[str, Any]:
    data, metadata = rendering.record_output(record)
    return {"output_type": "display_data", "data": data, "metadata": metadata}


def test_records_are_found_and_cards_are_not() -> None:
    data, metadata = rendering.card(statement("LOSS-14"), None)
    cells = [{"outputs": [{"data": data, "metadata": metadata}]}, {}, {"outputs": [output()]}]
    found = list(records_in(cells, "a.ipynb"))
    assert [(item.record, item.cell) for item in found] == [(PROOF, 2)]


@pytest.mark.canary
@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("kind", "guess", "a.ipynb, cell 0: LOSS-14: kind: got 'guess'"),
        ("detail", "one route", "belong to the record: .* \\(the record says LOSS-14 .* one route"),
        ("latex", "3d", r"\(a field that the text does not show\)"),
        ("verdict", "holds", r"record: unknown fields \['verdict'\]"),
    ],
)
def test_an_edited_record_is_refused(field: str, value: str, fault: str) -> None:
    spoiled = output()
    spoiled["metadata"][METADATA_KEY][field] = value
    with pytest.raises(LedgerError, match=fault):
        list(records_in([{"outputs": [spoiled]}], "a.ipynb"))


def test_a_notebook_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "1-a.ipynb"
    path.write_text(json.dumps({"cells": [{"outputs": [output()]}]}), encoding="utf-8")
    assert len(list(stored_records(path, tmp_path))) == 1
    path.write_text(json.dumps({"cells": []}), encoding="utf-8")
    assert list(stored_records(path, tmp_path)) == []


def test_notebooks_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "notebooks" / "1-first"
    folder.mkdir(parents=True)
    for name in ("10-j", "2-b", "1-a"):
        (folder / f"{name}.ipynb").write_text("{}", encoding="utf-8")
    assert [path.stem for path in notebooks(tmp_path)] == ["1-a", "2-b", "10-j"]
    with pytest.raises(ValueError, match=r"root: got .*, which has no notebooks"):
        notebooks(folder)
