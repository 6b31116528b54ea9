"""The published pages: built with warnings as errors, complete, loading nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import html_gates
import page_gates
import pytest

from verifiedbook.account.schema import schema

ROOT = Path(__file__).parent.parent
Gate = Callable[[Path], list[str]]
GATES: tuple[Gate, ...] = (*html_gates.GATES, *page_gates.GATES)


def test_builds_without_a_warning(html: Path) -> None:
    log = (html.parent.parent / "build.log").read_text(encoding="utf-8")
    assert log.startswith("exit code 0\n"), log


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.__name__)
def test_pages_pass(gate: Gate, html: Path) -> None:
    assert (html / "book/welcome.html").exists()
    assert gate(html) == []


def test_published_claims_follow_from_the_stored_outputs(html: Path) -> None:
    assert page_gates.other_claims(html, ROOT) == []


def test_the_schema_is_published_beside_them(html: Path) -> None:
    said = json.loads((html / "claims.schema.json").read_text(encoding="utf-8"))
    assert said == schema() and said["$id"] == "claims.schema.json"
