"""The package stands alone: its README runs, and it installs what it imports."""

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
README = ROOT / "README.md"
BOOK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def uncovered(pyproject: str) -> set[str]:
    """What the package imports and neither it nor an extra installs."""
    project = tomllib.loads(pyproject)["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(line for extra in extras for line in extra)]
    names = {re.split(r"[\s\[<>=!~;]", line)[0].replace("-", "_").lower() for line in wanted}
    found = set[str]()
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module)
    tops = {
        {"yaml": "pyyaml", "fontTools": "fonttools", "flint": "python_flint"}.get(n, n)
        for n in (name.partition(".")[0] for name in found)
    }
    return tops - names - BROUGHT - sys.stdlib_module_names - {"verifiedbook"}


# by those that are named: SymPy mpmath, ipykernel IPython and the client, jupyter-book the rest
BROUGHT = {
    "mpmath", "IPython", "jupyter_client", "markdown_it", "mdit_py_plugins", "docutils", "sphinx",
    "markupsafe", "bs4", "playwright", "pypdf", "pydata_sphinx_theme",
}  # fmt: skip


def test_all_that_is_imported_is_installed() -> None:
    assert uncovered((ROOT / "pyproject.toml").read_text(encoding="utf-8")) == set()


@pytest.mark.canary
def test_dependencies_without_sympy_are_found() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '"sympy>=1.14", ' in text
    assert uncovered(text.replace('"sympy>=1.14", ', "")) == {"sympy"}


def test_the_book_of_the_readme_decides_its_claim(tmp_path: Path) -> None:
    """From an empty folder, with what the README shows and nothing else."""
    shown = dict(BOOK.findall(README.read_text(encoding="utf-8")))
    (tmp_path / "claims").mkdir()
    (tmp_path / "pyproject.toml").write_text(shown["toml"], encoding="utf-8")
    (tmp_path / "claims/lengths.yaml").write_text(shown["yaml"], encoding="utf-8")
    code = f"import doctest; print(doctest.testfile({str(README)!r}, False, encoding='utf-8'))"
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, encoding="utf-8", check=True,
    )  # fmt: skip
    assert "failed=0, attempted=8" in run.stdout, run.stdout


def test_nothing_is_loaded_until_it_is_used_and_where_there_is_no_book_it_says_so(
    tmp_path: Path,
) -> None:
    code = """if True:
        import json, sys, verifiedbook
        loaded = sorted({'torch', 'sympy', 'matplotlib'} & set(sys.modules))
        try:
            verifiedbook.claim("LEN-01")
        except ValueError as error:
            print(json.dumps([loaded, str(error)]))
    """
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, encoding="utf-8",
    )  # fmt: skip
    loaded, said = json.loads(run.stdout)
    assert loaded == [] and "[tool.verifiedbook]" in said and str(tmp_path) in said
