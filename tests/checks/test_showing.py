"""Derivations on show: displayed from what is proved, and compared as they stand."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from verified_transformer import Index, Normal, Tensor, claim, show, symbols, total, variance
from verified_transformer.account import ledger
from verified_transformer.checks.exactly import showing

ROOT = Path(__file__).parents[2]
d, σ = symbols("d sigma")
i = Index("i", d)
w = Tensor("w", Normal(0, σ), d)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for module in (
        "verified_transformer.checks.exactly.showing",
        "verified_transformer.checks.exactly.proofs",
    ):
        monkeypatch.setattr(f"{module}.display", lambda bundle: found.append(bundle[0]))
    return found


def test_a_proof_shows_its_derivation_with_the_claims_formula(shown: list[dict[str, str]]) -> None:
    claim("LOSS-14").prove(variance(total(w[i] ** 2, i)), show=True)
    assert shown[0]["text/plain"].startswith("LOSS-14 derivation   #")
    assert "&= 2d\\sigma^4." in shown[0]["text/markdown"]
    show(variance(total(w[i] ** 2, i)))
    assert "&= 2 d \\sigma^{4}." in shown[1]["text/markdown"]


def faulty_derivations(notebook: dict[str, Any]) -> list[str]:
    """Derivations of a notebook that are not what was displayed: their keys do not fit."""
    found = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            about = output.get("metadata", {}).get(showing.METADATA_KEY)
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
    data, metadata = showing.bundle("$$\na = b - c\n$$", "LOSS-14")
    data["text/markdown"] = data["text/markdown"].replace("-", "+")
    cell = {"outputs": [{"data": data, "metadata": metadata}]}
    assert faulty_derivations({"cells": [cell]}) == [
        "LOSS-14: its derivation is not the one that ran"
    ]
