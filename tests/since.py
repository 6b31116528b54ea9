"""What has changed since all passed, and which files of tests that concerns.

`RULES` tell what a file is; one that they do not know has all run. A module counts for whoever
reaches one of its definitions (`reach`), words and cells for whoever reads the repository, but for
those that `BLIND` excuses. It is a table and no proof.
"""

from __future__ import annotations

import ast
import json
import platform
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import reach

from verifiedbook.pytest_plugin.near_claims import ID

ROOT = Path(__file__).parent.parent
RULES = {  # the first that fits; a file that none knows may change anything
    r".*/__init__\.py|src/verified_transformer/\w+\.py": "",  # faces: which name leads where
    r"(src/verified_transformer|experiments|packages/weightwise/src)/.*\.py": "module",
    r"notebooks/[^/]+/[^/]+\.ipynb": "notebook",
    r"notebooks/.*\.owners|book/[^/]+\.(md|owners)": "words",
    r"(tests|packages/\w+/tests)/(?!canaries/)(.*/)?test_\w+\.py": "test",
}
# Files of tests that read the repository, and what of it they do not: words of pages, cells of
# notebooks. "named": all pages but those that they name; "built": all but the built book.
BLIND = {
    "they make books, pages and notebooks of their own": (
        "words cells modules",
        "runs examples live_in_browser warm_kernels other_processor command_line",
    ),
    "they run models and experiments, and read no page": (
        "words cells",
        "recording gaussian_first_loss imports readme machine pytest_plugin "
        "first_loss_domain installs changed",
    ),
    "they read code, outputs and records, and no text": (
        "words", "colab colab_cells ledger lock errata citations formulas evidence recordings "
        "how_made exercises drawings live_figures drawn_as_exact arrows faces wiring requirements "
        "run_here",
    ),
    "they read the pages that they name": (
        "named", "promises systems mutation notebook_gates api_pages initial_loss_page manuals",
    ),
    "they look at the built book": ("built", "book pages browser around answers_in_browser "
                                    "strips_in_browser"),
}  # fmt: skip
_OWNED = re.compile(rf"{ID.pattern}|notebooks/[\w/-]+\.ipynb")
_READING = re.compile(r"__file__|\bhtml: Path|\bcollected\b")  # of tests that read our files


@dataclass
class Plan:
    """What a change can reach.

    Attributes:
        since: the commit that passed.
        everything: why all runs; empty where a part does.
        words, cells: pages, as the table of contents names them, whose words changed, or whose
            code, outputs or metadata.
        modules, tests: files of the library, and of tests, that changed.
    """

    since: str = ""
    everything: str = ""
    words: set[str] = field(default_factory=set)
    cells: set[str] = field(default_factory=set)
    modules: set[Path] = field(default_factory=set)
    tests: set[Path] = field(default_factory=set)

    @property
    def facets(self) -> set[str]:
        """What kinds of things changed."""
        kinds = ("words", "cells", "modules", "tests")
        return {kind for kind in kinds if getattr(self, kind)}


def files(root: Path = ROOT) -> dict[str, str]:
    """The hash of each file that git knows, or would take up; none where there is no git."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=root, capture_output=True, check=False).stdout
    names = sorted(filter(None, listed.decode().split("\0")))
    return {n: _hash((root / n).read_bytes()) for n in names if (root / n).is_file()}


def _hash(text: bytes) -> str:
    return sha256(text).hexdigest()[:24]


def beside_words(notebook: Path) -> str:
    """The hash of a notebook without its Markdown: it is run again where this moves."""
    book = json.loads(notebook.read_text(encoding="utf-8"))
    book["cells"] = [cell for cell in book["cells"] if cell["cell_type"] != "markdown"]
    return _hash(json.dumps(book, sort_keys=True).encode())


def surroundings() -> list[str]:
    """What a run stands on beside the repository: the interpreter, and the pins of its folder."""
    return [platform.python_version(), Path(sys.prefix).resolve().name]


def state(root: Path = ROOT) -> dict[str, Any]:
    """What the working tree is, for `plan` to compare with later."""
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, encoding="utf-8", check=False
    )
    notebooks = {path.relative_to(root).as_posix(): beside_words(path)
                 for path in sorted(root.glob("notebooks/*/*.ipynb"))}  # fmt: skip
    return {"commit": commit.stdout.strip(), "surroundings": surroundings(), "files": files(root),
            "notebooks": notebooks}  # fmt: skip


def plan(before: dict[str, Any], now: dict[str, Any], root: Path = ROOT) -> Plan:
    """What has to run, from what passed and what is: both as `state` gives it."""
    if not before:
        return Plan(everything="no whole run has passed here: `make test` keeps what passed")
    found = Plan(since=before["commit"])
    if before["surroundings"] != now["surroundings"]:
        found.everything = f"it passed with {' '.join(before['surroundings'])}"
    old, new = before["files"], now["files"]
    for name in sorted(n for n in old.keys() | new.keys() if old.get(n) != new.get(n)):
        kind = next((kind for rule, kind in RULES.items() if re.fullmatch(rule, name)), "")
        if not kind or name not in old or name not in new:
            said = "is new" if name not in old else "is gone" if name not in new else "changed"
            found.everything = found.everything or f"{name} {said}, and may concern any test"
        elif kind == "module":
            found.modules.add(root / name)
        elif kind == "test":
            found.tests.add(root / name)
        elif kind == "notebook" and before["notebooks"].get(name) != now["notebooks"].get(name):
            found.cells.add(name.rpartition(".")[0])
        else:
            found.words.add(name.rpartition(".")[0])
    said = {page: (root / f"{page}.ipynb").read_text(encoding="utf-8") for page in found.cells}
    known = {f"{page}.ipynb" for page in said}.union(*map(ID.findall, said.values()))
    for owners in [*root.glob("book/*.owners"), *root.glob("notebooks/*/*.owners")] if said else ():
        if known & {*_OWNED.findall(owners.read_text(encoding="utf-8"))}:  # own a number by it
            found.words.add(page_of(owners, root))
    return found


# ------------------------------------------------------------------ which files of tests


def chosen(found: Plan, root: Path = ROOT) -> tuple[set[Path], Counter[str]]:
    """The files that have to be collected, and how many are left out, by the reason."""
    from verifiedbook.account.code import library

    package, kept, left = library(), set[Path](), Counter[str]()
    for path in sorted((root / "notebooks").glob("*/*.ipynb")):
        if page_of(path, root) in found.cells or _reaches([reach.program(path)], found, package):
            kept.add(path)
        else:
            left["notebooks: their code, outputs and what they reach are as they passed"] += 1
    for home in (
        "src",
        "experiments",
        "packages/weightwise/src",
        "packages/verifiedbook/src",
        "book/_ext",
    ):
        for path in (root / home).rglob("*.py"):
            if found.modules and "verifiedbook" not in home:
                kept.add(path)
            else:
                left["modules with examples: no module that they may run has changed"] += 1
    folders = [root / "tests", *sorted(root.glob("packages/*/tests"))]
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        if "canaries" not in path.parts and path.name.startswith("test_"):
            why = _left_out(path, found, folders, package)
            kept |= set() if why else {path}
            left.update([why] if why else [])
    return kept, left


def page_of(path: Path, root: Path = ROOT) -> str:
    return path.relative_to(root).with_suffix("").as_posix()


def _reaches(programs: Iterable[ast.Module], found: Plan, package: Any) -> bool:
    try:
        return bool(found.modules and reach.files(programs, package) & found.modules)
    except reach.CodeFault:  # a name leads nowhere: whoever runs it says so
        return True


def _left_out(path: Path, found: Plan, folders: list[Path], package: Any) -> str:
    """Why a file of tests need not run; empty where it must."""
    why, blind = blind_to(path)
    own = reach.with_helpers(path, folders)
    texts = [file.read_text(encoding="utf-8") for file in own]
    by_text = found.modules and "modules" not in blind and any(map(reach.BY_TEXT.search, texts))
    if found.tests & {*own} or by_text:
        return ""
    if _reaches(map(ast.parse, texts), found, package):
        return ""
    if not any(map(_READING.search, texts)):
        return "files of tests: what they import is as it passed, and they read no file of ours"
    pages = {"words": found.words, "cells": found.cells}
    if "named" in blind:
        kept = {page for facet in pages.values() for page in facet if _says(texts[0], page)}
    else:
        kept = {page for facet in pages if facet not in blind for page in pages[facet]}
    return "" if kept or found.facets - {*pages, *blind} else f"files of tests: {why}"


def blind_to(path: Path) -> tuple[str, list[str]]:
    """Why a file of tests need not read some of what changes, and which."""
    name = path.stem.removeprefix("test_")
    rows = (row for row in BLIND.items() if name in row[1][1].split())
    why, (facets, _) = next(rows, ("", ("", "")))
    return why, facets.split()


def _says(text: str, page: str) -> bool:
    """Whether a file of tests names a page, or goes through the folder of such pages."""
    folder, _, stem = page.rpartition("/")
    return bool(re.search(rf"\b{stem}\b", text)) or f'"{folder}").glob' in text
