"""What folds on the page of a notebook: set-up, the code of checks and figures, evidence.

A fold is an HTML `<details>`: it works without scripts, by keyboard, and is found by searching.
What each cell is for stands in its tags, its title in its first line; see `make form`.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

SORTS = ("set-up", "card", "check", "figure", "folded")
_TITLE = re.compile(r"\A# @title ([^\n]*)(?:\n|\Z)")


class Fold(nodes.General, nodes.Element):
    """What opens when its line is chosen; see `fold` for its attributes."""


def visit_fold(writer: Any, node: Fold) -> None:
    of = f' id="{node["name"]}"' if "name" in node else ""
    if "claim" in node:
        of += f' data-claim="{node["claim"]}"'
    classes = " ".join(node["classes"])
    writer.body.append(f'<details class="{classes}"{of}><summary>{node["line"]}</summary>\n')
    if "name" in node:
        writer.body.append(f"<!--held {node['name']}-->\n")


def depart_fold(writer: Any, node: Fold) -> None:
    if "name" in node:
        writer.body.append("<!--/held-->\n")
    writer.body.append(f"{node['rest']}</details>\n")


def nothing(writer: Any, node: nodes.Element) -> None:
    """In other formats a fold is what it holds."""


def fold(
    line: str, *classes: str, name: str = "", claim: str | None = None, rest: str = ""
) -> Fold:
    """Return a fold.

    Args:
        line: HTML of the line that stays in view.
        classes: of the fold.
        name: its anchor, where what it holds may lie beside the page.
        claim: whose strip it is; its anchor is the claim's.
        rest: HTML that stays at its end, and shows a way where nothing else can be had.
    """
    made = Fold(line=line, classes=list(classes), rest=rest)
    if anchor := claim or name:
        made["name"] = escape(anchor)
    if claim:
        made["claim"] = escape(claim)
    return made


def cells(doctree: nodes.document) -> list[nodes.container]:
    """The code cells of a notebook's page, in order."""
    return [n for n in doctree.findall(nodes.container) if n.get("nb_element") == "cell_code"]


def keep_own_folds(_: Sphinx, doctree: nodes.document) -> None:
    """Let no other fold stand around ours, which have titles: MyST folds ``hide-input`` as well."""
    for cell in cells(doctree):
        cell.attributes.pop("hide_mode", None)
        cell["classes"] = [name for name in cell["classes"] if name != "tag_hide-input"]


def close_ranks(_: Sphinx, doctree: nodes.document) -> None:
    """Let one empty line stand between definitions, where the formatter wants two."""
    for source in filter(None, (part(cell, "source") for cell in cells(doctree))):
        for code in source.findall(nodes.literal_block):
            code.rawsource = re.sub(r"\n{3,}", "\n\n", code.rawsource)
            code.children = [nodes.Text(code.rawsource)]


def sort(cell: nodes.container) -> str:
    """What a cell is for: one of `SORTS`, or nothing for one that stands open."""
    tags = cell["cell_metadata"].get("tags", ())
    return next((tag for tag in tags if tag in SORTS), "")


def is_open(cell: nodes.container) -> bool:
    """Whether a cell derives or measures before the reader's eyes."""
    return "open" in cell["cell_metadata"].get("tags", ())


def part(cell: nodes.container, name: str) -> nodes.container | None:
    """The code of a cell ("source"), or its outputs ("output")."""
    return next((c for c in cell.children if c.get("nb_element") == f"cell_code_{name}"), None)


def take_title(cell: nodes.container) -> str:
    """Take the title out of a cell's code and return it; nothing where there is none."""
    source = part(cell, "source")
    for code in source.findall(nodes.literal_block) if source else ():
        found = _TITLE.match(code.rawsource)
        if found:
            rest = code.rawsource[found.end() :]
            code.rawsource, code.children = rest, [nodes.Text(rest)]
            return found[1]
    return ""


def fold_code(cell: nodes.container, title: str, rest: str | None) -> None:
    """Fold the code of a cell under its title; without a `rest` the code stays on the page."""
    source = part(cell, "source")
    if source is not None:
        name = "" if rest is None else f"code-{cell['cell_index']}"
        folded = fold(escape(title), "vt-code", name=name, rest=rest or "")
        folded.extend(source.children)
        source.children = []
        source += folded


def fold_set_up(run: list[nodes.container], rest: str) -> None:
    """Put set-up cells that stand together into one fold."""
    folded = fold("Set-up", "vt-set-up", name=f"code-{run[0]['cell_index']}", rest=rest)
    parent = run[0].parent
    parent.insert(parent.index(run[0]), folded)  # `replace_self` would give it the cell's classes
    for cell in run:
        parent.remove(cell)
        folded += cell


def register(app: Sphinx) -> None:
    """Make folds known to the writers."""
    others = {name: (nothing, nothing) for name in ("latex", "text", "man", "texinfo")}
    app.add_node(Fold, html=(visit_fold, depart_fold), **others)
