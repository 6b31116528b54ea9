"""What a practitioner installs, and loads: torch, and no SymPy; and the package's own, neither."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from verified_transformer.engine.commands.notebooks import colab

SOURCE = Path(__file__).parents[2] / "src"
USE = """
import torch
import verified_transformer.models as models

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
from verified_transformer.models.first_loss import first_loss
first_loss(torch.randn(2, 6), models.DrawnVocabulary(12, 6, σ=1.0, seed=0))
models.expected_first_loss(12, 6, σ=0.5)
"""
GROW = """
import transformers

config = transformers.GPT2Config(n_embd=8, n_head=2, n_layer=1, vocab_size=16, n_positions=8)
models.grow(transformers.GPT2LMHeadModel(config), 2)
"""


def uncovered(pyproject: str) -> set[str]:
    """What the models wing imports, its own imports included, and its extra does not install."""
    project = tomllib.loads(pyproject)["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["models"]
    names = {re.split(r"[\s\[<>=!~;]", line)[0].replace("-", "_") for line in wanted}
    files = (SOURCE / "verified_transformer" / "models").rglob("*.py")
    modules = [".".join(f.relative_to(SOURCE).with_suffix("").parts) for f in files]
    return colab.third_parties(modules) - names - sys.stdlib_module_names


def test_the_extra_installs_all_that_the_models_wing_imports() -> None:
    assert uncovered((SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8")) == set()


@pytest.mark.canary
def test_an_extra_without_torch_is_found() -> None:
    text = (SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert '"torch>=2.8", ' in text
    assert uncovered(text.replace('"torch>=2.8", ', "")) == {"torch"}


SAY = "import json, sys; print(json.dumps(sorted({'torch', 'sympy'} & set(sys.modules))))"


def loaded(*codes: str) -> list[set[str]]:
    """Which of torch and SymPy one interpreter has loaded after each of some pieces of code."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "\n".join(f"{code}\n{SAY}" for code in codes)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, check=True,
    )  # fmt: skip
    return [set(json.loads(line)) for line in done.stdout.splitlines()]


def test_neither_torch_nor_sympy_is_loaded_until_it_is_used_and_to_derive_no_torch() -> None:
    found = loaded(
        "import verified_transformer; dir(verified_transformer)",
        "import verified_transformer.models as models; dir(models)",
        "from verified_transformer import claim, derive, symbols",
    )
    assert found == [set(), set(), {"sympy"}]


DERIVE = """
import sys
for absent in ("torch", "numpy", "scipy", "matplotlib", "IPython"):
    sys.modules[absent] = None
from verified_transformer.engine.commands.notebooks import in_page

shown = in_page.run_cell([], '''
from sympy import exp, integrate, oo, pi, sqrt
from verified_transformer import claim, derive, symbols
d, x, σ = symbols("d x sigma")
@derive(claim("LOSS-14"), wrong=exp(-abs(x) / σ) / (2 * σ))
def variance_of_squared_length(density=exp(-(x**2) / (2 * σ**2)) / (σ * sqrt(2 * pi))):
    E = lambda f: integrate(f * density, (x, -oo, oo))
    square, fourth = E(x**2), E(x**4)
    return d * fourth + d * (d - 1) * square**2 - (d * square) ** 2
''')
assert not shown.failed, shown.failed
assert "wrong objects" in shown.bundles[-1]["text/plain"]
for absent in ("torch", "numpy", "scipy", "matplotlib"):
    del sys.modules[absent]
"""


@pytest.mark.slow
def test_a_derivation_needs_sympy_alone() -> None:
    assert loaded(DERIVE) == [{"sympy"}]


@pytest.mark.slow
def test_tables_counts_and_first_losses_load_no_sympy_and_growth_nothing_of_the_engine() -> None:
    """transformers itself may load SymPy, through torch: what is ours stays unloaded."""
    ours = "import sys; assert not any('transformer.engine' in name for name in sys.modules)"
    assert loaded(USE, f"{GROW}\n{ours}")[0] == {"torch"}


@pytest.mark.slow
@pytest.mark.canary
def test_a_wing_that_loads_sympy_is_seen() -> None:
    assert loaded("from verified_transformer import Normal") == [{"sympy"}]
