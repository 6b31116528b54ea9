"""A small book with the real one's machinery: its Makefile, settings, gates and extension.

It has one notebook and three pages, needs neither torch nor SymPy, and goes through the literal
`make test`. Sound, it passes; `spoil` puts faults into it, and nothing else may turn red.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from verifiedbook.commands.notebooks import form

ROOT = Path(__file__).parent.parent
COPIED = (
    "Makefile", "conftest.py", "nbval_sanitize.cfg", "pyproject.toml", "requirements.txt",
    "requirements-book.txt", "_config.yml", "book/_ext", "book/_static", "book/references.bib",
    *(
        f"src/verified_transformer/{name}"
        for name in (
            "__init__.py", "__init__.pyi", "served.py", "book/__init__.py", "book/__init__.pyi",
            "book/claims/tied-loss.yaml",
        )
    ),
    *(
        f"packages/verifiedbook/src/verifiedbook/{name}"
        for name in (
            "__init__.py", "__init__.pyi", "serving.py", "writing.py", "account", "exact",
            "sphinx", "commands/__init__.py", "commands/claims.py", "commands/git.py",
            "commands/status.py",
            "commands/notebooks", "commands/prose", "checks/exercises/answers.js",
            "checks/exercises/typed.yaml", "live_figures/__init__.py", "live_figures/__init__.pyi",
            "live_figures/compressed.py", "live_figures/live.js", "live_figures/live.css",
        )
    ),
)  # fmt: skip
TESTS = (
    "conftest.py", "machine.py", "time_spent.py", "near_claims.py",
    "changed.py", "reach.py", "since.py", "banded_notebooks.py",
    "html_gates.py", "page_facts.py", "page_gates.py", "box_gates.py",
    "errata_gates.py", "output_gates.py", "folded_parts.py", "notebook_gates.py",
    "test_notebooks.py", "test_pages.py",
)  # fmt: skip
PAGES = {
    "welcome": "# A small book\n\n{decided}`all`\n\n```{result} LOSS-14\nNo bias.\n```\n",
    "ledger": "# Ledger\n\n{decided}`all`\n\n```{ledger}\n```\n",
    "errata": "# Errata\n\n```{errata} tied-loss\n```\n",
}
NOTEBOOK = Path("notebooks/1-small/1-small.ipynb")
SPAN = '<b>1.3</b> <span class="vt-volatile">{}</span>'
SHOWN = "from IPython.display import HTML, display\ndisplay(HTML('{}'))"
# each cell's source, and what it prints or shows
CELLS: list[tuple[str, dict[str, Any]]] = [
    ("import math", {}),
    ("print(1 + 1)", {"text": "2\n"}),
    ("print('LOSS-14 proof   Var = 2*d*sigma**4   19/19 mutants   #6ba8733c')",
     {"text": "LOSS-14 proof   Var = 2*d*sigma**4   19/19 mutants   #6ba8733c\n"}),
    (SHOWN.format(SPAN.format("0.1234")), {"text/html": SPAN.format("0.9876")}),
    ("6 * 7", {"text/plain": "42"}),
]  # fmt: skip


def build(folder: Path) -> Path:
    """Write the sound book; return its root."""
    ignored = shutil.ignore_patterns("__pycache__")
    for name in (*COPIED, *(f"tests/{name}" for name in TESTS)):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=ignored)
        else:
            shutil.copy(ROOT / name, target)
    (folder / ".venv").symlink_to((ROOT / ".venv").resolve())
    for name, text in PAGES.items():
        (folder / f"book/{name}.md").write_text(text, encoding="utf-8")
    contents = ["format: jb-book", "root: book/welcome", "chapters:"]
    for file in ("book/ledger", "book/errata", str(NOTEBOOK.with_suffix(""))):
        contents.append(f"- file: {file}")
    (folder / "_toc.yml").write_text("\n".join(contents) + "\n", encoding="utf-8")
    (folder / NOTEBOOK).parent.mkdir(parents=True)
    write(folder, {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    book = {
        "cells": [
            {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# Small"},
            *(_cell(i, *pair) for i, pair in enumerate(CELLS, start=1)),
        ],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "name": "python3"},
            "language_info": {"name": "python", "pygments_lexer": "ipython3"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (folder / NOTEBOOK).write_text(form.formed(json.dumps(book)), encoding="utf-8")
    lock(folder)
    return folder


def lock(folder: Path) -> None:
    """Lock the small book's verdicts: it decides nothing of the one article that it has."""
    (folder / "src/verified_transformer/book/claims/verdicts.lock").write_text("{}\n", "utf-8")
    sources = folder / "src", folder / "packages/verifiedbook/src"
    code = "from pathlib import Path; import verified_transformer; "
    code += "from verifiedbook.commands import claims; "
    code += "claims.renew_lock(Path.cwd(), 'Nothing is decided in a small book.', '2000-01-01')"
    subprocess.run(
        [sys.executable, "-c", code], cwd=folder, check=True, capture_output=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sources))},
    )  # fmt: skip


def _cell(count: int, source: str, shown: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"output_type": "stream", "name": "stdout", **shown}
    if "text/plain" in shown:
        made = {"output_type": "execute_result", "execution_count": count}
    elif "text/html" in shown:
        made = {"output_type": "display_data"}
    if "text" not in shown:
        data = {"text/plain": "<IPython.core.display.HTML object>", **shown}
        made |= {"metadata": {}, "data": data}
    return {
        "cell_type": "code", "id": f"code-{count}", "metadata": {}, "execution_count": count,
        "outputs": [made] if shown else [], "source": source,
    }  # fmt: skip


def read(folder: Path) -> dict[str, Any]:
    """The notebook."""
    found: dict[str, Any] = json.loads((folder / NOTEBOOK).read_text(encoding="utf-8"))
    return found


def write(folder: Path, book: dict[str, Any]) -> None:
    """Store the notebook."""
    (folder / NOTEBOOK).write_text(json.dumps(book, indent=1), encoding="utf-8")


def make_test(folder: Path) -> tuple[int, str]:
    """Run the literal `make test`, linters and the browser's installation left out.

    They are told by make's own option that they are done; what `make test` asks of them is held by
    another test.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MAKE", "MFLAGS", "PYTEST"))
    }
    command = ["make", "test", "-o", "lint", "-o", "browser", "WORKERS=1"]  # for one notebook
    planned = subprocess.run(
        [*command, "-n"],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout
    if "Setting up" in planned:  # it would be made anew, and the one that is shared be removed
        raise RuntimeError("the environment is not the one that make would use: make install")
    run = subprocess.run(
        command,
        cwd=folder,
        env=environment | {"NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return run.returncode, run.stdout
