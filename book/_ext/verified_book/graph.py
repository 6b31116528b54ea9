"""Which claim rests on which, as a drawing in columns: what a claim rests on stands to its left.

Every claim in it is a link; the same stands below as a list, for those who do not see it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from verified_transformer.engine.account.ledger import Entry, Ledger

WIDE, HIGH = 84, 26  # of a claim, in pixels
COLUMN, ROW = 116, 36  # from one to the next
EDGE = 8  # around all


@dataclass(frozen=True)
class Node:
    """A claim in the drawing, at its upper left corner."""

    claim: Entry
    x: int
    y: int
    here: bool  # of the chapter drawn, or the claim whose neighbours are drawn


@dataclass(frozen=True)
class Line:
    """From a claim to one that rests on it, as the path that is drawn."""

    used: str
    by: str
    path: str


@dataclass(frozen=True)
class Graph:
    """A drawing: its size, its claims and its lines."""

    width: int
    height: int
    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]


def of_article(data: Ledger, article: str) -> Graph | None:
    """The claims of an article that rest on others, and those others; None where there are none."""
    own = [c for c in data.claims if c.article == article]
    edges = [(used, c.id) for c in own for used in c.uses]
    known = {c.id: c for c in data.claims}
    return drawn(known, edges, {c.id for c in own}) if edges else None


def around(claims: Mapping[str, Entry], name: str) -> Graph | None:
    """A claim, those on which it rests and those that rest on it; None where it stands alone."""
    claim = claims[name]
    names = {name, *claim.uses, *claim.used_by}
    edges = [(used, n) for n in sorted(names) for used in claims[n].uses if used in names]
    return drawn(claims, edges, {name}) if edges else None


def drawn(claims: Mapping[str, Entry], edges: list[tuple[str, str]], here: Iterable[str]) -> Graph:
    """Lay the claims out in columns, each to the right of all on which it rests.

    Args:
        claims: all claims by their ids.
        edges: pairs of a claim and one that rests on it.
        here: the claims that are drawn as the subject.
    """
    uses: dict[str, list[str]] = {}
    for used, by in edges:
        uses.setdefault(by, []).append(used)
        uses.setdefault(used, [])
    depth: dict[str, int] = {}

    def deep(name: str) -> int:
        if name not in depth:
            depth[name] = 1 + max((deep(other) for other in uses[name]), default=-1)
        return depth[name]

    order = {name: i for i, name in enumerate(claims)}
    names = sorted(uses, key=lambda name: (deep(name), order[name]))
    columns = [[n for n in names if depth[n] == k] for k in range(max(depth.values()) + 1)]
    rows = _rows(columns, uses)
    places = {n: (EDGE + depth[n] * COLUMN, EDGE + row * ROW) for n, row in rows.items()}
    subject = set(here)
    return Graph(
        2 * EDGE + (len(columns) - 1) * COLUMN + WIDE,
        2 * EDGE + max(rows.values()) * ROW + HIGH,
        tuple(Node(claims[n], *places[n], n in subject) for n in names),
        tuple(Line(used, by, _path(places[used], places[by])) for used, by in edges),
    )


def _rows(columns: list[list[str]], uses: Mapping[str, list[str]]) -> dict[str, int]:
    """Place each claim as near as can be to the middle of those on which it rests."""
    rows: dict[str, int] = {}
    for column in columns:
        wanted = {
            n: sum(rows[u] for u in uses[n]) / len(uses[n]) if uses[n] else -1.0 for n in column
        }
        free = 0
        for name in sorted(column, key=lambda n: wanted[n]):
            rows[name] = free = max(free, round(wanted[name]))
            free += 1
    return rows


def _path(start: tuple[int, int], end: tuple[int, int]) -> str:
    (x, y), (u, v) = start, end
    x, y, v = x + WIDE, y + HIGH // 2, v + HIGH // 2
    bend = (u - x) // 2 if u - x < COLUMN else COLUMN // 2
    return f"M{x} {y}C{x + bend} {y} {u - bend} {v} {u} {v}"
