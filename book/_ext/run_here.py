"""Cells that derive run in the published page: Python and SymPy lie beside the book.

`make kernel` fetches what is pinned here into `.kernel/`; the build lays it under `_static/kernel/`
with the library's own files. Where it is not there, the book builds without, and has no button.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "packages/verifiedbook/src/verifiedbook"
for sources in (ROOT / "src", ROOT / "experiments", ENGINE.parent):
    sys.path.insert(0, str(sources))  # none need be installed

CACHE = ROOT / ".kernel"
PYODIDE, TEMML = "pyodide-314.0.6.tgz", "temml-0.13.5.tgz"
ARCHIVES = {  # with the SHA-256 of each; SymPy and mpmath as in requirements.txt
    PYODIDE: "d78ac549b28a2a58600cd06f44e017024151775f8c6b2d73fab1475400d38ea2",
    # TeX to MathML in a page: what a cell displays there was not there when the book was built.
    TEMML: "bca5b76dd26d1d6c81f8d817f6cc8bf0f0a1a7787512e281d5c22b986f8ae582",
    "sympy-1.14.0-py3-none-any.whl": (
        "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5"
    ),
    "mpmath-1.3.0-py3-none-any.whl": (
        "a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c"
    ),
}
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
LOCK = "pyodide-lock.json"
CONVERTER = "temml.min.js"
PARTS = ("account", "checks", "exact", "sampling", "commands/notebooks")  # of the engine
HELPERS = ("lazy_loader", "jinja2", "markupsafe")  # in plain Python, from this environment
WHEELS = [name for name in ARCHIVES if name.endswith(".whl")]


def fetched() -> bool:
    """Return whether all archives are there, as they are pinned."""
    return all(
        (CACHE / name).is_file()
        and hashlib.sha256((CACHE / name).read_bytes()).hexdigest() == sha256
        for name, sha256 in ARCHIVES.items()
    )


def fetch() -> str:
    """Fetch what is missing, by npm and pip.

    Returns:
        Nothing, or in a line why the pages will have no button.
    """
    if fetched():
        return ""
    CACHE.mkdir(exist_ok=True)
    packages = [name.removesuffix(".tgz").replace("-", "@") for name in (PYODIDE, TEMML)]
    wheels = ["==".join(name.split("-")[:2]) for name in WHEELS]
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "-q"]
    npm = ["npm", "pack", *packages, "--silent", "--fetch-retries=0"]
    try:
        for command in (npm, [*pip, "--retries=0", "--timeout=20", "-d", ".", *wheels]):
            subprocess.run(command, cwd=CACHE, check=True, capture_output=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{Path(str(command[0])).name} could not fetch it ({type(error).__name__})"
    return "" if fetched() else "what was fetched has another SHA-256 than the one pinned"


def derivations(app: Any, pagename: str) -> tuple[list[str], list[int]]:
    """Return the code cells of a page, and the places of those that can run in it."""
    from verifiedbook.commands.notebooks.in_page import derives

    file = Path(app.srcdir) / f"{pagename}.ipynb"
    if not file.is_file():
        return [], []
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    codes = [cell for cell in cells if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in codes]
    tags = [cell["metadata"].get("tags", ()) for cell in codes]
    places = [n for n, source in enumerate(sources) if derives(source, tags[n])]
    return sources, places


def lay_down(app: Any) -> None:
    """Write Python, SymPy and the library beside the pages."""
    app.runs_here = fetched()
    if not app.runs_here:
        return
    target = Path(app.outdir) / "_static" / "kernel"
    target.mkdir(parents=True, exist_ok=True)
    with tarfile.open(CACHE / PYODIDE) as archive:
        for name in (*CORE, LOCK):
            member = archive.extractfile(f"package/{name}")
            assert member is not None
            data = member.read()
            if name == LOCK:  # of the distribution's packages none is used
                data = json.dumps(json.loads(data) | {"packages": {}}).encode()
            (target / name).write_bytes(data)
    with tarfile.open(CACHE / TEMML) as archive:
        converter = archive.extractfile(f"package/dist/{CONVERTER}")
        assert converter is not None
        (target / CONVERTER).write_bytes(converter.read())
    for name in WHEELS:
        (target / name).write_bytes((CACHE / name).read_bytes())
    with zipfile.ZipFile(target / "library.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in sorted(_library()):
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)


def _library() -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files that a derivation needs."""
    from verifiedbook.account.registry import contents

    source = ROOT / "src" / "verified_transformer"
    files = {source.parent: [*source.glob("*.py*"), *source.glob("engine/*.py*")]}
    files[ROOT / "experiments"] = [ROOT / "experiments/long_runs/__init__.py"]
    files[ENGINE.parent] = [*ENGINE.glob("*.py*"), ENGINE / "commands/__init__.py"]
    for part in PARTS:
        files[ENGINE.parent] += [*(ENGINE / part).rglob("*.py"), *(ENGINE / part).rglob("*.html")]
    for root, found in files.items():
        for file in found:
            if file.is_file():
                yield file.relative_to(root).as_posix(), file.read_bytes()
    for file in (source / "book" / "claims").glob("*.yaml"):  # the page has no PyYAML
        text = json.dumps(contents(file), ensure_ascii=False, default=str)
        yield f"verified_transformer/book/claims/{file.stem}.json", text.encode()
    for helper in HELPERS:
        spec = importlib.util.find_spec(helper)
        assert spec and spec.origin
        for file in Path(spec.origin).parent.glob("*.py"):
            yield f"{helper}/{file.name}", file.read_bytes()


def offer(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Give the script to a page with a derivation, and lay the page's cells beside it."""
    if not app.runs_here or doctree is None:
        return
    sources, places = derivations(app, pagename)
    if not places:
        return
    cells = f"{pagename.replace('/', '.')}.json"
    kernel = Path(app.outdir) / "_static" / "kernel"
    text = json.dumps({"codes": sources, "open": places}, ensure_ascii=False)
    (kernel / cells).write_text(text, encoding="utf-8")
    app.add_js_file("run_here.js", loading_method="defer", **{"data-cells": cells})


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", lay_down)
    app.connect("html-page-context", offer)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    if reason := fetch():
        print(f"The pages will have no button “Run it here”: {reason}.")
