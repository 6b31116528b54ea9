"""What rests on what, as a drawing in columns: what a claim, or a section, rests on is to its left.

Each of them is a link; the same stands below as a list, for those who do not see it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..account.ledger import Entry, Ledger

T = TypeVar("T")  # a claim, or a section
WIDE, HIGH = 84, 26  # of each, in pixels
COLUMN, ROW = 116, 36  # from one to the next
EDGE = 8  # around all


@dataclass(frozen=True)
class Node(Generic[T]):
    """What is drawn, at its upper left corner."""

    of: T
    x: int
    y: int
    here: bool  # the subject: of the chapter drawn, or the claim whose neighbours are drawn


@dataclass(frozen=True)
class Line:
    """From one to another that rests on it, as the path that is drawn."""

    used: str
    by: str
    path: str


@dataclass(frozen=True)
class Graph(Generic[T]):
    """A drawing: its size, what it shows, and its lines."""

    width: int
    height: int
    nodes: tuple[Node[T], ...]
    lines: tuple[Line, ...]


def of_article(data: Ledger, article: str) -> Graph[Entry] | None:
    """The claims of an article that rest on others, and those others; None where there are none."""
    own = [c for c in data.claims if c.article == article]
    edges = [(used, c.id) for c in own for used in c.uses]
    known = {c.id: c for c in data.claims}
    return drawn(known, edges, {c.id for c in own}) if edges else None


def around(claims: Mapping[str, Entry], name: str) -> Graph[Entry] | None:
    """A claim, those on which it rests and those that rest on it; None where it stands alone."""
    claim = claims[name]
    names = {name, *claim.uses, *claim.used_by}
    edges = [(used, n) for n in sorted(names) for used in claims[n].uses if used in names]
    return drawn(claims, edges, {name}) if edges else None


def drawn(known: Mapping[str, T], edges: list[tuple[str, str]], here: Iterable[str]) -> Graph[T]:
    """Lay claims or sections out in columns, each to the right of all on which it rests.

    Args:
        known: all of them by their names, in their order.
        edges: pairs of one and another that rests on it.
        here: those that are drawn as the subject.
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

    order = {name: i for i, name in enumerate(known)}
    names = sorted(uses, key=lambda name: (deep(name), order[name]))
    columns = [[n for n in names if depth[n] == k] for k in range(max(depth.values()) + 1)]
    rows = _rows(columns, uses)
    places = {n: (EDGE + depth[n] * COLUMN, EDGE + row * ROW) for n, row in rows.items()}
    subject = set(here)
    return Graph(
        2 * EDGE + (len(columns) - 1) * COLUMN + WIDE,
        2 * EDGE + max(rows.values()) * ROW + HIGH,
        tuple(Node(known[n], *places[n], n in subject) for n in names),
        tuple(Line(used, by, _path(places[used], places[by])) for used, by in edges),
    )


def _rows(columns: list[list[str]], uses: Mapping[str, list[str]]) -> dict[str, int]:
    """Place each as near as can be to the middle of those on which it rests."""
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
