"""Stored derivations: each is the one that was displayed when its proof ran."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from verified_transformer.engine.account import ledger
from verified_transformer.engine.checks.exactly import derived

ROOT = Path(__file__).parents[3]


def faulty_derivations(notebook: dict[str, Any]) -> list[str]:
    """Derivations of a notebook that are not what was displayed: their keys do not fit."""
    found = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            about = output.get("metadata", {}).get(derived.METADATA_KEY)
            if about:
                text = "".join(output["data"]["text/markdown"])
                key = hashlib.sha256(text.encode()).hexdigest()[:8]
                line = f"{about['name']} derivation   #{key}"
                if "".join(output["data"]["text/plain"]) != line:
                    found.append(f"{about['name']}: its derivation is not the one that ran")
    return found


def test_no_stored_derivation_was_altered() -> None:
    for path in ledger.notebooks(ROOT):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        assert faulty_derivations(notebook) == [], path.name


@pytest.mark.canary
def test_a_flipped_sign_in_a_stored_derivation_is_red_and_names_the_claim() -> None:
    data, metadata = derived.bundle("$$\na = b - c\n$$", "LOSS-14")
    data["text/markdown"] = data["text/markdown"].replace("-", "+")
    cell = {"outputs": [{"data": data, "metadata": metadata}]}
    assert faulty_derivations({"cells": [cell]}) == [
        "LOSS-14: its derivation is not the one that ran"
    ]
