"""Recorded experiments: stale when their code changes, and only then; shown as recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from verified_transformer import claim
from verified_transformer.account import ledger, registry
from verified_transformer.account import stored_runs as recording
from verified_transformer.account.records import Record, Recorded
from verified_transformer.seeds import seed_of

ROOT = Path(__file__).parents[2]
CODE = '"""Text."""\n\n\ndef f(x: int) -> int:\n    """Double."""\n    return 2 * x  # twice\n'


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "f.py").write_text(CODE, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Text.", "Other."),
        ("# twice", "# two times"),
        ("2 * x", "(2 *\n        x)"),
        ("Double", "D"),
    ],
)
def test_layout_and_words_do_not_change_the_hash(package: Path, old: str, new: str) -> None:
    before = recording.code_hash(("f.py",), package)
    (package / "f.py").write_text(CODE.replace(old, new), encoding="utf-8")
    assert recording.code_hash(("f.py",), package) == before


@pytest.mark.canary
@pytest.mark.parametrize(
    ("old", "new"), [("2 * x", "3 * x"), ("x: int", "x: float"), ("* x", "+ x")]
)
def test_meaning_changes_the_hash(package: Path, old: str, new: str) -> None:
    before = recording.code_hash(("f.py",), package)
    (package / "f.py").write_text(CODE.replace(old, new), encoding="utf-8")
    assert recording.code_hash(("f.py",), package) != before


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = ["models/heads.py"]
    kept = {
        "provenance": {"code": {"files": files, "hash": recording.code_hash(tuple(files))}},
        "result": [1.0, 2.0, 3.0],
    }
    (tmp_path / "sample.json").write_text(json.dumps(kept), encoding="utf-8")
    return tmp_path


def test_a_recording_that_stands_has_no_fault(folder: Path) -> None:
    kept = recording.load("sample", folder)
    assert kept.result == [1.0, 2.0, 3.0]
    assert recording.fault("sample", kept.data_hash, folder) is None


def changed_code(kept: dict[str, Any]) -> None:
    kept["provenance"]["code"]["hash"] = "00000000"


def changed_result(kept: dict[str, Any]) -> None:
    kept["result"][0] = 1.5


@pytest.mark.canary
@pytest.mark.parametrize(
    ("change", "says"),
    [(changed_code, "is stale: models/heads.py"), (changed_result, "has other data")],
)
def test_a_changed_recording_is_a_fault(folder: Path, change: Any, says: str) -> None:
    kept = json.loads((folder / "sample.json").read_text(encoding="utf-8"))
    shown = recording.data_hash(kept)
    change(kept)
    (folder / "sample.json").write_text(json.dumps(kept), encoding="utf-8")
    if change is changed_code:
        shown = recording.data_hash(kept)
    assert says in recording.fault("sample", shown, folder)


@pytest.mark.canary
def test_a_missing_recording_is_a_fault(folder: Path) -> None:
    assert "no recording 'other'; accepted: sample" in recording.fault("other", "0", folder)


def test_a_record_says_that_it_is_recorded(folder: Path) -> None:
    kept = recording.load("sample", folder)
    made = claim("RES-09").experiment(
        dict(enumerate(kept.result)), predicts="positive", unit="an effect", recorded=kept
    )
    assert made.recorded == Recorded("sample", kept.data_hash)
    assert f"recorded: sample   #{kept.data_hash}" in repr(made)


@pytest.mark.canary
def test_the_ledger_finds_a_stale_recording() -> None:
    statements = registry.load()[1]
    record = Record(
        ("LOSS-48",), (statements["LOSS-48"].fingerprint,), "experiment", "unsettled", "", "",
        recorded=Recorded("no such", "0"),
    )  # fmt: skip
    item = ledger.Found(record, "", "a.ipynb", 0)
    assert ledger.stale(item, statements)[0].startswith("a.ipynb: name: no recording 'no such'")


@pytest.mark.parametrize("path", sorted((recording.PACKAGE / "recordings").glob("*.json")))
def test_every_stored_recording_stands_and_says_where_it_is_from(path: Path) -> None:
    kept = recording.load(path.stem)
    assert recording.fault(path.stem, kept.data_hash) is None
    wanted = {"command", "date", "commit", "device", "seeds", "versions", "CPU seconds", "code"}
    assert wanted <= set(kept.provenance)


def test_seeds_of_the_recorded_runs_are_what_they_were() -> None:
    """A recording's hash does not cover `seed_of`, which every seed in the book comes from."""
    assert seed_of("tied convergence weights 2") == 33281685827924902
