"""What stopped the author of a second book: each mistake is answered with what is accepted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from verifiedbook import parse, symbols
from verifiedbook.account.registry import Article, RegistryError, Statement, load
from verifiedbook.exact.definitions import thing
from verifiedbook.serving import NoBook, _found, _served, serve, served

Registry = tuple[dict[str, Article], dict[str, Statement]]
CLAIMS = """\
article: {{key: one, title: One, title_en: One, author: null, date: {date}, url: null}}
claims:
- id: ONE-01
  where: section 1
  kind: equation
  says: Two is the half of four.
  reading: {{text: A number., formula: m, {more}}}
"""


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Callable[..., None]]:
    """Serve a book whose table says this; that of before is served again after the test."""
    before = served()

    def says(**said: object) -> None:
        _served.clear()
        _found(tmp_path, said)

    yield says
    serve(before)


@pytest.fixture
def read(book: Callable[..., None], tmp_path: Path) -> Callable[..., Registry]:
    """Read a claims file of one claim, with these parts in it."""

    def read(date: str = "null", more: str = "setting: none") -> Registry:
        (tmp_path / "one.yaml").write_text(CLAIMS.format(date=date, more=more), encoding="utf-8")
        book(claims=".")
        return load(tmp_path)

    return read


def test_a_date_without_quotes_is_text(read: Callable[..., Registry]) -> None:
    assert read(date="2015-02-06")[0]["one"].date == "2015-02-06"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("condition: It is even.", r"'It is even.' .*mapping.*accepted: .*'met_by'.*'text'"),
        ("truth: It is two.", r"'It is two.' .*mapping.*accepted: \['formula', 'open', 'text'\]"),
        (
            "truth: {text: Two., formula: 2*m}, erratum: {grade: misprint, order: 1, "
            "headline: No., of: it, at: m is 2}",
            r"erratum: at is 'm is 2'; accepted: a mapping such as \{n: 512\}",
        ),
    ],
)
def test_words_where_a_mapping_stands(read: Callable[..., Registry], more: str, said: str) -> None:
    with pytest.raises(RegistryError, match=f"one.yaml: ONE-01: {said}"):
        read(more=more)


def test_a_discrete_law_of_a_reading_takes_lists() -> None:
    listed = thing("s", "Tensor(Discrete([0, 1], [1/2, 1/2]), n)")
    assert str(listed.law) == str(thing("s", "Tensor(Discrete((0, 1), (1/2, 1/2)), n)").law)


def test_a_book_adds_symbols(book: Callable[..., None]) -> None:
    with pytest.raises(ValueError, match=r"'L' is not .* symbols = \{L = \"size\"\}"):
        symbols("L")
    book(claims="claims", symbols={"L": "size"})
    assert symbols("L").is_integer
    assert parse("2*L").subs(symbols("L"), 3) == 6


def test_a_symbol_of_no_kind_is_refused(book: Callable[..., None]) -> None:
    with pytest.raises(NoBook, match=r"'L': 'whole'.*accepted: .*size, positive, real"):
        book(claims="claims", symbols={"L": "whole"})


def test_a_package_that_is_not_installed_is_named(book: Callable[..., None]) -> None:
    with pytest.raises(NoBook, match=r"package 'no_such_book'.*accepted: .* installed"):
        book(package="no_such_book")


@pytest.mark.parametrize(
    ("folder", "place"), [("", "notebooks/a.ipynb"), ("books/one", "books/one/notebooks/a.ipynb")]
)
def test_colab_opens_a_book_in_a_folder(folder: str, place: str) -> None:
    claims = pytest.importorskip("verifiedbook.sphinx.claims")
    options = {
        "repository_url": "https://github.com/one/books",
        "path_to_docs": folder,
        "launch_buttons": {"colab_url": "https://colab.example"},
    }
    config = SimpleNamespace(html_theme_options=options)
    found = claims.colab_address(config, "notebooks/a.ipynb")
    assert found == f"https://colab.example/github/one/books/blob/main/{place}"


@pytest.mark.slow
def test_the_help_needs_no_book(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "verifiedbook", "--help"],
        cwd=tmp_path, capture_output=True, text=True, check=True, encoding="utf-8",
    )  # fmt: skip
    assert "refresh" in run.stdout
    assert "no pyproject.toml" in " ".join(run.stdout.split())
