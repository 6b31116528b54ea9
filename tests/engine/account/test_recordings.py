"""Recorded experiments: stale when what made them changes, and only then; shown as recorded."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from verified_transformer import claim
from verifiedbook.account import recordings, registry
from verifiedbook.account.code.modules import ENGINE
from verifiedbook.account.hashing import hash_of
from verifiedbook.account.records.notebook_records import Found, outdated
from verifiedbook.account.records.record import Record, Recorded
from verifiedbook.serving import served

ROOT = Path(__file__).parents[3]
STORED = sorted(served().recordings.glob("*.json"))
SOURCE = "from .laws import spread\n\n\ndef run():\n    return spread(2)\n"
LAW = "def spread(x):\n    return 2 * x\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with an experiment ``sample``."""
    made = tmp_path / "library"
    made.mkdir()
    (made / "sample.py").write_text(SOURCE, encoding="utf-8")
    (made / "laws.py").write_text(LAW, encoding="utf-8")
    return made


@pytest.fixture
def folder(package: Path) -> Path:
    """A recording of it."""
    made = recordings.code("sample", package)
    kept = {
        "provenance": {
            "code": {"key": made.key, "definitions": made.definitions},
            "seeds": {"of all": [0, 1, 2]},
        },
        "fingerprint": 4,
        "parts": {"it": [1.0, 2.0, 3.0]},
    }  # fmt: skip
    (package / "sample.json").write_text(json.dumps(kept), encoding="utf-8")
    recordings.code.cache_clear()
    return package


def fault(folder: Path, data: str = "") -> str | None:
    shown = data or hash_of({"it": [1.0, 2.0, 3.0]})
    recordings.code.cache_clear()
    return recordings.why_stale("sample", shown, folder, folder)


def test_a_recording_that_stands_has_no_fault(folder: Path) -> None:
    assert recordings.load("sample", folder).parts == {"it": [1.0, 2.0, 3.0]}
    assert fault(folder) is None


@pytest.mark.canary
def test_a_changed_part_is_a_fault(folder: Path) -> None:
    path = folder / "sample.json"
    path.write_text(path.read_text("utf-8").replace("1.0", "1.5"), encoding="utf-8")
    assert fault(folder) == (
        "recording sample has other parts than the notebook showed; run it again"
    )


def test_provenance_does_not_move_the_hash_of_the_parts(folder: Path) -> None:
    before = recordings.load("sample", folder).hash
    kept = json.loads((folder / "sample.json").read_text("utf-8"))
    kept["provenance"]["keyed anew"] = "today"
    (folder / "sample.json").write_text(json.dumps(kept), encoding="utf-8")
    assert recordings.load("sample", folder).hash == before


@pytest.mark.canary
@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("laws.py", "2 * x", "3 * x", "changed since: laws.py: spread"),
        (
            "sample.py",
            "(2)",
            "(3)",
            "changed since: sample.py: run",
        ),
        ("laws.py", "spread", "width", "sample.py: asks laws.py for spread"),
        ("sample.py", "run", "other", "sample.py: has no run"),
    ],
)
def test_changed_code_is_a_fault_that_names_what_changed(
    folder: Path, file: str, old: str, new: str, says: str
) -> None:
    path = folder / file
    path.write_text(path.read_text("utf-8").replace(old, new), encoding="utf-8")
    assert says in (fault(folder) or "")
    assert (fault(folder) or "").startswith("recording sample is stale: ")


@pytest.mark.canary
def test_a_module_that_is_gone_is_a_fault_and_no_traceback(folder: Path) -> None:
    (folder / "sample.py").unlink()
    assert fault(folder) == "recording sample is stale: no module sample.py"


@pytest.mark.canary
def test_a_source_that_cannot_be_read_is_a_fault(folder: Path) -> None:
    (folder / "laws.py").write_text("def spread(:\n", encoding="utf-8")
    assert "laws.py: line 1: invalid syntax" in (fault(folder) or "")


@pytest.mark.canary
def test_a_missing_recording_is_a_fault(folder: Path) -> None:
    assert "no recording 'other'; accepted: sample" in recordings.why_stale("other", "0", folder)


@pytest.mark.canary
@pytest.mark.parametrize("text", ["[]", "{", '{"parts": 1}'])
def test_a_file_that_is_no_recording_is_a_fault(folder: Path, text: str) -> None:
    (folder / "sample.json").write_text(text, encoding="utf-8")
    assert (fault(folder) or "").startswith("recording sample: cannot be read")


def test_a_record_says_that_it_is_recorded(folder: Path) -> None:
    kept: Any = recordings.load("sample", folder)
    made = claim("RES-09").experiment(
        arms={"it": kept.parts["it"], "nothing": 0}, compares=("it", "nothing"),
        predicts="positive", unit="an effect", recorded=kept,
    )  # fmt: skip
    assert made.recorded == Recorded("sample", kept.hash)
    assert f"recorded: sample   #{kept.hash}" in repr(made)


@pytest.mark.canary
def test_the_ledger_finds_a_stale_recording() -> None:
    statements = registry.load()[1]
    record = Record(
        ("LOSS-48",), (statements["LOSS-48"].hash,), "experiment", "unsettled", "", "",
        recorded=Recorded("no such", "0"),
    )  # fmt: skip
    item = Found(record, "", "a.ipynb", 0)
    assert outdated(item)[0].startswith("a.ipynb: name: no recording 'no such'")


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_every_stored_recording_stands_and_says_where_it_is_from(path: Path) -> None:
    kept = recordings.load(path.stem)
    assert recordings.why_stale(path.stem, kept.hash) is None
    wanted = {*"command date commit device seeds versions code processor threads".split()}
    assert wanted | {"CPU seconds"} <= set(kept.provenance)


def key_at(commit: str, name: str, folder: Path) -> str:
    """The key of an experiment's code as a commit of the repository has it."""
    there = subprocess.run(
        ["git", "ls-tree", "--name-only", commit, "src", "experiments", "packages"],
        cwd=ROOT,
        capture_output=True,
    )
    found = subprocess.run(
        ["git", "archive", commit, *there.stdout.decode().split()], cwd=ROOT, capture_output=True
    )
    if found.returncode:
        return found.stderr.decode()
    tarfile.open(fileobj=io.BytesIO(found.stdout)).extractall(folder, filter="data")
    runs = folder / "experiments/long_runs"
    package = runs if runs.is_dir() else folder / "src/verified_transformer"  # where they were
    return recordings.code(name, package, *folder.glob("packages/*/src")).key


def coded_at(provenance: dict[str, Any]) -> str:
    """The commit whose code a recording is keyed by: where it ran, or was keyed anew."""
    keyed: list[str] = provenance.get("keyed anew", "").split()
    return keyed[1].strip(",") if keyed else provenance["commit"]


@pytest.mark.nightly
@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_the_commit_that_a_recording_names_has_its_code(path: Path, tmp_path: Path) -> None:
    made = recordings.load(path.stem).provenance
    assert key_at(coded_at(made), path.stem, tmp_path) == made["code"]["key"]


@pytest.mark.nightly
@pytest.mark.canary
def test_a_commit_of_other_code_or_none_is_found(tmp_path: Path) -> None:
    made = recordings.load("transfer").provenance
    assert made["code"]["key"] != key_at(coded_at(made), "divided_logits", tmp_path)
    assert "not a tree object" in key_at("0" * 40, "transfer", tmp_path)


@pytest.mark.slow
def test_the_seeds_of_the_book_count_for_every_experiment() -> None:
    for name in recordings.experiments():
        assert "verifiedbook/seeds.py: seed_of" in recordings.code(name).definitions, name


TYPED_IN = [  # answers put into the root of the engine, which the book's experiments reach
    ("seeds.py", '"big"', '"little"'),
    ("sampling/zipf_markov.py", "torch.rand(count, 1", "torch.zeros(count, 1"),
    ("sampling/zipf_markov.py", "strength * u", "u"),
    ("account/parts.py", "else make()", "else 0.0"),
    ("__init__.py", "__sealed__ = True", "import verifiedbook.seeds\n__sealed__ = True\n"
     "verifiedbook.seeds.seed_of.__code__ = (lambda name: 0).__code__"),
]  # fmt: skip


@pytest.mark.canary
@pytest.mark.parametrize(("file", "old", "new"), TYPED_IN)
def test_an_answer_typed_into_the_engine_moves_the_key_of_an_experiment(
    file: str, old: str, new: str, tmp_path: Path
) -> None:
    root, runs = tmp_path / ENGINE.name, served().recordings.parent
    beside = tmp_path, ROOT / "packages/weightwise/src"
    shutil.copytree(ENGINE, root, ignore=shutil.ignore_patterns("__pycache__", "sphinx"))
    assert recordings.code("remedies_on_text", runs, *beside).key == (
        recordings.code("remedies_on_text").key
    )
    recordings.code.cache_clear()
    text = (root / file).read_text(encoding="utf-8")
    assert old in text
    (root / file).write_text(text.replace(old, new), encoding="utf-8")
    assert recordings.code("remedies_on_text", runs, *beside).key != (
        recordings.code("remedies_on_text").key
    )
