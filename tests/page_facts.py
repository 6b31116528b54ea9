"""What a built page shows of the claims: read off its HTML, by the classes that the templates give.

Texts are compared without blanks, and formulas without their delimiters, so that nothing here
depends on how the templates break lines or how a formula is marked; see `folded_parts.parsed`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, CData, NavigableString, Tag

# What the page adds to the cells' code and outputs.
ADDED = frozenset({"vt-badge", "vt-number", "vt-instead", "vt-answer", "vt-answer-call"})
ID = re.compile(r"[A-Z]+-\d+\Z")
BOXES = {
    "row": "vt-row", "erratum": "vt-erratum", "correction": "vt-pair", "result": "vt-result",
    "page": "vt-claim", "part": "vt-part", "condition": "vt-condition", "short": "vt-short",
    "graded": "vt-erratum", "errata": "vt-errata-part", "counted": "vt-counted",
    "graph": "vt-graph", "edges": "vt-graph",
}  # fmt: skip


@dataclass(frozen=True)
class Badge:
    """A verdict as it stands on a page."""

    claim: str
    text: str
    classes: frozenset[str]
    title: str | None


@dataclass(frozen=True)
class Cell:
    """What a page shows of a cell of its notebook.

    Attributes:
        index: in the notebook.
        code: without its title.
        title: under which the code folds.
        kept: its outputs in the flow, as one text.
        moved: its outputs that stand in strips, by their place among its outputs.
    """

    index: int = -1
    code: str | None = None
    title: str | None = None
    kept: str = ""
    moved: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """What a page shows of the claims.

    Attributes:
        badges: the verdicts of claims.
        stray: texts of badges that belong to no claim, no tally and no table.
        tallies: texts of the sums.
        boxes: by kind of box, its claim and its text: rows of the ledger, errata, corrections, the
            heads of teasers, conditions and their beginnings, whole pages of claims; the grade of
            an erratum and the heading that it stands under; a section's claims, by its number; an
            article's errata in short, by its key; a drawing of what rests on what, and its list.
        lines: lines of records, with the address to which each leads, if it does.
        links: text and address of the links that name a claim; of those that a role makes, the
            claim of the badge that follows, or nothing.
        places: anchors that are the name of a claim, with the claim that stands there.
        tables: texts of the tables of verdicts and of evidence.
        cells: of a notebook, what it shows of each cell.
        strips: of each claim, its line of evidence, and the claims of the records that it holds.
        pictures: of a notebook, the sources of the pictures in its outputs.
        title: the page's own.
        found: on a claim's page, the code and the tables of its checks.
    """

    badges: tuple[Badge, ...] = ()
    stray: tuple[str, ...] = ()
    tallies: tuple[str, ...] = ()
    boxes: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    lines: tuple[tuple[str, str | None], ...] = ()
    links: tuple[tuple[str, str, str | None], ...] = ()
    places: tuple[tuple[str, str | None], ...] = ()
    tables: tuple[str, ...] = ()
    cells: tuple[Cell, ...] = ()
    strips: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    pictures: tuple[str, ...] = ()
    title: str = ""
    found: tuple[str, ...] = ()


def bare(text: str) -> str:
    r"""A text without blanks, code marks and the delimiters of its formulas.

    >>> bare(r"a $b\_c$ and `d`") == bare(r"a \(b\_c\) and d")
    True
    """
    text = re.sub(r"\\[()[\]]|(?<!\\)\$|`|\\(?:begin|end)\{split\}", "", text)
    return re.sub(r"\s+|\{\}", "", text)


def named(href: str) -> str:
    """The claim that an address names: its own page, or a place on another.

    >>> named("../claims/LOSS-14.html"), named("ledger.html?chapter=3#LOSS-14")
    ('LOSS-14', 'LOSS-14')
    """
    path, mark, anchor = href.partition("#")
    return unquote(anchor) if mark else PurePosixPath(urlsplit(path).path).stem


def letters(text: str) -> str:
    """What is left of a text when signs and their places do not count: letters, digits, relations.

    >>> letters("√(a+b)/2 ≤ σ⁴") == letters("a+b2≤4")
    True
    """
    text = unicodedata.normalize("NFKD", text.replace("−", "-").replace("≠", "!="))
    return re.sub(r"[^A-Za-z0-9+=<>≤≥!-]", "", text)


def of_latex(text: str) -> str:
    r"""A statement of which `letters` takes what it takes of its plain text.

    >>> letters(of_latex(r"if $\frac{\tanh x}{2}\le \boldsymbol{w}^2$"))
    'iftanhx2≤w2'
    """
    parts = re.split(r"(?<!\\)\$", text)
    for i in range(1, len(parts), 2):
        made = re.sub(r"\\(begin|end)\{[a-z]+\}|\\sqrt\[\d\]", "", parts[i])
        for sign, names in {"≤": "leq?", "≥": "geq?", "≠": "neq?"}.items():
            made = re.sub(rf"\\{names}(?![a-z])", sign, made)
        made = re.sub(r"\\top(?![a-z])", "T", made)
        made = re.sub(r"\\ell(?![a-z])", "l", made)
        named = r"\\(log|ln|exp|min|max|sup|inf|tanh|sin|cos|arccos|det)(?![a-z])"
        made = re.sub(named, r" \1 ", made)
        parts[i] = re.sub(r"\\[A-Za-z]+", "", made)
    return "".join(parts)


def facts(soup: BeautifulSoup) -> Facts:
    """Read off what a page shows."""
    of: defaultdict[str, list[Tag]] = defaultdict(list)  # one walk: a search for each costs more
    anchors, links = [], []
    for tag in soup.find_all(True):
        for name in tag.get("class") or ():
            of[name].append(tag)
        if ID.match(tag.get("id") or ""):
            anchors.append(tag)
        if tag.name == "a" and tag.get("href"):
            links.append(tag)
    apart = [b for b in of["vt-badge"] if not b.get("data-claim")]
    return Facts(
        badges=tuple(_badge(b) for b in of["vt-badge"] if b.get("data-claim")),
        stray=tuple(
            b.get_text() for b in apart if not b.find_parent(class_=("vt-decided", "vt-plain"))
        ),
        tallies=tuple(map(_bare, of["vt-decided"])),
        boxes={kind: tuple(_box(kind, t) for t in of[name]) for kind, name in BOXES.items()},
        lines=tuple(_line(code) for code in of["vt-line"]),
        links=tuple(link for tag in links for link in _claim_link(tag)),
        places=tuple((tag["id"], _standing_at(tag)) for tag in anchors),
        tables=tuple(_bare(t) for t in of["vt-plain"] if t.name == "table"),
        cells=_cells(of),
        strips=tuple(_strip(tag) for tag in of["vt-strip"]),
        title=next((h.get_text().rstrip("#") for h in soup.find_all("h1")), ""),
        found=tuple(_bare(t) for part in of["vt-found"] for t in part.find_all(["pre", "table"])),
        pictures=tuple(i["src"] for out in of["cell_output"] for i in out.find_all("img")),
    )


def _cells(of: dict[str, list[Tag]]) -> tuple[Cell, ...]:
    """The cells of a page: their code, and their outputs, some of which stand in strips."""
    made: defaultdict[int, Cell] = defaultdict(Cell)
    for tag in of["cell"]:
        index = int(tag["id"].removeprefix("cell-"))
        for part in tag.find_all("div", recursive=False):
            classes = set(part.get("class") or ())
            line = part.find("summary")
            title = _bare(line) if line and "cell_input" in classes else made[index].title
            if "cell_input" in classes:
                made[index] = replace(made[index], code=_shown(part, line), title=title)
            if "cell_output" in classes:
                made[index] = replace(made[index], kept=_shown(part))
    for tag in of["cell_output"]:
        if tag.get("id"):
            index, place = map(int, tag["id"].split("-")[1:])
            moved = made[index].moved | {place: _shown(tag)}
            made[index] = replace(made[index], moved=moved)
    return tuple(replace(cell, index=index) for index, cell in sorted(made.items()))


def _shown(part: Tag, but: Tag | None = None) -> str:
    """A text without what the page adds to what is stored: titles, verdicts, lines to answer in.

    Numbers of figures and captions of plots are added, too.
    """

    def stored(tag: Tag) -> Iterator[str]:
        for child in tag.children:
            if not isinstance(child, Tag):
                if type(child) in (NavigableString, CData):
                    yield child
            elif child is not but and not _added(child):
                yield from stored(child)

    return bare("".join(stored(part)))


def _added(tag: Tag) -> bool:
    classes = tag.get("class") or ()
    caption = tag.name == "figcaption" and "vt-plot" in (tag.parent.get("class") or ())
    return caption or not ADDED.isdisjoint(classes)


def _strip(tag: Tag) -> tuple[str, str, tuple[str, ...]]:
    records = tag.find_all(class_="vt-record")
    of = tuple(record["data-claim"] for record in records)
    return tag["data-claim"], _bare(tag.find("summary")), of


def _bare(tag: Tag) -> str:
    return bare(tag.get_text())


def _badge(tag: Tag) -> Badge:
    return Badge(tag["data-claim"], tag.get_text(), frozenset(tag["class"]), tag.get("title"))


def _box(kind: str, tag: Tag) -> tuple[str, str]:
    if kind == "result":  # our own words stand before the head
        head = tag.find("p", class_="vt-head")
        lines = tag.find("ul", class_="vt-lines")
        return head.get_text().split()[0], _bare(head) + (_bare(lines) if lines else "")
    if kind == "page":  # what it shows of a notebook is held against that
        found = {id(s) for part in tag.find_all(class_="vt-found") for s in part.strings}
        return tag.get("data-claim", ""), bare(
            "".join(s for s in tag.strings if id(s) not in found)
        )
    if kind == "part":
        return f"{tag.get('data-article')} {tag.get('data-section')}", _bare(tag)
    if kind in ("graph", "edges"):
        return _edges(kind, tag)
    if kind in ("errata", "counted"):
        return tag.get("data-article", ""), _bare(tag)
    if kind == "graded":
        part = tag.find_parent("section")
        heading = part.find(["h1", "h2"]).get_text().rstrip("#") if part else ""
        return tag["id"], f"{tag.get('data-grade')} {heading}"
    if kind == "short":
        return tag.find_parent(class_="vt-condition")["id"], _bare(tag)
    if kind == "condition":
        short = tag.find(class_="vt-short")
        return tag["id"], "".join(bare(s) for s in tag.strings if short not in s.parents)
    return tag["data-claim" if kind == "correction" else "id"], _bare(tag)


def _edges(kind: str, tag: Tag) -> tuple[str, str]:
    """The lines of a drawing and its claims with their links; or the lines that its list tells."""
    whole = tag.find_parent(class_=("vt-chapter-graph", "vt-claim"))
    name = whole.get("data-article") or whole.get("data-claim") if whole else ""
    if kind == "graph":
        lines = sorted(f"{p['data-from']}>{p['data-to']}" for p in tag.find_all("path"))
        nodes = sorted(f"{bare(a.get_text())}@{named(a['href'])}" for a in tag.find_all("a"))
        return name, " ".join([*lines, *nodes])
    items = whole.select("ul.vt-edges > li") if whole else []
    told = [
        (item.find("a").get_text(), a.get_text())
        for item in items
        for a in item.find("ul").find_all("a")
    ]
    return name, " ".join(sorted(f"{used}>{by}" for by, used in told))


def _line(code: Tag) -> tuple[str, str | None]:
    link = code.find_parent("a")
    return code.get_text(), link["href"] if link else None


def _claim_link(tag: Tag) -> list[tuple[str, str, str | None]]:
    text, anchor = tag.get_text(), named(tag["href"])
    classes = set(tag.get("class") or ())
    if classes & {"headerlink", "nav-link"}:
        return []
    if classes & {"vt-badge"}:  # a verdict that leads to its claim's page
        return [(tag.get("data-claim", ""), tag["href"], None)]
    of_claims = tag.find_parent("svg") and tag.find_parent(class_=("vt-chapter-graph", "vt-claim"))
    if classes & {"vt-chip"} or of_claims:
        return [(text.split()[-1], tag["href"], None)]
    badge = None
    if "vt-ref" in (tag.get("class") or []):  # the verdict follows each such link
        beside = tag.find_next_sibling()
        has = beside is not None and "vt-badge" in (beside.get("class") or [])
        badge = beside.get("data-claim", "") if has else ""
    if ID.match(text) or ID.match(anchor) or badge is not None:
        return [(text, tag["href"], badge)]
    return []


def _standing_at(tag: Tag) -> str | None:
    if {"vt-row", "vt-erratum", "vt-condition"} & set(tag.get("class") or []):
        return tag["id"]
    return tag.get("data-claim")
