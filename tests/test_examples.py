"""The second book by its own commands: each fault put into it is red, and no more."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import html_gates
import pytest

ROOT = Path(__file__).parent.parent
BOOK, ENGINE = ROOT / "examples/rectifiers", ROOT / "packages/verifiedbook/src"
NOTEBOOK = "notebooks/1-rectifiers/1-forward.ipynb"
FAILED = re.compile(r"^FAILED \S+::(Cell \d+)", re.M)
RED = {
    "Cell 1": "another hash in a record's line",
    "Cell 3": "another number, which has no band",
    "Cell 5": "other HTML, outside the marked span",
    "Cell 15": "a cell that fails",
}

pytestmark = pytest.mark.slow


def copied(folder: Path) -> Path:
    """Copy the book, what was built left out."""
    return shutil.copytree(BOOK, folder / "book", ignore=shutil.ignore_patterns("_build"))


def run(folder: Path, *command: str, engine: Path = ENGINE) -> tuple[int, str]:
    """Run a command in the book's folder; return its exit code and what it printed."""
    done = subprocess.run(
        command, cwd=folder, encoding="utf-8", check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={n: v for n, v in os.environ.items() if not n.startswith(("MAKE", "MFLAGS", "PYTEST"))}
        | {"PYTHONPATH": str(engine), "NO_COLOR": "1"},
    )  # fmt: skip
    return done.returncode, done.stdout


def read(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / NOTEBOOK).read_text(encoding="utf-8"))
    return found


def write(folder: Path, book: dict[str, Any]) -> None:
    (folder / NOTEBOOK).write_text(json.dumps(book, indent=1), encoding="utf-8")


def swap(shown: dict[str, Any], kind: str, old: str, new: str) -> None:
    """Put other words into an output."""
    text = "".join(shown[kind])
    assert text.count(old) == 1, (old, text)
    shown[kind] = text.replace(old, new)


@pytest.mark.make
@pytest.mark.canary
def test_a_faulty_book_is_red_for_every_fault_and_no_other(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    for other in (folder / NOTEBOOK).parent.glob("[23]*.ipynb"):
        other.unlink()
    book = read(folder)
    shown = [cell["outputs"] for cell in book["cells"] if cell["cell_type"] == "code"]
    line = "".join(shown[1][1]["data"]["text/plain"])
    swap(shown[1][1]["data"], "text/plain", line[-8:], f"{int(line[-8:], 16) ^ 1:08x}")
    page = "".join(shown[2][0]["data"]["text/html"])
    shown[2][0]["data"]["text/html"] = re.sub(r'("vt-volatile">)[^<]*', r"\g<1>9.99", page)
    swap(shown[3][0], "text", "4.2483", "4.2484")
    swap(shown[5][0]["data"], "text/html", "</summary>", "!</summary>")
    book["cells"].append({
        "cell_type": "code", "id": "fails", "metadata": {}, "execution_count": None,
        "outputs": [], "source": "raise ValueError('no')",
    })  # fmt: skip
    write(folder, book)
    code, said = run(folder, "make", "test", f"PYTHON={sys.executable}")
    assert code != 0 and set(FAILED.findall(said)) == set(RED), said
    assert "REC-01: not as stored\n  4.2484 -> 4.2483 in REC-01" in said


@pytest.mark.canary
def test_a_book_without_a_measurement_is_red(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    book = read(folder)
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    cells[2]["outputs"] = []
    write(folder, book)
    code, said = run(folder, sys.executable, "-m", "verifiedbook", "claims")
    assert code != 0 and "REC-01: holds -> undecided" in said, said


TEMPLATE = Path("verifiedbook/sphinx/templates/claims.html")
CHANGES = ("an output", "a title", "an article", "a template")


@pytest.mark.nightly  # publishing builds all: a page left as it was is seen by an author alone
def test_a_build_of_what_changed_leaves_the_pages_of_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, engine = copied(tmp_path), shutil.copytree(ENGINE, tmp_path / "engine")
    monkeypatch.setenv("PYTHONPATH", str(engine))
    monkeypatch.chdir(folder)

    def pages(out: Path, *options: str) -> dict[str, tuple[str, int]]:
        code, output = html_gates.build(folder, out, [*options, "-n", "-W"])
        assert code == 0, output
        html = out / "_build" / "html"
        files = {path.relative_to(html).as_posix(): path for path in html.rglob("*.html")}
        # what is written last, such as a style sheet, has no hash yet in a first build
        hashed = re.compile(r"([.](?:css|js))[?]v=\w+")
        texts = {name: hashed.sub(r"\1", path.read_text("utf-8")) for name, path in files.items()}
        return {name: (text, files[name].stat().st_mtime_ns) for name, text in texts.items()}

    first = pages(tmp_path / "out")
    for change in CHANGES:
        spoil(change, folder, engine)
        then, whole = pages(tmp_path / "out"), pages(tmp_path / change, "--all")
        assert {n: text for n, (text, _) in then.items()} == {n: t for n, (t, _) in whole.items()}
        kept = {n.split("/")[0] for n, (_, when) in then.items() if first[n][1] == when}
        assert ("claims" in kept) == (change == "an output"), change
        assert then.keys() == first.keys() and then != first
        first = then


def spoil(change: str, folder: Path, engine: Path) -> None:
    """Change the book, or what draws its pages."""
    book = read(folder)
    if change == "an output":
        book["cells"][-1]["source"] += "\n\nOne word more."
        write(folder, book)
    elif change == "a title":
        book["cells"][0]["source"] = "# Smaller"
        write(folder, book)
    elif change == "a template":
        text = (engine / TEMPLATE).read_text(encoding="utf-8")
        assert "{{ summary.total }} statements" in text
        text = text.replace("{{ summary.total }} statements", "{{ summary.total + 1 }} statements")
        (engine / TEMPLATE).write_text(text, encoding="utf-8")
    else:
        claims = folder / "claims/rectifiers.yaml"
        said = claims.read_text(encoding="utf-8")
        assert said.count("Kaiming He") == 1
        claims.write_text(said.replace("Kaiming He", "K. He"), encoding="utf-8")
        lock = ("-m", "verifiedbook", "lock", "--reason", "a word", "--date", "2000-01-01")
        code, told = run(folder, sys.executable, *lock, engine=engine)
        assert code == 0, told
