"""A notebook as Colab meets it: outside the repository, with only the basics installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import nbformat
import pytest
import yaml
from nbclient import NotebookClient

from verified_transformer.account.ledger import METADATA_KEY

ROOT = Path(__file__).parent.parent
NOTEBOOK = ROOT / "notebooks/1-initialisation/3-activations-and-selu.ipynb"
BASICS = ("torch", "numpy", "sympy", "matplotlib", "ipykernel", "setuptools")


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


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of an environment with the basics, linked from this one, and nothing else."""
    home = tmp_path_factory.mktemp("colab") / "env"
    venv.create(home, with_pip=True)
    (site,) = home.glob("lib/python*/site-packages")
    for item in closure(BASICS):
        tops = {file.parts[0] for file in item.files or [] if file.parts[0] not in ("..", ".")}
        for top in tops - {"__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(item.locate_file(top))
    return home / "bin" / "python"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> str:
    """URL of a git repository that holds the working tree as it is."""
    target = tmp_path_factory.mktemp("repository")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(lambda n: n and (ROOT / n).is_file(), listed):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target / name)
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "as it is"]):
        subprocess.run([*git, *command], cwd=target, check=True, capture_output=True)
    return f"file://{target}"


def records(book: nbformat.NotebookNode) -> list[str]:
    """The text lines of a notebook's records."""
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    return [o["data"]["text/plain"] for o in outputs if METADATA_KEY in o.get("metadata", {})]


def test_a_notebook_runs_in_a_bare_environment(
    bare: Path, repository: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
    book = nbformat.read(NOTEBOOK, as_version=4)
    stored = records(book)
    first = next(cell for cell in book.cells if cell.cell_type == "code")
    assert url in first.source
    first.source = first.source.replace(url, repository)
    for name in ("PYTHONPATH", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    spec = tmp_path / "kernels" / "bare"
    spec.mkdir(parents=True)
    command = [str(bare), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "bare"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(book, kernel_name="bare", timeout=300, resources=resources).execute()
    assert records(book) == stored
    where = "import torch, verified_transformer as v; print(torch.__file__, v.__file__)"
    run = subprocess.run(
        [bare, "-c", where], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    torch_file, package_file = (Path(part) for part in run.stdout.split())
    assert torch_file.resolve().is_relative_to(Path(sys.prefix).resolve()), "torch was replaced"
    assert bare.parent.parent in package_file.parents, "not installed from the repository"
