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
    """What opens when its line is chosen: `line` in HTML, `claim` where it is a claim's strip."""


def visit_fold(writer: Any, node: Fold) -> None:
    of = ""
    if "claim" in node:
        name = escape(node["claim"])
        of = f' id="{name}" data-claim="{name}"'
    classes = " ".join(node["classes"])
    writer.body.append(f'<details class="{classes}"{of}><summary>{node["line"]}</summary>\n')


def depart_fold(writer: Any, node: Fold) -> None:
    writer.body.append("</details>\n")


def nothing(writer: Any, node: nodes.Element) -> None:
    """In other formats a fold is what it holds."""


def fold(line: str, *classes: str, claim: str | None = None) -> Fold:
    """Return a fold.

    Args:
        line: HTML of the line that stays in view.
        classes: of the fold.
        claim: whose strip it is.
    """
    made = Fold(line=line, classes=list(classes))
    if claim:
        made["claim"] = claim
    return made


def cells(doctree: nodes.document) -> list[nodes.container]:
    """The code cells of a notebook's page, in order."""
    return [n for n in doctree.findall(nodes.container) if n.get("nb_element") == "cell_code"]


def keep_own_folds(_: Sphinx, doctree: nodes.document) -> None:
    """Let no other fold stand around ours, which have titles: MyST folds ``hide-input`` as well."""
    for cell in cells(doctree):
        cell.attributes.pop("hide_mode", None)
        cell["classes"] = [name for name in cell["classes"] if name != "tag_hide-input"]


def sort(cell: nodes.container) -> str:
    """What a cell is for: one of `SORTS`, or nothing for one that stands open."""
    tags = cell["cell_metadata"].get("tags", ())
    return next((tag for tag in tags if tag in SORTS), "")


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


def fold_code(cell: nodes.container, title: str) -> None:
    """Fold the code of a cell under its title."""
    source = part(cell, "source")
    if source is not None:
        folded = fold(escape(title), "vt-code")
        folded.extend(source.children)
        source.children = []
        source += folded


def fold_set_up(run: list[nodes.container]) -> None:
    """Put set-up cells that stand together into one fold."""
    folded = fold("Set-up", "vt-set-up")
    parent = run[0].parent
    parent.insert(parent.index(run[0]), folded)  # `replace_self` would give it the cell's classes
    for cell in run:
        parent.remove(cell)
        folded += cell


def register(app: Sphinx) -> None:
    """Make folds known to the writers."""
    others = {name: (nothing, nothing) for name in ("latex", "text", "man", "texinfo")}
    app.add_node(Fold, html=(visit_fold, depart_fold), **others)
