"""The proofs are those that the kernel has checked, and prove what the readings say."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / folder) for folder in ("proofs", "bench")]
import check  # noqa: E402
import proof_mutants  # noqa: E402


def test_the_kernel_has_checked_these_files_and_readings() -> None:
    assert [*check.stale()] == []


def test_every_theorem_states_the_value_of_its_reading() -> None:
    assert [*check.untied()] == []


def test_every_hypothesis_is_met_by_a_law_and_shown_to_be_needed() -> None:
    assert [*check.unmet()] == []


def test_there_are_no_other_axioms_than_those_of_the_reals() -> None:
    checked = json.loads(check.CHECKED.read_text(encoding="utf-8"))
    assert len(checked["theorems"]) == len(check.theorems()) >= 20
    assert all(
        one["axioms"] and set(one["axioms"]) <= {*check.STANDARD} for one in checked["theorems"]
    )


@pytest.mark.canary
def test_a_reading_with_another_formula_is_red(monkeypatch: pytest.MonkeyPatch) -> None:
    known = check.readings()
    known["LOSS-14"] = {**known["LOSS-14"], "formula": "2*d*sigma**3"}
    monkeypatch.setattr(check, "readings", lambda: known)
    assert [*check.untied()] == ["LOSS_14 proves 2*d*sigma**4, and LOSS-14 says 2*d*sigma**3"]
    assert any("LOSS-14" in one for one in check.stale())


@pytest.mark.canary
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(INR d * σ ^ 2).\nProof", "(INR d * σ ^ 3).\nProof"),  # another statement
        (
            "~ ltac:(without 2 LOSS_13)",
            "~ ltac:(without 1 LOSS_13)",
        ),  # a hypothesis that nothing shows to be needed
        ("ltac:(hypotheses (LOSS_13 ", "ltac:(hypotheses (LOSS_11 "),  # none that meets them
    ],
)
def test_a_file_that_changed_is_red(
    old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in check.files():
        shutil.copy(file, tmp_path)
    target = tmp_path / "SquaredLength.v"
    text = target.read_text(encoding="utf-8")
    assert old in text
    target.write_text(text.replace(old, new, 1), encoding="utf-8")
    stamp = json.loads(check.CHECKED.read_text(encoding="utf-8"))
    assert check.key(tmp_path) != stamp["key"]
    if "ltac" in old:
        assert any("LOSS_13" in one for one in check.unmet(tmp_path))
    monkeypatch.setattr(check.theorems, "__defaults__", (tmp_path,))
    assert ("σ" not in old) or any("LOSS_11" in one for one in check.untied())


def test_no_changed_conclusion_survives_where_the_hypotheses_are_met() -> None:
    means = proof_mutants.known()
    found = [
        one for each in proof_mutants.stated().values() for one in proof_mutants.judged(each, means)
    ]
    assert sum(kind == "refuted" for *_, kind in found) >= 650
    assert [label for label, _, kind in found if kind == "survives"] == []
    looked_at = {label for label, _, kind in found if kind == "looked at"}
    assert looked_at == {label for _, label in proof_mutants.LOOKED_AT}


@pytest.mark.canary
def test_a_law_that_is_too_weak_is_red(monkeypatch: pytest.MonkeyPatch) -> None:
    means, theorem = proof_mutants.known(), proof_mutants.stated()["BOOK_08_product"]
    monkeypatch.setattr(proof_mutants, "points", lambda *_: [{"k": 3, "q": 2, "r": 5}])
    monkeypatch.setattr(check, "off_reading", lambda *_: [])
    left = [label for label, _, kind in proof_mutants.judged(theorem, means) if kind != "refuted"]
    assert "36: / … dropped" in left  # at q = 2 it divides by 1


def test_an_unknown_claim_is_told() -> None:
    with pytest.raises(ValueError, match="SHOW=LOSS-99: no theorem proves it; accepted: ATTN-03"):
        check.show("LOSS-99")
