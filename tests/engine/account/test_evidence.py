"""The table of evidence: all that follows from it does, and its colours can be read."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from verified_transformer import claim
from verifiedbook.account import evidence, ledger
from verifiedbook.account.evidence import COLOURS, KINDS, VERDICTS, Colour
from verifiedbook.account.reading import Reading
from verifiedbook.account.records.record import (
    METADATA_KEY,
    SAMPLED,
    Record,
    Sample,
    Score,
    Volatile,
)
from verifiedbook.account.registry import statement
from verifiedbook.account.rendering import cards as rendering

ROOT = Path(__file__).parents[3]
PAGES = ("#ffffff", "#14181e")  # the theme's, light and dark


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, by WCAG's formula."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def faint(colour: Colour) -> list[str]:
    """What of a colour cannot be read: text needs a contrast of 4.5, a line 3."""
    found = [f"{colour.name}: ink"] if contrast(colour.ground, colour.ink) < 4.5 else []
    return found + [f"{colour.name}: line on {p}" for p in PAGES if contrast(colour.line, p) < 3]


def test_every_colour_can_be_read() -> None:
    assert [fault for colour in COLOURS for fault in faint(colour)] == []


@pytest.mark.canary
def test_a_faint_colour_is_found() -> None:
    pale = Colour("pale", "nothing", "#eeeeee", "#999999", "#dddddd")
    assert faint(pale) == ["pale: ink", "pale: line on #ffffff"]


def test_a_colour_has_one_meaning() -> None:
    for part in ("name", "meaning", "line"):
        assert len({getattr(colour, part) for colour in COLOURS}) == len(COLOURS)
    assert {row.colour for row in (*KINDS.values(), *VERDICTS.values())} <= set(COLOURS)


def test_verdicts_differ_without_colour() -> None:
    for one, other in combinations(VERDICTS.values(), 2):
        assert one.mark != other.mark and one.label != other.label


def test_the_style_sheet_has_a_rule_for_each_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "book/_ext"))
    from verifiedbook.sphinx import styles

    sheet = styles.style_sheet()
    for row in KINDS.values():
        assert f".vt-record.vt-{row.name}," in sheet and row.colour.line in sheet
    for verdict in VERDICTS.values():
        assert f".vt-badge.vt-is-{verdict.name} {{" in sheet
    assert sheet.count("{") == sheet.count("}") == len(KINDS) + len(VERDICTS)


def test_the_hand_written_style_sheet_colours_no_verdict_and_no_evidence() -> None:
    static = ROOT / "packages/verifiedbook/src/verifiedbook/sphinx/static"
    sheet = (static / "verified.css").read_text(encoding="utf-8")
    named = [*(f"vt-is-{name}" for name in VERDICTS), *(f"vt-{name}" for name in KINDS)]
    assert [name for name in named if re.search(rf"\.{name}\b(?!-)", sheet)] == []


def sample_record(kind: str) -> Record:
    row = evidence.KINDS[kind]
    return Record(
        ("LOSS-14",), ("x",), kind, row.outcomes[0], "a < b", "“said” & done",
        mutants=Score(1, 1), sample=Sample(9, ("s",), "much") if kind in SAMPLED else None,
        volatile=Volatile(({"point": "d=3", "measured": "0.5"},)), steps=(("why", "<i>x</i>"),),
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_an_output_has_the_colour_and_the_name_of_its_row(kind: str) -> None:
    data, metadata = rendering.record_output(sample_record(kind))
    row, html = evidence.KINDS[kind], data["text/html"]
    assert f"border-left:4px solid {row.colour.line}" in html
    assert f'class="vt-record vt-{kind}"' in html and f"LOSS-14 · {row.label}<" in html
    assert "a &lt; b" in html and "“said” &amp; done" in html
    assert '<td>d=3</td><td><span class="vt-volatile">0.5</span></td>' in html
    assert "<li>why<br><i>x</i></li>" in html and html.startswith("<details")
    assert "<summary>" in html and "<b>LOSS-14</b>" in html.partition("</summary>")[0]
    assert data["text/plain"] == sample_record(kind).line
    assert metadata["verified_transformer"]["kind"] == kind


def test_a_card_shows_words_and_formulas() -> None:
    html = rendering.card(statement("LOSS-14"), None)[0]["text/html"]
    assert html.startswith('<div class="vt-card" data-claim="LOSS-14" style="')
    assert "<b>Our reading:</b>" in html and "2dσ<sup>4</sup>" in html


def test_a_card_shows_the_setting_and_what_of_it_meets_a_condition() -> None:
    found = statement("LOSS-14")
    reading = Reading("read", condition="large $d$", setting="$d=768$", met_by="its width")
    html = rendering.card(replace(found, reading=reading), None)[0]["text/html"]
    assert "<b>The article&#39;s setting:</b>" in html and "<b>Met in the setting:</b>" in html


def test_a_card_of_an_unknown_case_is_refused() -> None:
    with pytest.raises(ValueError, match="case: LOSS-14 has no 'rainy'; accepted: none"):
        rendering.card(statement("LOSS-14"), "rainy")


def faults_in_colab(cells: list[dict[str, Any]]) -> list[str]:
    """Cards and records with LaTeX in them, which Colab does not typeset in HTML."""
    shown = [
        (output["metadata"][METADATA_KEY]["claims"], "".join(output["data"]["text/html"]))
        for cell in cells for output in cell.get("outputs", ())
        if METADATA_KEY in output.get("metadata", {})
    ]  # fmt: skip
    texts = [(claims, re.sub(r"<[^>]*>", "", html)) for claims, html in shown]
    return [f"{claims}: LaTeX in an output" for claims, text in texts if re.search(r"[\\$]", text)]


def test_no_card_and_no_record_shows_latex_in_colab() -> None:
    for path in ledger.notebooks(ROOT):
        assert not faults_in_colab(json.loads(path.read_text(encoding="utf-8"))["cells"])


@pytest.mark.canary
def test_latex_in_an_output_is_seen() -> None:
    data, metadata = rendering.record_output(
        replace(sample_record("proof"), latex=r"\mathbb{E}[w^2]=d")
    )
    assert not faults_in_colab([{"outputs": [{"data": data, "metadata": metadata}]}])
    data["text/html"] = data["text/html"].replace("E[w", r"\(\mathbb{E}[w")
    assert faults_in_colab([{"outputs": [{"data": data, "metadata": metadata}]}])


def test_every_verb_of_a_claim_makes_a_kind_of_evidence() -> None:
    verbs = {verb for row in KINDS.values() for verb in row.verbs}
    made = type(claim("LOSS-14"))
    own = {
        name
        for name, method in inspect.getmembers(made, inspect.isfunction)
        if inspect.signature(method).return_annotation in ("Record", "Records") and name[0] != "_"
    }
    assert verbs == own
