"""What is installed, and loaded: all that is imported; torch when it is used; no SymPy."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
USE = """
import torch
import weightwise as models

table = models.LowRankEmbedding(12, 6, 2)
others = [
    models.TensorProductEmbedding(12, (2, 3)),
    models.KroneckerEmbedding((3, 4), (2, 3), 2),
    models.TensorTrainEmbedding((3, 4), (2, 3), 2),
    models.TensorTrainEmbedding.from_dense(torch.randn(12, 6), (3, 4), (2, 3), 2).module,
]
with torch.no_grad(), models.Count() as count:  # to keep gradients, torch loads its compiler
    for each in (table, *others):
        each.attend(each(torch.tensor([1, 2])))
from weightwise.first_loss import first_loss
first_loss(torch.randn(2, 6), models.DrawnVocabulary(12, 6, σ=1.0, seed=0))
models.expected_first_loss(12, 6, σ=0.5)
"""
GROW = """
import transformers

config = transformers.GPT2Config(n_embd=8, n_head=2, n_layer=1, vocab_size=16, n_positions=8)
models.grow(transformers.GPT2LMHeadModel(config), 2)
"""


def uncovered(pyproject: str) -> set[str]:
    """What the package imports and does not install."""
    project = tomllib.loads(pyproject)["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["models"]]
    names = {re.split(r"[\s\[<>=!~;]", line)[0].replace("-", "_") for line in wanted}
    nodes = [
        node for file in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    ]  # fmt: skip
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    found |= {n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.module and not n.level}
    tops = {name.partition(".")[0] for name in found} - {"weightwise"}
    return tops - names - sys.stdlib_module_names


def test_all_that_is_imported_is_installed() -> None:
    assert uncovered((ROOT / "pyproject.toml").read_text(encoding="utf-8")) == set()


@pytest.mark.canary
def test_dependencies_without_torch_are_found() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '"torch>=2.8", ' in text
    assert uncovered(text.replace('"torch>=2.8", ', "")) == {"torch"}


SAY = "import json, sys; print(json.dumps(sorted({'torch', 'sympy'} & set(sys.modules))))"


def loaded(*codes: str) -> list[set[str]]:
    """Which of torch and SymPy one interpreter has loaded after each of some pieces of code."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "\n".join(f"{code}\n{SAY}" for code in codes)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, capture_output=True, check=True,
    )  # fmt: skip
    return [set(json.loads(line)) for line in done.stdout.splitlines()]


def test_nothing_is_loaded_until_it_is_used() -> None:
    assert loaded("import weightwise; dir(weightwise)") == [set()]


@pytest.mark.slow
def test_tables_counts_and_first_losses_load_no_sympy_and_it_stands_alone() -> None:
    """transformers itself may load SymPy, through torch."""
    assert loaded(USE, GROW)[0] == {"torch"}
