"""One line of evidence for each claim of a notebook's page, in place of its card and its records.

A strip stands after the last cell of the page that left a record of its claim; it opens to the
card, the records and the code. What a check prints stays in the flow where it is a table, that is
of two lines or more, and so does every figure and display, and a cell that stands open.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from ..account import registry
from ..account.records import notebook_records
from ..account.records.record import METADATA_KEY, Record
from ..account.rendering.readable import told
from . import folding, render
from .claims import Claims, page_uri, raw

_CARD = re.compile(r'<div class="vt-card" data-claim="([A-Z]+-\d+)"')
_RECORD = re.compile(r'<details class="vt-record[ "]')
_SIMPLE = 2  # lines of a table at least


@dataclass
class Strip:
    """What belongs to the strip of a claim.

    Attributes:
        claim: its id.
        at: the cell after which it stands.
        cards, records: outputs, taken out of their cells.
        found: the records of the page that count for it, in order.
        cells: those whose code stands in the strip.
        beside: cells in the flow that made records of it.
        shared: other claims under which a joint record of it stands.
    """

    claim: str
    at: nodes.container
    cards: list[nodes.Node] = field(default_factory=list)
    records: list[nodes.Node] = field(default_factory=list)
    found: list[Record] = field(default_factory=list)
    cells: list[nodes.container] = field(default_factory=list)
    beside: list[nodes.container] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)


def fold_page(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Fold what a sceptic wants to see, and leave what a reader wants to see."""
    all_cells = folding.cells(doctree)
    if not all_cells:
        return
    titles = {}
    for cell in all_cells:
        cell["ids"] = [f"cell-{cell['cell_index']}"]
        titles[id(cell)] = folding.take_title(cell)
    made = _strips(app, all_cells, docname)
    in_strips = {id(cell) for strip in made.values() for cell in strip.cells}
    instead = f'<a class="vt-instead" href="{_source(docname)}">in the notebook</a>'
    run: list[nodes.container] = []
    for cell in all_cells:
        of = folding.sort(cell)
        if run and (of != "set-up" or not _neighbours(run[-1], cell)):
            folding.fold_set_up(run, instead)
            run = []
        if of == "set-up" and not _kept(cell):
            run.append(cell)
        elif of and of != "card":
            folding.fold_code(cell, titles[id(cell)], None if id(cell) in in_strips else instead)
    if run:
        folding.fold_set_up(run, instead)
    _put(app, made, docname)
    for cell in all_cells:
        if folding.sort(cell) == "card" and not _kept(cell) and id(cell) not in in_strips:
            cell.parent.remove(cell)


def _neighbours(before: nodes.container, cell: nodes.container) -> bool:
    same = before.parent is cell.parent
    return same and cell.parent.index(cell) == before.parent.index(before) + 1


def _kept(cell: nodes.container) -> bool:
    """Whether a cell still has outputs."""
    outputs = folding.part(cell, "output")
    return outputs is not None and bool(outputs.children)


# ------------------------------------------------------------------ what belongs to whom


def _strips(app: Sphinx, cells: list[nodes.container], docname: str) -> dict[str, Strip]:
    """The strips of a page, their outputs taken out of the cells."""
    stored = _stored(app, docname)
    source = (Path(app.srcdir) / f"{docname}.ipynb").read_text(encoding="utf-8")
    notebook = json.loads(source)["cells"]
    made: dict[str, Strip] = {}
    for cell in cells:
        records = list(stored[cell["cell_index"]])
        stays = folding.is_open(cell)
        decides = bool(records) and not stays
        moved = _take(cell, notebook[cell["cell_index"]]["outputs"], decides)
        for name, output in moved["card"]:
            made.setdefault(name, Strip(name, cell)).cards.append(output)
        for record, (_, output) in zip(records, moved["record"], strict=True):
            for name in record.claims:
                strip = made.setdefault(name, Strip(name, cell))
                strip.found.append(record)
                strip.at = cell
                if name != record.claims[0]:
                    strip.shared.append(record.claims[0])
            made[record.claims[0]].records.append(_readable(output, record))
        owner = records[0].claims[0] if records else None
        if owner:
            made[owner].records += [output for _, output in moved["line"]]
            if stays or _kept(cell):
                for name in {name for record in records for name in record.claims}:
                    made[name].beside.append(cell)
            else:
                made[owner].cells.append(cell)
                for name in {r.claims[0] for r in records} - {owner}:
                    made[name].beside.append(cell)
    return made


def _readable(output: nodes.container, record: Record) -> nodes.container:
    shown = output.children[0]
    shown.children = [nodes.Text(render.record(shown.astext(), record))]
    shown.rawsource = shown.astext()
    return output


def _stored(app: Sphinx, docname: str) -> defaultdict[int, list[Record]]:
    found: defaultdict[int, list[Record]] = defaultdict(list)
    root = Path(app.srcdir)
    for item in notebook_records.stored_records(root / f"{docname}.ipynb", root):
        found[item.cell].append(item.record)
    return found


def _take(
    cell: nodes.container, stored: Sequence[Mapping[str, Any]], decides: bool
) -> dict[str, list[tuple[str, nodes.container]]]:
    """Take cards, records and single printed lines out of a cell, each with the claim it names.

    Args:
        cell: of the page.
        stored: the outputs of the notebook's cell; what is moved keeps its place among them.
        decides: whether the cell left records, and does not stand open.
    """
    kinds = {"stream": _is_stream, "ours": _is_ours}
    places = {
        name: iter([i for i, output in enumerate(stored) if is_one(output)])
        for name, is_one in kinds.items()
    }
    moved: dict[str, list[tuple[str, nodes.container]]] = {"card": [], "record": [], "line": []}
    outputs = folding.part(cell, "output")
    for output in list(outputs.children) if outputs else ():
        text = output.astext()
        of, name = None, ""
        stream = "stream" in output.get("classes", ())
        ours = isinstance(output, nodes.raw) and (_CARD.search(text) or _RECORD.match(text))
        place = next(places["stream" if stream else "ours"]) if stream or ours else -1
        if isinstance(output, nodes.raw) and (card := _CARD.search(text)):
            of, name = "card", card[1]
            output.children = [nodes.Text(render.card(registry.statement(name)))]
            output.rawsource = output.astext()
        elif isinstance(output, nodes.raw) and _RECORD.match(text):
            of = "record"
        elif decides and stream and _is_line(text):
            of = "line"
        if of and outputs is not None:
            outputs.remove(output)
            classes, ids = ["cell_output"], [f"cell-{cell['cell_index']}-{place}"]
            moved[of].append((name, nodes.container("", output, classes=classes, ids=ids)))
    if outputs is not None and not outputs.children:
        cell.remove(outputs)
    return moved


def _is_stream(output: Mapping[str, Any]) -> bool:
    return bool(output["output_type"] == "stream")


def _is_ours(output: Mapping[str, Any]) -> bool:
    return METADATA_KEY in output.get("metadata", {})


def _is_line(text: str) -> bool:
    return len(text.strip().splitlines()) < _SIMPLE


# ------------------------------------------------------------------ what stands on the page


def _put(app: Sphinx, made: dict[str, Strip], docname: str) -> None:
    """Put each strip after its cell, in the order of the claims, and the code into it."""
    last: dict[int, nodes.Node] = {}
    folds = {}
    for strip in made.values():
        before = last.get(id(strip.at), strip.at)
        folds[strip.claim] = last[id(strip.at)] = _folded(app, strip, docname)
        before.parent.insert(before.parent.index(before) + 1, last[id(strip.at)])
    for strip in made.values():
        for cell in strip.cells:
            cell.parent.remove(cell)
            folds[strip.claim] += cell


def _folded(app: Sphinx, strip: Strip, docname: str) -> folding.Fold:
    entry = Claims.of(app.env).by_id[strip.claim]
    words = escape(told(strip.found)) if strip.found else _elsewhere(entry.notebook)
    only = ""
    if entry.verdict == "holds-if":  # the badge says that, and this says what
        parts = [text for _, text in (*entry.conditions, *entry.inherited)]
        only = f"<em>{render.statement('; '.join(map(first_clause, parts)))}</em> · "
    line = f"<b>{strip.claim}</b> {render.badge(entry)} {only}<span>{words}</span>"
    folded = folding.fold(line, "vt-strip", claim=strip.claim, rest=_more(app, strip, docname))
    if strip.cards:
        folded.extend(strip.cards)
    else:
        folded += raw(f'<p class="vt-said">{render.statement(entry.says)}</p>')
    folded.extend(strip.records)
    return folded


def first_clause(condition: str) -> str:
    """What a condition begins with, up to a stop, colon or semicolon that is in no formula.

    “For …:” says of what it is one, and “eq. 6” has no stop.

    Example:
        >>> first_clause("The mean is 0, or $a;b$ is small; else the two differ.")
        'the mean is 0, or $a;b$ is small'
        >>> first_clause("For zeros: the norm takes eq. 3. Otherwise it fails.")
        'for zeros: the norm takes eq. 3'
    """
    clause_or_formula = r"(?:\$[^$]*\$|\beqs?\.|(?![;:]|\.(?:\s|$)).)*"
    first = re.match(rf"(?:[Ff]or [^;:.]*:)?{clause_or_formula}", condition, re.S)
    clause = first[0] if first else condition
    return clause[:1].lower() + clause[1:] if clause[1:2].islower() else clause


def _more(app: Sphinx, strip: Strip, docname: str) -> str:
    """Where a strip leads on."""
    links = [
        f'<a href="#cell-{cell["cell_index"]}">code of the check</a>'
        for cell in dict.fromkeys(strip.beside)
    ]
    links += [f'<a href="#{name}">shared with {name}</a>' for name in dict.fromkeys(strip.shared)]
    href = page_uri(app.env, strip.claim, docname)
    links.append(f'<a href="{href}">all about {strip.claim}</a>')
    return f'<p class="vt-more">{" · ".join(links)}</p>'


def _source(docname: str) -> str:
    """The stored notebook, from its page."""
    return f"{'../' * docname.count('/')}_sources/{docname}.ipynb"


def _elsewhere(notebook: str | None) -> str:
    return "decided in another section" if notebook else "not decided yet"
