"""Notebooks as Colab meets them: from the published branch, with only the basics installed."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import nbformat
import pytest
import yaml
from nbclient import NotebookClient

from verifiedbook.account import ledger
from verifiedbook.account.code.modules import CodeFault, Package
from verifiedbook.commands import command_line
from verifiedbook.commands.notebooks import colab
from verifiedbook.commands.notebooks.comparing import METADATA_KEY
from verifiedbook.pytest_plugin import machine

ROOT = Path(__file__).parent.parent
REPOSITORY = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
URL, BRANCH = REPOSITORY["url"], REPOSITORY["branch"]
NOTEBOOKS = ledger.notebooks(ROOT)
# A short one that needs transformers in every run; in `make nightly` all that need them, and one
# that does not.
ALWAYS = ROOT / "notebooks/2-tied-head/6-what-keeps-a-tie.ipynb"
WITHOUT = ROOT / "notebooks/5-factorised-tables/7-the-tensor-product.ipynb"
# What Colab has of ours; what transformers needs is there too, but not transformers itself.
BASICS = (
    "pip", "torch", "numpy", "scipy", "sympy", "matplotlib", "jinja2", "ipykernel", "setuptools",
    "huggingface_hub", "safetensors", "tokenizers", "regex",
)  # fmt: skip

pytestmark = pytest.mark.make


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


def git(folder: Path, *words: str) -> bytes:
    """What git says in a folder."""
    who = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    done = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository that holds the working tree as it is, and the branch, published by a clone.

    Its first commit is an older one, in which there was no package yet.
    """
    origin = tmp_path_factory.mktemp("repository")
    git(origin, "init", "-q", "-b", "main")
    for setting in ("core.compression", "pack.window"):  # it is cloned thrice, and gone
        git(origin, "config", setting, "0")
    shutil.copy(ROOT / "LICENSE", origin)
    git(origin, "add", "LICENSE")
    git(origin, "commit", "-q", "-m", "a licence")
    listed = git(ROOT, "ls-files", "-co", "--exclude-standard", "-z").decode().split("\0")
    for name in filter(lambda n: n and (ROOT / n).is_file(), listed):
        (origin / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, origin / name)
    git(origin, "add", "-A")
    git(origin, "commit", "-q", "-m", "as it is")
    build, push = (tmp_path_factory.mktemp(job) for job in ("build", "colab"))
    for clone in (build, push):
        git(clone, "clone", "-q", "--depth", "1", f"file://{origin}", ".")
    (build / ".venv").symlink_to((ROOT / ".venv").resolve())
    for command in commands("build")[-2:]:
        run(command, build)
    shutil.copy(build / f"{BRANCH}.bundle", push)
    for command in commands("colab"):
        run(command, push)
    return origin


def commands(job: str) -> list[str]:
    """What a job of the workflow that publishes runs."""
    workflow = (ROOT / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8")
    text = workflow.replace("${{ github.server_url }}/${{ github.repository }}", URL)
    return [step["run"] for step in yaml.safe_load(text)["jobs"][job]["steps"] if "run" in step]


def run(command: str, folder: Path) -> None:
    """Run a command as a workflow does, outside of make and of this repository's sources."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    environment.pop("PYTHONPATH", None)
    subprocess.run(["sh", "-e", "-c", command], cwd=folder, env=environment, check=True)


def published(repository: Path, notebook: Path) -> str:
    """The text of a notebook on the branch."""
    name = notebook.relative_to(ROOT).as_posix()
    return git(repository, "show", f"{BRANCH}:{name}").decode()


# ------------------------------------------------------------------ the commit has what is imported


@pytest.fixture(scope="module")
def trees(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The package as each commit of the main branch has it."""
    found = {}
    for commit in git(repository, "rev-list", "main").decode().split():
        found[commit] = tmp_path_factory.mktemp("tree")
        with tarfile.open(fileobj=io.BytesIO(git(repository, "archive", commit))) as archive:
            archive.extractall(found[commit], filter="data")
    return found


def unfit(text: str, trees: dict[str, Path]) -> list[str]:
    """Why a notebook's first cell installs a package that does not serve its imports."""
    book = json.loads(text)
    first = next(cell for cell in book["cells"] if cell["cell_type"] == "code")
    named = re.search(rf'pip install .* git\+{re.escape(URL)}@([^"]*)"', "".join(first["source"]))
    if named is None:
        return ["names no commit"]
    if named[1] not in trees:
        return [f"names {named[1]}, which the main branch does not have"]
    package = trees[named[1]] / "src" / "verified_transformer"
    ours = [name for name in colab.imports(book) if name.split(".")[0] == package.name]
    return [f"imports {name}, which its commit lacks" for name in ours if not has(package, name)]


@cache
def sources(folder: Path) -> Package:
    """A tree is asked for the imports of all notebooks."""
    root = folder.parents[1]
    return Package(folder, root / "experiments", *root.glob("packages/*/src"))


def has(folder: Path, dotted: str) -> bool:
    """Whether a package's sources have a module or a name."""
    package = sources(folder)
    try:
        package.named(dotted, package.module(folder / "__init__.py"))
    except CodeFault:
        return False
    return True


@pytest.mark.slow
def test_every_published_notebook_installs_a_commit_that_has_what_it_imports(
    repository: Path, trees: dict[str, Path]
) -> None:
    found = {path.name: unfit(published(repository, path), trees) for path in NOTEBOOKS}
    assert {name: faults for name, faults in found.items() if faults} == {}
    commit = git(repository, "rev-parse", "main").decode().strip()
    assert all(commit in published(repository, path) for path in NOTEBOOKS)
    assert all(commit not in path.read_text(encoding="utf-8") for path in NOTEBOOKS)
    # one commit more, with other notebooks and nothing else
    changed = git(repository, "diff", "--name-only", "main", BRANCH).decode().split()
    assert sorted(changed) == sorted(p.relative_to(ROOT).as_posix() for p in NOTEBOOKS)
    assert git(repository, "rev-parse", f"{BRANCH}^").decode().strip() == commit


@pytest.mark.slow
@pytest.mark.canary
@pytest.mark.parametrize("kind", ["no commit", "an unknown one", "an older one", "a name it lacks"])
def test_a_commit_that_does_not_serve_is_found(
    kind: str, repository: Path, trees: dict[str, Path]
) -> None:
    text = published(repository, WITHOUT)
    newest, oldest = git(repository, "rev-list", "main").decode().split()
    other, said = {
        "no commit": (text.replace(f"@{newest}", ""), "names no commit"),
        "an unknown one": (text.replace(newest, "0" * 40), "which the main branch does not have"),
        "an older one": (text.replace(newest, oldest), "imports verified_transformer.claim, which"),
        "a name it lacks": (
            text.replace("import torch", "from verified_transformer import climb", 1),
            "imports verified_transformer.climb,",
        ),
    }[kind]  # fmt: skip
    assert text != other and unfit(text, trees) == []
    found = unfit(other, trees)
    assert found and said in "".join(found)


@pytest.mark.slow
def test_nothing_is_published_under_another_address(repository: Path, capsys) -> None:
    other = ["--root", str(repository), "--served", "https://github.com/fork/verified-transformer"]
    assert command_line.main(["publish-colab", *other]) == 1
    assert "notebooks would install from" in capsys.readouterr().err
    git(repository, "checkout", "-q", "-f", BRANCH)
    try:
        assert command_line.main(["publish-colab", "--root", str(repository)]) == 1
        assert "is checked out" in capsys.readouterr().err
    finally:
        git(repository, "checkout", "-q", "-f", "main")


@pytest.mark.slow
def test_rockets_and_links_open_the_published_branch(html: Path) -> None:
    place = f"https://colab.research.google.com/github/{URL.removeprefix('https://github.com/')}"
    opened: set[str] = set()
    for page in html.rglob("*.html"):
        for link in re.findall(r'href="(https://colab[^"]*)"', page.read_text(encoding="utf-8")):
            assert link.startswith(f"{place}/blob/{BRANCH}/"), (page.name, link)
            opened.add(link.removeprefix(f"{place}/blob/{BRANCH}/"))
    assert opened == {path.relative_to(ROOT).as_posix() for path in NOTEBOOKS}


# ------------------------------------------------------------------ and it runs there


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
        [python, "-c", code], cwd=folder, capture_output=True, encoding="utf-8", check=True
    )
    return [Path(line) for line in run.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "notebook",
    [pytest.param(p, marks=() if p == ALWAYS else pytest.mark.nightly) for p in NOTEBOOKS],
    ids=lambda path: f"{path.parent.name[0]}.{path.stem}",
)
def test_a_notebook_runs_in_a_bare_environment(
    notebook: Path, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = nbformat.reads(published(repository, notebook), as_version=4)
    extras = colab.extras(book)
    if not extras and notebook != WITHOUT:
        pytest.skip("Colab has all that it needs")
    python = bare(tmp_path / "env")
    stored = records(book)
    # git fetches from the repository of the test what the cell asks of the book's address
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.file://{repository}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", URL)
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")  # pip reads 0 as: none; setuptools is there
    monkeypatch.setenv("HOME", str(tmp_path))  # where pip builds a wheel it wants one that is there
    monkeypatch.setenv("PIP_NO_COMPILE", "0")  # so too; few modules of transformers are loaded
    for name in ("PYTHONPATH", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    spec = tmp_path / "kernels" / "bare"
    spec.mkdir(parents=True)
    command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel = json.dumps({"argv": command, "display_name": "bare"})
    (spec / "kernel.json").write_text(kernel, encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    resources = {"metadata": {"path": str(tmp_path)}}
    timeout = int(machine.patient(300))
    NotebookClient(book, kernel_name="bare", timeout=timeout, resources=resources).execute()
    assert records(book) == stored
    torch_file, package_file, transformers_file = origins(python, tmp_path)
    assert torch_file.resolve().is_relative_to(Path(sys.prefix).resolve()), "torch was replaced"
    assert python.parent.parent in package_file.parents, "not installed from the repository"
    assert (transformers_file != Path("none")) == ("models" in extras)
