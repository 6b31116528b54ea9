"""What is kept is written whole or not at all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from verifiedbook.writing import write_whole

ROOT = Path(__file__).parents[2]
CALL = re.compile(r"write_text\(|nbformat\.write\(")
IN_PLACE = {  # into the build
    f"packages/verifiedbook/src/verifiedbook/{name}.py"
    for name in ("commands/printing", "sphinx/__init__", "sphinx/formulas/__init__")
}


def test_a_text_takes_a_files_place(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    for text in ("σ\n", "other\n"):
        write_whole(path, text)
        assert path.read_bytes() == text.encode()
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.canary
def test_a_text_that_cannot_be_written_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    write_whole(path, "before")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "half of it \ud800")
    assert path.read_text(encoding="utf-8") == "before"
    assert [*tmp_path.iterdir()] == [path]


def test_every_command_and_benchmark_writes_so() -> None:
    folders = ("src", *ROOT.glob("packages/*/src"), "bench")
    files = (p for folder in folders for p in (ROOT / folder).rglob("*.py"))
    found = {p for p in files if CALL.search(p.read_text(encoding="utf-8"))}
    assert {p.relative_to(ROOT).as_posix() for p in found} == IN_PLACE
