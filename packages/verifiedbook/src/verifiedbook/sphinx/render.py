"""HTML for claims: functions from the typed ledger to strings, by the macros of a template."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from html import escape, unescape
from pathlib import Path, PurePosixPath
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..account import evidence as table
from ..account import registry
from ..account.errata import GRADES, RELATIONS, Grade
from ..account.ledger import Entry, Evidence, Ledger, Summary
from ..account.records.record import Record
from ..account.registry import Article, Statement
from ..account.rendering import plain, readable
from ..account.rendering.cards import in_brackets, rows, typeset
from ..account.rendering.formulas import latex
from ..serving import served
from . import graph
from .runs import Run

Link = Callable[[str], str]  # the address of a claim, by its id, seen from the page being written

EMPTY_BADGE = re.compile(r'<span class="vt-badge" data-claim="([^"]+)"[^>]*></span>')
# Jupyter and Colab need the style of the box; here a style sheet says the same.
FOLDED = re.compile(
    r'(?s)\A<details( [^>]*?)(?: style="[^"]*")?><summary>.*?</summary>\s*(.*)</details>\s*\Z'
)
LATEX = re.compile(r'(?s)<span data-latex="([^"]*)">.*?</span>')
HEAD = re.compile(r'(?s)(<div class="vt-head"><b>[^<]*</b> ).*?(</div>)')
DETAIL = re.compile(r'(?s)(<div class="vt-detail">).*?(</div>)')
STEP = re.compile(r"<li>((?:(?!<br>|</li>).)*)<br>", re.S)
COEFFICIENT = re.compile(r"(?<=terms of )(?!E\[)\S+(?= E\[)")
RAN = re.compile(r'(?s)<div class="vt-ran">.*?</div>')
AGAINST = (table.Weight.REFUTES, table.Weight.LIMITS)


def statement(text: str | None) -> str:
    r"""Text with `$latex$` as HTML, formulas in ``\(…\)``, which are typeset with the page."""
    return typeset(text or "")


@cache
def _environment() -> Environment:
    folder = Path(__file__).with_name("templates")
    made = Environment(loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined)
    made.filters["statement"] = lambda text: Markup(statement(text))
    made.filters["plain"] = lambda text: Markup(plain.html(text))
    made.filters["words"] = plain.text
    made.filters["zip"] = partial(zip, strict=True)
    made.filters["section"] = section
    made.filters["shows"] = lambda record: Markup(statement(shows(record)))
    made.filters["capitalised"] = lambda text: text[:1].upper() + text[1:]
    made.globals["wide"], made.globals["high"] = graph.WIDE, graph.HIGH
    made.globals["verdicts"] = table.VERDICTS
    made.globals["kinds"] = table.KINDS
    made.globals["relations"] = RELATIONS
    made.globals["grades"] = GRADES
    made.globals["against"] = [n for n, row in table.KINDS.items() if row.weight in AGAINST]
    return made


def _render(macro: str, *things: Any, link: Link | None = None) -> str:
    module = _environment().get_template("claims.html").make_module({"linked": link})
    return str(getattr(module, macro)(*things))


def section(claim: Entry) -> str:
    """The number of the section that decides a claim, as 3.3; nothing where none does."""
    if not claim.notebook:
        return ""
    parts = PurePosixPath(claim.notebook).with_suffix("").parts[-2:]
    return ".".join(part.partition("-")[0] for part in parts)


def shows(record: Evidence) -> str:
    """What a record is about, with `$latex$`: its equation, or the second part of its line."""
    return readable.readable_head(record.latex, record.text.split("   ")[1])


def card(claim: Statement) -> str:
    """What there is to say of a claim, for its strip."""
    told = "".join(f"<div><b>{label}:</b> {typeset(text)}</div>" for label, text in rows(claim))
    about = escape(f"{claim.kind} · {claim.where}")
    return f'<div class="vt-card" data-claim="{claim.id}"><small>{about}</small>{told}</div>'


def record(html: str, found: Record) -> str:
    """The HTML that a record left in its notebook, open, and with typeset formulas."""
    head, detail = (
        typeset(text).replace("\\", r"\\")
        for text in (
            readable.readable_head(found.latex, found.statement),
            readable.readable(found.full_detail),
        )
    )
    html = LATEX.sub(lambda at: in_brackets(unescape(at[1])), html)
    html = FOLDED.sub(r"<div\g<1>>\g<2></div>", html, count=1)
    html = HEAD.sub(rf"\g<1>{head}\g<2>", html, count=1)
    return DETAIL.sub(rf"\g<1>{detail}\g<2>", html, count=1)


def badge(claim: Entry, page: Link | None = None) -> str:
    """The verdict of a claim as a small label: sign, word and colour; with `page` a link to it."""
    return _render("badge", claim, page(claim.id) if page else None)


def fill_badges(html: str, claims: Mapping[str, Entry], page: Link) -> tuple[str, list[str]]:
    """The HTML with its empty badges filled, each a link, and the ids that no claim has."""
    unknown = []

    def fill(found: re.Match[str]) -> str:
        if found[1] in claims:
            return badge(claims[found[1]], page)
        unknown.append(found[1])
        return found[0]

    return EMPTY_BADGE.sub(fill, html), unknown


def decided(summary: Summary) -> str:
    """How many statements are decided, and how, of the book or of an article."""
    return _render("decided", summary)


def _of(data: Ledger, key: str, verdicts: Iterable[str] = tuple(table.VERDICTS)) -> list[Entry]:
    return [c for c in data.claims if c.article == key and c.verdict in verdicts]


def ledger(data: Ledger, link: Link, page: Link) -> str:
    """The ledger of all claims: a line each, which reads without JavaScript."""
    return _render("ledger", [(a, _of(data, a.key)) for a in data.articles], page, link=link)


def summary(data: Ledger, article: Article, link: Link, page: Link, ledger_page: str) -> str:
    """The claims of one article by the sections that decide them, each with its sign."""
    claims = _of(data, article.key)
    numbers = sorted({section(claim) for claim in claims}, key=_by_number)
    groups = [(number, [c for c in claims if section(c) == number]) for number in numbers]
    return _render("summary", article, groups, len(claims), page, ledger_page, link=link)


def _by_number(number: str) -> list[int]:
    return [int(part) for part in number.split(".")] if number else [99]


def page(
    claim: Entry, article: Article, claims: Mapping[str, Entry], run: Mapping[str, str] | None,
    book: Mapping[str, str], to: Link, chapter_page: str | None = None,
    ran: Sequence[Mapping[str, object]] = (), proved: Sequence[Mapping[str, object]] = (),
    enclosed: Sequence[str] = (),
) -> str:  # fmt: skip
    """The page of a claim.

    Args:
        claim: the claim.
        article: where it is said.
        claims: all claims by their ids, for those on which it rests and that rest on it.
        run: where it is decided; see `pages`.
        book: how the book is cited.
        to: the address of another claim's page.
        chapter_page: the page of its article's chapter, where the book has it.
        ran: what stands in the notebooks of each of its records; see `found`.
        proved: the theorems that a proof kernel has checked of it; see `pages.proved`.
        enclosed: what is printed of its value, each digit certified by a ball.
    """
    template = _environment().get_template("claim.html")
    row = table.VERDICTS[claim.verdict]
    return template.render(
        claim=claim, article=article, claims=claims, run=run, book=book, to=to, row=row,
        chapter_page=chapter_page, up="../", around=graph.around(claims, claim.id),
        ran=ran or [None] * len(claim.evidence), cases=cases(claim), proved=proved,
        enclosed=enclosed, verify=served().to_run("verify", claim.id),
    )  # fmt: skip


def cases(claim: Entry) -> list[tuple[str, str]]:
    """What would make a claim false, its cases, and what is not judged, as label and text."""
    statement = registry.load()[1][claim.id]
    reading, clauses = statement.reading, statement.clauses
    if not reading:
        return []
    told = [("It is false if", reading.false_if)] if reading.false_if else []
    for name, case in reading.cases.items():
        words = " … ".join(clause.words for clause in clauses if name in clause.cases)
        of = f"of “{words}”. " if len(clauses) > 1 else ""
        false = f" False if {case.false_if}." if case.false_if else ""
        told.append((f"Case “{name}”", of + case.told + false))
    return told + [("Not judged", f"“{c.words}”: {c.why}.") for c in clauses if c.why]


def found(run: Run, code: str | None) -> dict[str, object]:
    """What a page tells of a record beside its line: how, its steps, its numbers, and where.

    Args:
        run: the record where it stands.
        code: the code of its cell as HTML, where it is to be shown.
    """
    html = STEP.sub(lambda at: f"<li>{_reason(unescape(at[1]))}<br>", run.html)
    html = RAN.sub("", record(html, run.record))
    place = ".".join(part.partition("-")[0] for part in run.page.split("/")[-2:])
    return {
        "html": html[html.index('<div class="vt-detail">') : html.rindex("</div>")],
        "code": code, "folded": run.folded,
        "place": place, "href": f"../{run.page}.html#cell-{run.cell}",
    }  # fmt: skip


def _reason(text: str) -> str:
    """Why a step is taken, with a formula for the coefficient of a kind of terms."""
    return typeset(readable.readable(COEFFICIENT.sub(lambda of: f"${latex(of[0])}$", text)))


def by_grade(data: Ledger, article: Article) -> list[tuple[Grade, list[tuple[Entry, list[Entry]]]]]:
    """An article's roots of errors by grade, the gravest first, each with what follows from it."""
    rank = list(GRADES)
    wrong = [
        (c, c.erratum) for c in data.claims
        if c.article == article.key and c.verdict == "wrong" and c.erratum
    ]  # fmt: skip
    wrong.sort(key=lambda pair: (rank.index(pair[1].grade), pair[1].order))
    below = {c.id: [other for other, e in wrong if e.follows == c.id] for c, _ in wrong}
    groups = [
        (grade, [(c, below[c.id]) for c, e in wrong if e.grade == grade.name and not e.follows])
        for grade in GRADES.values()
    ]
    return [(grade, roots) for grade, roots in groups if roots]


def errata_index(data: Ledger, home: Callable[[Article], str | None]) -> str:
    """For each article its gravest error in a sentence, and how many roots of each grade."""
    parts = [(a, by_grade(data, a), _of(data, a.key, ("holds-if",)), home(a))
             for a in data.articles if a.chapter]  # fmt: skip
    return _render("errata_index", parts)


def errata_head(data: Ledger, article: Article) -> str:
    """How many roots of errors an article has of each grade, and how many conditions."""
    return _render(
        "errata_head", article, by_grade(data, article), _of(data, article.key, ("holds-if",))
    )


def errata(
    data: Ledger, article: Article, link: Link, page: Link, colab: Link
) -> Iterator[tuple[str, str, str]]:
    """The errata of an article: name, title and HTML of the part for each grade, then conditions.

    What follows from an error stands beneath it, whatever its own grade.

    Args:
        data: the ledger.
        article: the article.
        link, page: the address of a claim's run, and of its page.
        colab: the address at which Colab opens a notebook.
    """
    for grade, roots in by_grade(data, article):
        html = _render("errata", grade, roots, page, colab, link=link)
        yield grade.name, grade.label.capitalize(), html
    conditions = _of(data, article.key, ("holds-if",))
    if conditions:
        html = _render("conditions", conditions, page, link=link)
        yield "conditions", "Conditions", html


def corrections(data: Ledger, article: Article, errata_page: str) -> str:
    """The headlines of an article's errata, by grade and root; each leads to the erratum."""
    return _render("corrections", by_grade(data, article), errata_page)


def claim_graph(data: Ledger, article: Article, page: Link) -> str:
    """Which claims of an article rest on which, as a drawing and as a list."""
    return _render("claim_graph", article, graph.of_article(data, article.key), page)


def prerequisites(drawing: graph.Graph[Any], weeks: Mapping[str, int]) -> str:
    """Which section needs which, as a drawing and as a list.

    Args:
        drawing: of sections, with ``number``, ``title``, ``href`` and ``after``.
        weeks: of the course, by the numbers of the sections that are read then.
    """
    return _render("prerequisites", drawing, weeks)


def article(source: Article) -> str:
    """Title, author, date and address of the article that a chapter follows."""
    return _render("article", source)


def result(claim: Entry, link: Link, page: Link) -> str:
    """The head of a teaser: verdict and evidence of a claim."""
    return _render("result", claim, page, link=link)


def verdict_table() -> str:
    """The table of verdicts: what each means, and what it takes."""
    return _render("verdict_table")


def evidence_table() -> str:
    """The table of evidence: what each kind shows, what it can do, and what it needs."""
    return _render("evidence_table")
