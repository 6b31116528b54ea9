"""The first cell: where it installs from, with the extra where transformers is reached."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import notebook_gates
import pytest

from verified_transformer.engine.account import ledger
from verified_transformer.engine.commands.notebooks import colab, form

ROOT = Path(__file__).parents[3]


def notebook(folder: Path, *sources: str) -> Path:
    path = folder / "notebooks" / "1-one" / "1-page.ipynb"
    path.parent.mkdir(parents=True)
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in sources
    ]
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("import transformers as tf", True),
        ("    \nfrom transformers.models import auto".strip(), True),
        ("import safetensors.torch", True),
        ("from verified_transformer.models import grow", True),
        ("from verified_transformer.book import transformers", True),
        ("from verified_transformer.book import figure", False),
        ("from verified_transformer import claim, symbols", False),
        ("from verified_transformer.engine.account.recordings import load", False),
        ("# import transformers\n%time 1", False),
    ],
)
def test_transformers_is_found_through_the_imports(
    source: str, needed: bool, tmp_path: Path
) -> None:
    assert colab.needs_transformers(notebook(tmp_path, "import torch", source)) is needed


def test_some_notebooks_of_the_book_need_it_and_some_do_not() -> None:
    needing = [colab.needs_transformers(path) for path in ledger.notebooks(ROOT)]
    assert 10 <= sum(needing) < len(needing)


def test_the_command_writes_the_head_and_leaves_the_rest(tmp_path: Path) -> None:
    old = "try:\n    import verified_transformer\nexcept ImportError:\n    %pip install -q old\n"
    path = notebook(tmp_path, f"{old}import torch\n", "import transformers")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    fork = "https://github.com/fork/of-it"  # named in the one place
    (tmp_path / "_config.yml").write_text(f"repository: {{url: {fork}}}\n", encoding="utf-8")
    assert form.write(tmp_path) == 0
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "".join(cells[0]["source"])
    assert text == f"# @title Set-up\n{colab.head(tmp_path, path)}import torch\n"
    assert f'[models] @ git+{fork}"' in text  # no commit, no tag
    assert cells[1]["source"] == ["# @title Set-up: imports\n", "import transformers"]
    before = path.read_bytes()
    assert form.write(tmp_path) == 0 and path.read_bytes() == before


@pytest.mark.canary
@pytest.mark.parametrize(
    ("old", "new", "more"),
    [
        ('er"\n', 'er@v0.2.0"\n', ""),
        ("[models]", "", "import transformers"),
        (" @ git", "[models] @ git", ""),
    ],
    ids=["a tag", "without the extra", "an extra that nothing needs"],
)
def test_another_first_cell_is_found(old: str, new: str, more: str, tmp_path: Path) -> None:
    head = colab.head(ROOT, notebook(tmp_path / "good", "import torch", more))
    assert old in head
    for folder, first in (("same", head), ("other", head.replace(old, new))):
        path = notebook(tmp_path / folder, f"{first}import torch", *[more] * bool(more))
        titled = form.formed(path.read_text(encoding="utf-8"), first)
        path.write_text(titled, encoding="utf-8")
        found = notebook_gates.other_form(path)
        assert bool(found) == (folder == "other"), found
