"""What a reader of this book installs and loads: neither torch nor SymPy until it is used."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from verifiedbook.commands.notebooks import colab

ROOT = Path(__file__).parents[2]
SOURCES = (
    ROOT / "src", ROOT / "packages/weightwise/src", ROOT / "packages/verifiedbook/src",
    ROOT / "experiments",
)  # fmt: skip


def uncovered(pyproject: str) -> set[str]:
    """What `weightwise` imports, its own imports included, and the extra does not install."""
    project = tomllib.loads(pyproject)["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["models"]
    names = {re.split(r"[\s\[<>=!~;]", line)[0].replace("-", "_") for line in wanted}
    source = SOURCES[1]
    files = (source / "weightwise").rglob("*.py")
    modules = [".".join(f.relative_to(source).with_suffix("").parts) for f in files]
    return colab.third_parties(modules) - names - sys.stdlib_module_names


def test_the_extra_installs_all_that_weightwise_imports() -> None:
    assert uncovered((ROOT / "pyproject.toml").read_text(encoding="utf-8")) == set()


@pytest.mark.canary
def test_an_extra_without_torch_is_found() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '"torch>=2.8", ' in text
    assert uncovered(text.replace('"torch>=2.8", ', "")) == {"torch"}


SAY = "import json, sys; print(json.dumps(sorted({'torch', 'sympy'} & set(sys.modules))))"


def loaded(*codes: str) -> list[set[str]]:
    """Which of torch and SymPy one interpreter has loaded after each of some pieces of code."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "\n".join(f"{code}\n{SAY}" for code in codes)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, SOURCES))},
        capture_output=True, check=True,
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
from verifiedbook.commands.notebooks import in_page

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
def test_growth_loads_nothing_of_the_engine() -> None:
    ours = "import sys; named = [n for n in sys.modules if n.startswith('verifiedbook.')]"
    ours += "; assert named == ['verifiedbook.serving'], named"
    assert loaded(f"from verified_transformer.models import grow\n{ours}")[0] >= {"torch"}


@pytest.mark.slow
@pytest.mark.canary
def test_a_wing_that_loads_sympy_is_seen() -> None:
    assert loaded("from verified_transformer import Normal") == [{"sympy"}]
