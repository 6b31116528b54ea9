"""`form`: what each code cell is for, written into the notebooks: tags and titles.

The book folds cells by their tag, JupyterLab by ``source_hidden``, Colab by ``cellView: form`` and
the title in the first line. A cell that teaches stands open, and so does one with the tag ``open``,
which derives or measures before the reader's eyes; one of more than `_LONGEST` lines folds under a
title, and so does one with the tag ``result``, of which only the result is to be read. An exercise
is a line to answer in, open in JupyterLab, a form in Colab; its page has a line of its own.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...account import ledger, questions
from ...account.records.record import METADATA_KEY
from ...writing import write_whole
from . import cell_kinds

_LONGEST = 16  # lines of a cell that stands open
OPEN = "open"  # the tag of a cell that stands open though it decides a claim
TITLE = 64  # letters
RESULT = "result"  # the tag of a cell that folds however short it is: read what it prints
FOLDED = "folded"  # the tag of a teaching cell that is too long to stand open
_TITLE = re.compile(r"\A#\s*@title[^\n]*(?:\n|\Z)")
_HIDDEN, _REMOVED = "hide-input", "remove-input"  # MyST's and Jupyter Book's own words
_HIDES = {"cellView": "form", "jupyter": {"source_hidden": True}}
Cell = dict[str, Any]


def write_forms(root: Path) -> int:
    """Give every notebook its form, and name those that changed."""
    for notebook in ledger.notebooks(root):
        text = notebook.read_text(encoding="utf-8")
        new = formed(text)
        if new != text:
            write_whole(notebook, new)
            print(notebook.relative_to(root))
    return 0


def formed(text: str) -> str:
    """Return a notebook's JSON with the form that its cells should have."""
    book = json.loads(text)
    heading, about = "", [""]
    for cell in book["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            heading = _last_heading(source) or heading
            continue
        code = bare(source)
        outputs = cell.get("outputs", ())
        about = _decided(outputs) or cell_kinds.claims(code) or about
        tags = cell["metadata"].get("tags", ())
        folds = RESULT in tags
        of, title = ("teach", None) if OPEN in tags else form(code, outputs, about, heading, folds)
        if of == "figure" and (name := cell_kinds.exercised(code)):
            code, shows = _exercise(name)
            cell["metadata"] = _metadata(cell["metadata"], of, shows, _REMOVED)
        else:
            shows = _HIDES if title is not None else {}
            cell["metadata"] = _metadata(cell["metadata"], of, shows)
        whole = f"# @title {title}\n{code}" if title else code
        cell["source"] = whole.splitlines(keepends=True)
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"


def bare(source: str) -> str:
    """Return a cell's code without its title."""
    return _TITLE.sub("", source, count=1)


def form(
    code: str, outputs: Sequence[Cell], about: Sequence[str], heading: str, folds: bool = False
) -> tuple[str, str | None]:
    """Return the kind of a cell, and the title under which it folds, if it does.

    Args:
        about: ids of the claims that it decides, or of the last ones that were named.
        folds: whether a short cell that teaches folds as well.
    """
    of = cell_kinds.kind(code)
    if of == "set-up":
        return of, "Set-up"
    if of == "card":
        return of, f"Claim: {_listed(about)}"
    if of == "check":
        breaks = not _decided(outputs)
        return of, f"{'Break it' if breaks else 'Check'}: {_listed(about)}"
    if of == "figure" and (name := cell_kinds.exercised(code)):
        return of, f"Exercise {name}"
    if of == "figure":
        return of, _cut(f"Figure: {_axes(outputs) or heading}")
    if len(code.splitlines()) <= _LONGEST and not folds:
        return of, None
    defined = (ast.FunctionDef, ast.ClassDef)
    names = [node.name for node in cell_kinds.parsed(code).body if isinstance(node, defined)]
    return of, _cut(f"Code: {', '.join(names) or heading}")


def _exercise(name: str) -> tuple[str, Cell]:
    """The code of an exercise's cell, and the metadata with which it is shown."""
    asked = questions.question(name)
    if asked.kind == "open":
        return f'exercise("{name}")', _HIDES
    if asked.kind == "function":
        return f'exercise("{name}").answer()  # your function between the brackets', {}
    takes = json.dumps(["", *asked.choices]) if asked.choices else '{type:"string"}'
    code = f'answer = ""  # @param {takes}\nexercise("{name}").answer(answer)'
    return code, {"cellView": "form"}


def _metadata(old: Cell, of: str, shows: Cell, hidden: str = _HIDDEN) -> Cell:
    ours = {*cell_kinds.CELL_KINDS, FOLDED, _HIDDEN, _REMOVED}
    tags = [tag for tag in old.get("tags", ()) if tag not in ours]
    tags += [FOLDED if of == "teach" else of, hidden] if shows or hidden == _REMOVED else []
    kept = {key: value for key, value in old.items() if key not in (*_HIDES, "tags")}
    made = kept | ({"tags": tags} if tags else {}) | shows
    return dict(sorted(made.items()))


def _last_heading(markdown: str) -> str:
    found = re.findall(r"(?m)^#+ +(.+?)\s*$", markdown)
    return re.sub(r"[$`*\\{}]", "", found[-1]) if found else ""


def _decided(outputs: Sequence[Cell]) -> list[str]:
    records = [output.get("metadata", {}).get(METADATA_KEY) for output in outputs]
    return list(dict.fromkeys(name for record in records if record for name in record["claims"]))


def _listed(ids: Sequence[str]) -> str:
    return ", ".join(ids) if len(ids) < 6 else f"{ids[0]} … {ids[-1]}"


def _axes(outputs: Sequence[Cell]) -> str:
    """What a figure shows, from the line that describes it."""
    for output in outputs:
        told = "".join(output.get("data", {}).get("text/plain", ""))
        if told.startswith("Figure. "):
            axes = re.split(r"[:;]", told.removeprefix("Figure. "))[0].strip()
            return "" if axes.startswith("–") else axes.replace(" over ", " against ")
    return ""


def _cut(title: str) -> str:
    return title if len(title) <= TITLE else f"{title[:TITLE].rsplit(' ', 1)[0].rstrip(',')} …"
