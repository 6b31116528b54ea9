"""A notebook as Colab meets it: outside the repository, with only the basics installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import machine
import nbformat
import pytest
import yaml
from nbclient import NotebookClient

from verified_transformer.account import ledger
from verified_transformer.commands.notebooks.comparing import METADATA_KEY

ROOT = Path(__file__).parent.parent
NOTEBOOKS = ledger.notebooks(ROOT)
# as the first cell says; the gate other_first_cell holds that against what a notebook imports
WITH_TRANSFORMERS = [p for p in NOTEBOOKS if "verified-transformer[models]" in p.read_text("utf-8")]
# Two short ones in every run; all that need transformers in the weekly one.
ALWAYS = [
    ROOT / "notebooks/5-factorised-tables/7-the-tensor-product.ipynb",
    ROOT / "notebooks/2-tied-head/6-what-keeps-a-tie.ipynb",
]
# What Colab has of ours; what transformers needs is there too, but not transformers itself.
BASICS = (
    "pip", "torch", "numpy", "scipy", "sympy", "matplotlib", "jinja2", "ipykernel", "setuptools",
    "huggingface_hub", "safetensors", "tokenizers", "regex",
)  # fmt: skip


def closure(names: tuple[str, ...]) -> Iterator[Distribution]:
    """The installed distributions that these need, themselves included."""
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue  # needed on another platform only
        if name not in seen:
            seen.add(name)
            yield found
            wanted = [r for r in found.requires or [] if "extra ==" not in r]
            waiting += [re.match(r"[\w.-]+", r)[0] for r in wanted]


def bare(home: Path) -> Path:
    """Python of a new environment with the basics, linked from this one, and nothing else."""
    venv.create(home)
    (site,) = home.glob("lib/python*/site-packages")
    for item in closure(BASICS):
        tops = {file.parts[0] for file in item.files or [] if file.parts[0] not in ("..", ".")}
        for top in tops - {"__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(item.locate_file(top))
    return home / "bin" / "python"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Address of a git repository that holds the working tree as it is, under the version's tag."""
    target = tmp_path_factory.mktemp("repository")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(lambda n: n and (ROOT / n).is_file(), listed):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target / name)
    tag = "v" + tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org"]
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["commit", "-q", "-m", "as it is"],
        ["tag", tag],
    ):
        subprocess.run([*git, *command], cwd=target, check=True, capture_output=True)
    return f"file://{target}"


def records(book: nbformat.NotebookNode) -> list[str]:
    """The text lines of a notebook's records."""
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    return [o["data"]["text/plain"] for o in outputs if METADATA_KEY in o.get("metadata", {})]


def origins(python: Path, folder: Path) -> list[Path]:
    """Where an environment would load torch, our package and transformers from."""
    code = (
        "from importlib.util import find_spec\n"
        "for name in ('torch', 'verified_transformer', 'transformers'):\n"
        "    print(getattr(find_spec(name), 'origin', 'none'))"
    )
    run = subprocess.run(
        [python, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    return [Path(line) for line in run.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "notebook",
    [
        *ALWAYS,
        *(pytest.param(p, marks=pytest.mark.weekly) for p in WITH_TRANSFORMERS if p not in ALWAYS),
    ],
    ids=lambda path: f"{path.parent.name[0]}.{path.stem}",
)
def test_a_notebook_runs_in_a_bare_environment(
    notebook: Path, repository: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = bare(tmp_path / "env")
    url = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
    book = nbformat.read(notebook, as_version=4)
    stored = records(book)
    first = next(cell for cell in book.cells if cell.cell_type == "code")
    assert f"git+{url}@v" in first.source
    # git fetches from the working tree what the cell asks of the book's address
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{repository}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", url)
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")  # pip reads 0 as: none; setuptools is there
    for name in ("PYTHONPATH", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    spec = tmp_path / "kernels" / "bare"
    spec.mkdir(parents=True)
    command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "bare"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    resources = {"metadata": {"path": str(tmp_path)}}
    timeout = int(machine.patient(300))
    NotebookClient(book, kernel_name="bare", timeout=timeout, resources=resources).execute()
    assert records(book) == stored
    torch_file, package_file, transformers_file = origins(python, tmp_path)
    assert torch_file.resolve().is_relative_to(Path(sys.prefix).resolve()), "torch was replaced"
    assert python.parent.parent in package_file.parents, "not installed from the repository"
    assert (transformers_file != Path("none")) == (notebook in WITH_TRANSFORMERS)
