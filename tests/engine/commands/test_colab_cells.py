"""Which notebooks install the extra with transformers, on the branch that Colab opens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from verifiedbook.account import ledger
from verifiedbook.commands.notebooks import colab

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("import transformers as tf", True),
        ("    \nfrom transformers.models import auto".strip(), True),
        ("import safetensors.torch", True),
        ("from weightwise import grow", True),
        ("from verified_transformer.book import transformers", True),
        ("from verified_transformer.book import figure", False),
        ("from verified_transformer import claim, symbols", False),
        ("from verifiedbook.account.recordings import load", False),
        ("# import transformers\n%time 1", False),
    ],
)
def test_transformers_is_found_through_the_imports(source: str, needed: bool) -> None:
    cells = [{"cell_type": "code", "source": text} for text in ("import torch", source)]
    assert colab.needs_transformers({"cells": cells}) is needed


def test_some_notebooks_of_the_book_need_it_and_some_do_not() -> None:
    books = [json.loads(path.read_text(encoding="utf-8")) for path in ledger.notebooks(ROOT)]
    assert 10 <= sum(map(colab.needs_transformers, books)) < len(books)
