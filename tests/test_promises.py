"""What README, the welcome page and docstrings promise or print is executed, literally."""

from __future__ import annotations

import ast
import doctest
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from verifiedbook.account import registry
from verifiedbook.commands.notebooks.running import run

ROOT = Path(__file__).parent.parent
README, WELCOME = ROOT / "README.md", ROOT / "book" / "welcome.md"
_BLOCK = re.compile(r"^```([a-z]+)\n(.*?)^```$", re.M | re.S)


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of a language on a page, in order."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text for name, text in found if name == language]


def shell(page: Path) -> list[str]:
    """The lines of a page's shell blocks, comments left out."""
    lines = "".join(blocks(page, "sh")).splitlines()
    return [line for line in (re.sub(r"(^|\s+)#.*", "", line) for line in lines) if line]


MAKE = [line for page in (README, WELCOME) for line in shell(page) if line.startswith("make ")]
PLAIN = [line for line in shell(README) if re.match(r"python |source |jupyter-book ", line)]
URL = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def examples(text: str, name: str) -> doctest.TestResults:
    """Run the examples of a text, one after the other, and compare what they print."""
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    return doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)


def make(*words: str) -> subprocess.CompletedProcess[str]:
    """What make does in this repository, outside of the make that runs the tests."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *words], cwd=ROOT, env=kept, capture_output=True, encoding="utf-8", check=True
    )


# ------------------------------------------------------------------ README


def test_the_readmes_examples_print_what_they_show() -> None:
    found = examples("".join(blocks(README, "pycon")), "README.md")
    assert found.attempted == 6 and found.failed == 0


@pytest.mark.canary
@pytest.mark.parametrize(("old", "new"), [("= 2*d*", "= 3*d*"), ("-17.1366", "-17.1365")])
def test_an_example_that_prints_something_else_is_found(old: str, new: str) -> None:
    text = "".join(blocks(README, "pycon"))
    assert old in text and examples(text.replace(old, new), "README.md").failed == 1


def test_the_readmes_other_law_is_refused_with_the_variance_that_it_names() -> None:
    said = " ".join(README.read_text(encoding="utf-8").split())
    old, new, value = re.search(
        r"`(Uniform.*?)` instead of `(Normal.*?)`.* gives another variance, (.*?), than", said
    ).groups()
    code = "".join(blocks(README, "pycon")).split(">>> claim")[0].replace(new, old)
    text = f'{code}>>> claim("LOSS-14").prove(variance(total(w[i] ** 2, i)))\n'
    refused = "Traceback (most recent call last):\nverifiedbook.checks.subject.ClaimFailed: "
    whole = text + refused + f"LOSS-14 ... which is {value}, the reading defines ...\n"
    assert examples(whole, "README.md").failed == 0


def test_every_line_for_a_shell_is_tried_here_or_in_another_test() -> None:
    elsewhere = [
        *PLAIN,  # tests/test_systems.py
        f'pip install "{SETTINGS["project"]["name"]}[models] @ git+{URL}"',  # tests/test_colab.py
        f'pip install "weightwise[models] @ git+{URL}#subdirectory=packages/weightwise"',
    ]
    assert sorted({*shell(README), *shell(WELCOME)}) == sorted({*MAKE, *elsewhere})
    assert "models" in SETTINGS["project"]["optional-dependencies"]
    for name in ("README.md", "pyproject.toml", "CITATION.cff"):
        addresses = re.findall(
            r"https://github\.com/[^\s\"'/]+/[^\s\"'/#]+", (ROOT / name).read_text("utf-8")
        )
        assert set(addresses) == {URL}, name


@pytest.mark.make
def test_make_knows_every_target_that_is_shown() -> None:
    for line in {*MAKE, f"make PYTHON={os.path.relpath(sys.executable, ROOT)} book"}:
        make("-n", *line.split()[1:])
    assert make("-n", "book").stdout.rstrip().endswith('_build/html/index.html"')
    assert "http://localhost:8000/" in make("-n", "serve").stdout


@pytest.mark.make
def test_help_lists_the_rest_without_a_literal_variable() -> None:
    said = make("help").stdout
    targets = re.findall(r"^  make ([a-z-]+) ", said, re.M)
    assert len(targets) > 20 and {line.split()[1] for line in MAKE} <= set(targets)
    assert (
        "$" not in said and "  make serve         show the pages on localhost, PORT=8000\n" in said
    )


@pytest.mark.slow
@pytest.mark.make
def test_verify_ends_as_the_readme_says() -> None:
    line, last = re.search(
        r'^make (verify .*?) +# .* ends with "(.*)"$', README.read_text(encoding="utf-8"), re.M
    ).groups()
    assert make(*line.split()).stdout.splitlines()[-1] == last


def test_what_the_readme_counts_and_lists_is_there() -> None:
    text = README.read_text(encoding="utf-8")
    counted = int(re.search(r"each of their (\d+) statements", text)[1])
    assert counted == sum(not name.startswith("BOOK-") for name in registry.load()[1])
    folders = re.findall(r"^\| `(.*?)/`", text, re.M)
    assert len(folders) >= 5 and all((ROOT / name).is_dir() for name in folders)
    parts = re.findall(r"^\| `src/verified_transformer/(\w+)/`", text, re.M)
    package = ROOT / "src" / "verified_transformer"
    assert set(parts) == {p.parent.name for p in package.glob("*/__init__.py")}
    pythons = [
        f"3.{minor}"
        for minor in range(*map(int, re.search(r"3\.(\d+) to 3\.(\d+)", text).groups()))
    ]
    named = re.findall(r"Python :: (3\.\d+)", str(SETTINGS["project"]["classifiers"]))
    assert named[:-1] == pythons
    indexes = re.findall(r"PIP_EXTRA_INDEX_URL(?:=|: )(\S+?)`?\.?\s", text)
    for workflow in ("test", "weekly", "systems"):
        found = yaml.safe_load((ROOT / f".github/workflows/{workflow}.yml").read_text("utf-8"))
        assert [found["env"]["PIP_EXTRA_INDEX_URL"]] == indexes


@pytest.mark.slow
def test_the_variable_chooses_the_device() -> None:
    assert "`VERIFIED_DEVICE` chooses the device (`cpu`,\n`cuda`)" in README.read_text("utf-8")
    code = "from verified_transformer import device; print(device())"
    environment = os.environ | {"VERIFIED_DEVICE": "cpu"}
    run_ = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True
    )
    assert run_.stdout.split() == [b"cpu"]


# ------------------------------------------------------------------ the pages


def test_examples_stand_on_pages_whose_examples_run() -> None:
    pages = [README, *(ROOT / "book").glob("*.md")]
    shown = {
        (page.name, kind) for page in pages for kind in ("pycon", "python") if blocks(page, kind)
    }
    assert shown == {
        ("README.md", "pycon"), ("welcome.md", "python"), ("initial-loss.md", "python"),
        ("initial-loss.md", "pycon"),  # in tests/models/test_api_pages.py
        ("factorised-tables.md", "pycon"),  # in tests/models/test_api_pages.py
        ("grow.md", "pycon"),  # in tests/models/test_manuals.py
        ("grow.md", "python"),  # in tests/models/test_manuals.py
    }  # fmt: skip


@pytest.fixture(scope="module")
def config() -> Any:
    """The configuration of a small GPT-2."""
    from transformers import GPT2Config

    sizes = {"vocab_size": 512, "n_embd": 64, "n_layer": 2, "n_head": 2, "n_positions": 128}
    return GPT2Config(**sizes, bos_token_id=0, eos_token_id=0)


@pytest.mark.slow
def test_the_welcome_pages_lines_do_what_their_comments_say(config: Any) -> None:
    import torch
    from transformers import GPT2LMHeadModel

    (code,) = blocks(WELCOME, "python")
    assert "or a tie was lost" in code and "the same logits\nwide =" in code
    names = {"model": GPT2LMHeadModel(config).double().eval()}
    exec(code, names)
    tokens = torch.arange(24)[None]
    narrow, wide = (names[name](tokens).logits for name in ("model", "wide"))
    assert names["wide"].config.n_embd == 2 * config.n_embd
    assert torch.allclose(narrow, wide, rtol=0, atol=1e-10)
    without_scale, without_tie = (GPT2LMHeadModel(config) for _ in range(2))
    without_scale.transformer.wte.weight.data *= 50
    without_tie.lm_head.weight = torch.nn.Parameter(without_tie.lm_head.weight.clone())
    for model in (without_scale, without_tie):
        with pytest.raises(AssertionError, match=r"^model: "):
            exec(code, {"model": model})


@pytest.mark.slow
def test_the_manual_pages_unit_test_passes_and_fails(config: Any) -> None:
    from transformers import GPT2LMHeadModel

    (code,) = blocks(ROOT / "book" / "initial-loss.md", "python")
    names = {"MyModel": GPT2LMHeadModel, "config": config}
    exec(code, names)
    names["test_the_model_starts_where_it_should"]()

    def forgotten(config: Any) -> Any:
        model = GPT2LMHeadModel(config)
        model.transformer.wte.weight.data *= 50
        return model

    names["MyModel"] = forgotten
    with pytest.raises(AssertionError, match="its configuration promises"):
        names["test_the_model_starts_where_it_should"]()


@pytest.mark.slow
def test_the_welcome_pages_dares_can_be_taken_up(tmp_path: Path, forked: None) -> None:
    """One run of the notebook: the reader's new cell, then the changed one, which goes red."""
    place, new, old, red, asked = re.search(
        r"Open \[.*?\]\(\.\./(notebooks/.*?)\) in Colab.*write `(.*?)` instead of `(.*?)`, "
        r"and it goes red: “(.*?)”.*In a new cell, `(.*?)` names a point, and the two numbers",
        " ".join(WELCOME.read_text(encoding="utf-8").split()),
    ).groups()
    book = json.loads((ROOT / place).read_text(encoding="utf-8"))
    cells = book["cells"]
    (changed,) = [i for i, cell in enumerate(cells) if old in "".join(cell["source"])]
    source = "".join(cells[changed]["source"])
    cells[changed]["source"] = source.replace(old, new)
    cells.insert(changed, cells[changed] | {"id": "new", "source": asked})
    (tmp_path / "changed.ipynb").write_text(json.dumps(book), encoding="utf-8")
    found = run(tmp_path / "changed.ipynb", last=changed + 1)
    (said,) = [output["text"] for output in found.book.cells[changed].outputs]
    answer = r"LOSS-14: not so: at (\w+=[\d.]+,? )+it gives -[\d.]+, where .* is [\d.]+\.\n"
    assert re.fullmatch(answer, said)
    (error,) = found.errors
    assert error.startswith(f"cell {changed + 1}: ClaimFailed: LOSS-14 ") and red in error


# ------------------------------------------------------------------ docstrings


def idle(source: str) -> list[str]:
    """Examples in a module's docstrings that no test runs: literal blocks, and what is skipped."""
    texts = [
        ast.get_docstring(node) or ""
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    found = [line.strip() for text in texts for line in text.splitlines()]
    return [line for line in found if re.search(r"::$|doctest: *\+SKIP", line)]


def test_every_example_of_a_docstring_is_run() -> None:
    for path in (
        *ROOT.glob("src/**/*.py"),
        *ROOT.glob("experiments/**/*.py"),
        *ROOT.glob("packages/*/src/**/*.py"),
    ):
        assert idle(path.read_text(encoding="utf-8")) == [], path


@pytest.mark.canary
@pytest.mark.parametrize("line", ["Two layers in one::", ">>> claim('A')  # doctest: +SKIP"])
def test_an_example_that_nobody_runs_is_found(line: str) -> None:
    assert idle(f'def f():\n    """Return.\n\n    {line}\n    """\n') == [line]
