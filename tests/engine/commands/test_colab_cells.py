"""Which extras notebooks install, on the branch that Colab opens: all that they import."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from verifiedbook.account import ledger
from verifiedbook.commands.notebooks import colab

ROOT = Path(__file__).parents[3]
# What Colab has, or the package brings along.
THERE = {
    "IPython", "jinja2", "lazy_loader", "markupsafe", "matplotlib", "mpmath", "numpy", "scipy",
    "sympy", "torch", "yaml", *sys.stdlib_module_names,
}  # fmt: skip


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("import transformers as tf", ["models"]),
        ("    \nfrom transformers.models import auto".strip(), ["models"]),
        ("import safetensors.torch", ["models"]),
        ("from weightwise import grow", ["models"]),
        ("from verified_transformer.book import transformers", ["models"]),
        ("from flint import arb\nimport transformers", ["balls", "models"]),
        ("from verified_transformer.book import figure", []),
        ("from verified_transformer import claim, symbols", []),
        ("from verifiedbook.account.recordings import load", []),
        ("# import transformers\n%time 1", []),
    ],
)
def test_extras_are_found_through_the_imports(source: str, needed: list[str]) -> None:
    assert colab.extras(of(source)) == needed


def of(source: str) -> dict[str, Any]:
    """A notebook with a cell."""
    return {"cells": [{"cell_type": "code", "source": s} for s in ("import torch", source)]}


def missing(book: dict[str, Any]) -> set[str]:
    """What a notebook reaches, and Colab has not after its first line."""
    brought = set().union(*map(colab.EXTRAS.get, colab.extras(book)))
    return colab.third_parties(colab.imports(book)) - brought - THERE


def test_each_notebook_installs_all_that_it_imports_and_some_no_models() -> None:
    books = [json.loads(path.read_text(encoding="utf-8")) for path in ledger.notebooks(ROOT)]
    assert [missing(book) for book in books] == [set()] * len(books)
    assert 10 <= sum("models" in colab.extras(book) for book in books) < len(books)


@pytest.mark.canary
def test_an_import_that_no_extra_brings_is_found() -> None:
    assert missing(of("import pandas")) == {"pandas"}
