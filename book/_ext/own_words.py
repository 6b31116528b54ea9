"""A mark behind each own word of a page, which opens what decides it; and the list of them all.

What decides them stands beside the texts, in ``.words``; a reader who opens no mark sees a dot.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from reading.state import own_words
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from verifiedbook.account.rendering import plain
from verifiedbook.account.words.cutting import flow
from verifiedbook.account.words.rows import Row, read_rows
from verifiedbook.account.words.support import SUFFIX, UNASKED, all_rows, kind_of
from verifiedbook.sphinx.claims import Claims, page_uri, raw
from verifiedbook.sphinx.html_nodes import rewrite

_MARK = re.compile(r'<wbr class="vt-own" data-own="(\S*) (\d+)">')
_CLAIM = re.compile(r"\b[A-Z]{3,5}-\d{2,}\b")
_SEAL = re.compile(r"#[0-9a-f]{6}\b")
_PLACE = re.compile(r"(?:in )?notebooks/(\d+)-[^/]*/(\d+)-")
_ROLE = re.compile(r"\{[\w:]+\}(?=`)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)|\*\*|`")


def marked(markdown: str, rows: Sequence[Row], name: str) -> str:
    """Return a text with a mark behind the words of each row that somebody decides.

    Example:
        >>> marked("It is so. Why?", [Row("It is so.", ("LOSS-14",))], "a")
        'It is so.<wbr class="vt-own" data-own="a 0"> Why?'
    """
    line, place, ends = flow(markdown), 0, []
    for number, row in enumerate(rows):
        at = line.text.find(row.says, place)
        if at >= 0:
            place = at + len(row.says)
            ends += [(line.places[place - 1] + 1, number)] if told(row) else []
    for end, number in reversed(ends):
        mark = f'<wbr class="vt-own" data-own="{name} {number}">'
        if markdown[:end].endswith(("$$", "```")):
            mark = f"\n\n{mark}\n\n"
        elif markdown[:end].endswith("|"):
            end -= 1
        markdown = markdown[:end] + mark + markdown[end:]
    return markdown


def told(row: Row) -> bool:
    """Whether somebody or something decides a row, which a reader may want to see."""
    return not {*map(kind_of, row.by)} <= UNASKED - {"a claim"}


def put_marks(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the marks into a page that is about to be read."""
    path = Path(app.env.doc2path(docname))
    beside = path.with_suffix(SUFFIX)
    if not beside.is_file():
        return
    app.env.note_dependency(str(beside))
    rows = read_rows(beside.read_text(encoding="utf-8"))
    if path.suffix == ".md":
        source[0] = marked(source[0], rows.get("", ()), "")
        return
    book = json.loads(source[0])
    for cell in book["cells"]:
        if found := rows.get(cell["id"]):
            cell["source"] = marked("".join(cell["source"]), found, cell["id"])
    source[0] = json.dumps(book)


def newly_worded(app: Sphinx, env: BuildEnvironment, *_: set[str]) -> list[str]:
    """Return the pages that have got own words since they were read."""
    beside = {page: Path(env.doc2path(page)).with_suffix(SUFFIX) for page in env.found_docs}
    return [page for page, path in beside.items()
            if path.is_file() and str(path) not in env.dependencies.get(page, ())]  # fmt: skip


def fill_marks(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Let each mark open what decides its words."""
    beside = Path(app.env.doc2path(docname)).with_suffix(SUFFIX)
    rows = read_rows(beside.read_text(encoding="utf-8")) if beside.is_file() else {}
    to = partial(page_uri, app.env, docname=docname)

    def filled(html: str) -> str:
        return _MARK.sub(lambda m: _opened(rows[m[1]][int(m[2])], f"own-{m[1]}-{m[2]}"), html)

    def _opened(row: Row, id: str) -> str:
        parts = [_decided(row, Claims.of(app.env).by_id, to)]
        parts += [f"In: {escape(row.within)}."] if row.within else []
        parts += [f"False if {escape(row.false_if)}."] if row.false_if else []
        said = "".join(f"<span>{part}</span>" for part in parts)
        return (
            f'<button type="button" class="vt-own" popovertarget="{id}" aria-label="What decides '
            f'this">∘</button><span popover class="vt-own-said" id="{id}">{said}</span>'
        )

    rewrite(doctree, "vt-own", filled)


def _decided(row: Row, known: Mapping[str, Any], to: Any) -> str:
    """What decides a row, its claims as links with their verdicts."""

    def link(found: re.Match[str]) -> str:
        claim = known.get(found[0])
        text = f"{found[0]} {claim.verdict}" if claim else found[0]
        return f'<a href="{to(found[0])}">{text}</a>' if claim else text

    kinds = ", ".join(dict.fromkeys(kind_of(by) for by in row.by))
    plain_by = (
        _PLACE.sub(r"of \1.\2, ", _SEAL.sub("", by)).removesuffix(".ipynb") for by in row.by
    )
    by = "; ".join(_CLAIM.sub(link, escape(one)) for one in plain_by)
    return f"Decided by {kinds}: {by}."


def _said(row: Row) -> str:
    """A row's words without roles, links and marks."""
    return _LINK.sub(r"\1", plain.text(_ROLE.sub("", row.says)))


class OwnWords(SphinxDirective):
    """The own words of all sections and pages, with what decides each."""

    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        root, to = Path(self.env.srcdir), partial(page_uri, self.env)
        known, made = Claims.of(self.env).by_id, []
        for path, found in all_rows(root).items():
            self.env.note_dependency(str(path))
            rows = [row for cell in found.values() for row in cell]
            title = _PLACE.sub(r"\1.\2 ", path.relative_to(root).as_posix()).replace("-", " ")
            title = title.removeprefix("book/").removesuffix(SUFFIX)
            lines = [(_said(row), _decided(row, known, to), escape(row.false_if))
                     for row in rows if told(row)]  # fmt: skip
            body = "".join(
                f"<tr><td>{escape(said)}</td><td>{by}</td><td>{never}</td></tr>"
                for said, by, never in lines
            )
            made.append(
                f'<details class="vt-own-list"><summary>{escape(title)}: {len(lines)}</summary>'
                '<table class="table"><thead><tr><th>Words</th><th>What decides them</th>'
                f"<th>False if</th></tr></thead><tbody>{body}</tbody></table></details>"
            )
        return [raw(own_words(root) + "".join(made))]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("own-words", OwnWords)
    app.connect("env-get-outdated", newly_worded)
    app.connect("source-read", put_marks)
    app.connect("doctree-resolved", fill_marks)
    app.add_css_file("own_words.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
