r"""How claims and records look: in the book, in Jupyter and in Colab.

Text is one deterministic line. HTML carries the numbers that differ from run to run inside
``<span class="vt-volatile">…</span>``, which the notebooks' tests mask. Colab typesets LaTeX in
Markdown outputs only, so there the same content is given as Markdown.
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .ledger import METADATA_KEY, line
from .registry import OWN, Reading, Statement

Bundle = tuple[dict[str, str], dict[str, Any]]

_BOX = "border-left:4px solid {colour};padding:.35em .8em;margin:.4em 0"
_COLOURS = {"card": "#64748b", "supports": "#0f766e", "contradicts": "#b45309", "other": "#6d28d9"}


def volatile(text: str) -> str:
    """Mark a text that differs from run to run."""
    return f'<span class="vt-volatile">{html.escape(text)}</span>'


def words(text: str) -> str:
    """Turn text without formulas into HTML; what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def typeset(text: str) -> str:
    r"""Turn text with ``$…$`` into HTML with ``\(…\)``."""
    parts = re.split(r"(?<!\\)\$", text)
    return "".join(
        " ".join(rf"\({html.escape(piece)}\)" for piece in breakable(part))
        if index % 2
        else words(part)
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


def in_colab() -> bool:
    """Whether this runs in Google Colab."""
    return "google.colab" in sys.modules


def card(statement: Statement, case: str | None) -> Bundle:
    """Return the output that shows a claim: what the article says and how we read it.

    Args:
        statement: the claim.
        case: show only this case of the reading.

    Returns:
        MIME bundle and output metadata.
    """
    reading = statement.reading
    plain = f"{statement.id} ({statement.kind}; {statement.where})   #{statement.fingerprint}"
    metadata = {METADATA_KEY: {"kind": "card", "claims": [statement.id]}}
    speaker = "The book" if statement.article == OWN else "The article"
    rows = [(speaker, statement.says), *_reading_rows(reading, case)]
    if in_colab():
        body = "\n\n".join(f"**{label}:** {text}" for label, text in rows)
        title = f"> **{statement.id}** · {statement.kind} · {statement.where}"
        return {"text/plain": plain, "text/markdown": f"{title}\n\n{body}"}, metadata
    lines = "".join(f"<div><b>{html.escape(a)}:</b> {typeset(b)}</div>" for a, b in rows)
    name = statement.id
    box = (
        f'<div class="vt-card" id="{name}" data-claim="{name}" data-kind="{statement.kind}" '
        f'style="{_BOX.format(colour=_COLOURS["card"])}"><div class="vt-head"><b>{name}</b> '
        f'<span class="vt-badge" data-claim="{name}"></span> <small>{statement.kind} · '
        f"{html.escape(statement.where)}</small></div>{lines}</div>"
    )
    return {"text/plain": plain, "text/html": box}, metadata


def _reading_rows(reading: Reading | None, case: str | None) -> list[tuple[str, str]]:
    if reading is None:
        return [("Our reading", "not written yet")]
    rows = [("Our reading", reading.text)]
    if reading.false_if:
        rows.append(("False if", reading.false_if))
    for name, sub in reading.cases.items():
        if case in (None, name):
            rows.append((f"Case “{name}”", sub.text))
    for name, part in {None: reading, **reading.cases}.items():
        of = f" (case “{name}”)" if name else ""
        if part.condition:
            rows.append((f"Only if{of}", part.condition))
        if part.truth:
            rows.append((f"What is true{of}", part.truth))
    return rows


def record(data: Mapping[str, Any], steps: Sequence[tuple[str, str]]) -> Bundle:
    """Return the output that shows a record.

    Args:
        data: the machine's record.
        steps: the derivation to fold out: pairs of reason and LaTeX (or text).

    Returns:
        MIME bundle and output metadata.
    """
    text = line(data)
    metadata = {METADATA_KEY: dict(data)}
    title = f"{' '.join(data['claims'])} · {data['kind']}"
    title += f" · {data['case']}" if data.get("case") else ""
    title += " · the truth" if data["of"] == "truth" else ""
    title += " · recorded" if data.get("recorded") else ""
    latex = data.get("latex")
    if in_colab():
        body = f"**{title}** {f'$${latex}$$' if latex else data['statement']}\n\n{data['detail']}"
        return {"text/plain": text, "text/markdown": body}, metadata
    colour = _COLOURS.get(data["outcome"], _COLOURS["other"])
    shown = rf"\({html.escape(latex)}\)" if latex else html.escape(data["statement"])
    parts = [
        f'<div class="vt-record vt-{data["kind"]}" data-claim="{data["claims"][0]}" '
        f'data-outcome="{data["outcome"]}" style="{_BOX.format(colour=colour)}">',
        f'<div class="vt-head"><b>{html.escape(title)}</b> {shown}</div>',
        f'<div class="vt-detail">{html.escape(data["detail"])}</div>',
        _steps(steps),
        _table(data.get("volatile", {}).get("rows", [])),
        "</div>",
    ]
    return {"text/plain": text, "text/html": "".join(parts)}, metadata


def _steps(steps: Sequence[tuple[str, str]]) -> str:
    if not steps:
        return ""
    rows = "".join(f"<li>{html.escape(why)}<br>{what}</li>" for why, what in steps)
    return f"<details><summary>derivation</summary><ol>{rows}</ol></details>"


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{html.escape(key)}</th>" for key in rows[0])
    body = "".join(
        "<tr>"
        + "".join(
            f"<td>{html.escape(value) if key == 'point' else volatile(value)}</td>"
            for key, value in row.items()
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div style="overflow-x:auto"><table class="vt-numbers"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
