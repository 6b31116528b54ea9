r"""How claims and records look: in the book, in Jupyter and in Colab.

Text is one deterministic line. HTML carries the numbers that differ from run to run inside
``<span class="vt-volatile">…</span>``, which the notebooks' tests mask. Colab typesets no LaTeX in
HTML, so that formulas are letters, signs, raised and lowered parts; the book typesets them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import evidence
from ..reading import Reading
from ..records.ran import ran_in_words
from ..records.record import METADATA_KEY, Record, to_json
from ..registry import OWN, Statement
from . import plain
from .readable import readable, readable_head, told

if TYPE_CHECKING:
    from jinja2 import Environment

Bundle = tuple[dict[str, str], dict[str, Any]]

_BOX = "border-left:4px solid {colour};padding:.1em .7em"
_MARKS = {"supports": "✓", "meets": "✓", "contradicts": "✗", "unsettled": "?"}
_TEMPLATES = Path(__file__).with_name("templates")


@cache
def templates() -> Environment:
    """The templates of the outputs; whatever they show is escaped."""
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    environment = Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=True)
    environment.filters["plain"] = lambda text: Markup(plain.html(text))
    environment.filters["volatile"] = lambda text: Markup(volatile(text))
    return environment


def volatile(text: str) -> str:
    """Mark a text that differs from run to run."""
    return f'<span class="vt-volatile">{escape(text)}</span>'


def _as_html(text: str) -> str:
    """Turn text without formulas into HTML; what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def in_brackets(maths: str) -> str:
    r"""Return LaTeX as HTML with ``\(…\)`` around it, which the book typesets."""
    return rf"\({escape(maths)}\)"


def typeset(text: str, formula: Callable[[str], str] = in_brackets) -> str:
    """Turn text with ``$…$`` into HTML."""
    parts = re.split(r"(?<!\\)\$", text)
    return "".join(
        " ".join(map(formula, breakable(part))) if index % 2 else _as_html(part)
        for index, part in enumerate(parts)
    )


def breakable(maths: str) -> list[str]:
    """Cut a long chain before its outer equality signs, so that it wraps on a phone."""
    depth, start, pieces = 0, 0, []
    for mark in re.finditer(r"\\left\b|\\right\b|\\[{}]|[{}=]", maths):
        token = mark.group()
        depth += {"{": 1, r"\left": 1, "}": -1, r"\right": -1}.get(token, 0)
        if token == "=" and depth == 0 and mark.start() - start > 12 and len(maths) > 60:
            pieces.append(maths[start : mark.start()])
            start = mark.start()
    return [piece if not i else "{}" + piece for i, piece in enumerate([*pieces, maths[start:]])]


def card(statement: Statement, case: str | None) -> Bundle:
    """Return the output that shows a claim: what the article says, and folded how we read it."""
    (_, says), *more = rows(statement, case)
    shown = (
        templates()
        .get_template("card.html")
        .render(claim=statement, says=says, rows=more, box=_BOX.format(colour=evidence.GREY.line))
    )
    text = f"{statement.id} ({statement.kind}; {statement.where})   #{statement.hash}"
    metadata = {METADATA_KEY: {"kind": "card", "claims": [statement.id]}}
    return {"text/plain": text, "text/html": shown}, metadata


def rows(statement: Statement, case: str | None = None) -> list[tuple[str, str]]:
    """Return what there is to say of a claim, as pairs of label and text with ``$latex$``.

    Raises:
        ValueError: the reading has no such case.
    """
    reading = statement.reading
    known = reading.cases if reading else {}
    if case is not None and case not in known:
        accepted = ", ".join(known) or "none"
        raise ValueError(f"case: {statement.id} has no {case!r}; accepted: {accepted}")
    speaker = "The book" if statement.article == OWN else "The article"
    return [(speaker, statement.says), *_reading_rows(reading, case)]


def _reading_rows(reading: Reading | None, case: str | None) -> list[tuple[str, str]]:
    if reading is None:
        return [("Our reading", "not written yet")]
    rows = [
        ("Our reading", reading.told),
        ("The article's setting", reading.setting),
        ("False if", reading.false_if),
        *((f"Case “{name}”", sub.told) for name, sub in reading.cases.items()
          if case in (None, name)),
    ]  # fmt: skip
    for of_case, part in reading.parts.items():
        of = f" (case “{of_case}”)" if of_case else ""
        rows += [
            (f"Only if{of}", part.condition),
            (f"Met in the setting{of}", part.met_by),
            (f"What is true{of}", part.truth),
        ]
    return [(label, text) for label, text in rows if text]


def title(found: Record) -> str:
    """Return of which claims a record is, and what sort of evidence."""
    parts = [" ".join(found.claims), evidence.KINDS[found.kind].label, found.case]
    parts += ["the truth" * (found.of == "truth"), "recorded" * bool(found.recorded)]
    return " · ".join(filter(None, parts))


def record_output(found: Record) -> Bundle:
    """Return the output that shows a record: a line, which opens to what was found."""
    shown = templates().get_template("record.html").render(
        record=found, title=title(found), words=told([found]), mark=_MARKS.get(found.outcome, "·"),
        head=readable_head(found.latex, found.statement), detail=readable(found.full_detail),
        box=_BOX.format(colour=evidence.KINDS[found.kind].colour.line),
        rows=found.volatile.rows, ran=ran_in_words(found.ran), versions=found.volatile.versions,
    )  # fmt: skip
    return {"text/plain": found.line, "text/html": shown}, {METADATA_KEY: to_json(found)}
