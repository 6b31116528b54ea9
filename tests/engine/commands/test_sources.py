"""Quotations are looked up in the releases that have them, and again once they change."""

from __future__ import annotations

import json
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from verifiedbook.account.citations import Citation, stands_in
from verifiedbook.commands import sources as module
from verifiedbook.commands.sources import (
    _texts,
    archived,
    hash_of_quotation,
    sources,
    unlooked,
)
from verifiedbook.commands.status import path

ROOT = Path(__file__).parents[3]
ONE = Citation("a-source", "supports", "f", "scores = q k", archive="a==1.0 a/b.py")


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "archived", lambda: iter([("LOSS-14 a-source", ONE)]))
    texts = {"a/b.py": "# so\nscores = q\n  k"}
    monkeypatch.setattr(module, "fetched", lambda _, files: {f: texts[f] for f in files})


def test_every_quotation_with_an_archive_has_been_looked_up_as_it_stands() -> None:
    assert unlooked(ROOT) == []
    assert len(list(archived())) >= 14


def test_what_is_found_is_kept(release: None, tmp_path: Path) -> None:
    assert unlooked(tmp_path) and sources(tmp_path) == 0 and not unlooked(tmp_path)
    kept = json.loads(path(tmp_path, "sources").read_text(encoding="utf-8"))["found"]
    assert kept == {hash_of_quotation("LOSS-14 a-source", ONE): "LOSS-14 a-source in a==1.0 a/b.py"}


@pytest.mark.canary
@pytest.mark.parametrize(
    "change",
    [{"quote": "scores = q"}, {"around": "scores = q k now"}, {"archive": "a==1.1 a/b.py"}],
)
def test_a_quotation_that_changes_is_red_until_it_is_looked_up(
    release: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, str]
) -> None:
    assert sources(tmp_path) == 0
    other = replace(ONE, **change)
    monkeypatch.setattr(module, "archived", lambda: iter([("LOSS-14 a-source", other)]))
    assert "make sources" in unlooked(tmp_path)[0]


@pytest.mark.canary
def test_words_that_the_release_has_not_are_not_found(
    release: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(ONE, quote="scores = q - k")
    monkeypatch.setattr(module, "archived", lambda: iter([("LOSS-14 a-source", other)]))
    assert sources(tmp_path) == 1 and unlooked(tmp_path)


def test_wheels_and_archives_are_read(tmp_path: Path) -> None:
    file = tmp_path / "b.py"
    file.write_text("多国语言\n    版", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "a-1.0-py3-none-any.whl", "w") as wheel:
        wheel.write(file, "a/b.py")
    with tarfile.open(tmp_path / "a-1.0.tar.gz", "w:gz") as archive:
        archive.add(file, "a-1.0/a/b.py")
    for name in ("a-1.0-py3-none-any.whl", "a-1.0.tar.gz"):
        ((where, text),) = _texts(tmp_path / name)
        assert where == "a/b.py" and stands_in("多国语言版", text)
