"""What stands in the boxes of the built pages: rows, errata, corrections, teasers and tables.

`_row` and its neighbours say what stands in a box, in order, by code that shares nothing with the
templates: what a template gains, they must learn.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from html_gates import claims, pages
from output_gates import differing
from page_facts import bare, letters, of_latex

from verifiedbook.account import errata, evidence, registry
from verifiedbook.account.rendering import readable
from verifiedbook.sphinx.pages import enclosed, proved

Claim = dict[str, Any]
ROOT = Path(__file__).parent.parent
AGAINST = ("counterexample", "witness")


def by_id(html: Path) -> dict[str, Claim]:
    """The published claims by their ids."""
    return {claim["id"]: claim for claim in claims(html)}


def label(claim: Claim) -> str:
    """The words of a claim's badge."""
    row = evidence.VERDICTS[claim["verdict"]]
    return f"{row.mark} {row.label}" + (" (judged)" if claim["judged"] else "")


def _truth(claim: Claim) -> str:
    parts = [("Only if", *part) for part in claim["conditions"]]
    parts += [("What is true", *part) for part in claim["truths"]]
    own = "".join(f"{head}{f'(case “{case}”)' if case else ''}{text}" for head, case, text in parts)
    head = "Only if" if claim["verdict"] == "holds-if" else "The condition"
    return own + "".join(
        f"{head}(of {origin}, on which it rests){text}" for origin, text in claim["inherited"]
    )


def _lines(records: Iterable[Claim]) -> str:
    return "".join(record["text"] for record in records)


def section(claim: Claim) -> str:
    """The number of the section that decides a claim."""
    names = (claim["notebook"] or "").split("/")[1:]
    return ".".join(name.split("-")[0] for name in names)


def _row(claim: Claim) -> str:
    return f"{claim['id']}{of_latex(claim['says'])}{label(claim)}{section(claim)}"


def _run(claim: Claim, titles: dict[str, str]) -> str:
    if not claim["notebook"]:
        return ""
    page = PurePosixPath(claim["notebook"]).with_suffix(".html").as_posix()
    return titles.get(page) or section(claim)


def _record(record: Claim) -> str:
    row = evidence.KINDS[record["kind"]]
    head = row.label + (f"(case “{record['case']}”)" if record["case"] else "")
    head += "of what is true" if record["of"] == "truth" else ""
    shown = readable.readable_head(record["latex"], record["text"].split("   ")[1])
    ran = f"What ran: {'; '.join(record['ran'])}" if record["ran"] else ""
    return f"{head}:{row.shows}.{shown}{ran}the record{record['text']}"


def _cases(name: str) -> str:
    statement = registry.load()[1][name]
    reading, clauses = statement.reading, statement.clauses
    if not reading:
        return ""
    told = f"It is false if{reading.false_if}" if reading.false_if else ""
    for case, part in reading.cases.items():
        words = "…".join(clause.words for clause in clauses if case in clause.cases)
        of = f"of “{words}”." if clauses[1:] else ""
        false = f"False if {part.false_if}." if part.false_if else ""
        told += f"Case “{case}”{of}{part.told}{false}"
    return told + "".join(f"Not judged“{one.words}”:{one.why}." for one in clauses if one.why)


def _beside(head: str, names: list[str], known: dict[str, Claim]) -> str:
    told = [f"{name}{label(known[name])}{known[name]['says']}" for name in names]
    return head * bool(told) + "".join(told)


def _grave(claim: Claim, chapter: int) -> str:
    wrong = claim["erratum"]
    if not wrong or claim["verdict"] != "wrong":
        return ""
    grade = errata.GRADES[wrong["grade"]].label
    return f"{wrong['headline']}{_sides(wrong)}{grade}(judged)errata to chapter {chapter}"


def _drawn(claim: Claim, known: dict[str, Claim]) -> str:
    """The claims in the drawing of the neighbours: by depth, then in the ledger's order."""
    names = {claim["id"], *claim["uses"], *claim["used_by"]}
    uses = {name: [u for u in known[name]["uses"] if u in names] for name in names}

    def depth(name: str) -> int:
        return 1 + max(map(depth, uses[name]), default=-1)

    order = sorted(names, key=lambda name: (depth(name), list(known).index(name)))
    marks = {name: evidence.VERDICTS[known[name]["verdict"]].mark for name in names}
    return "".join(f"{marks[name]}{name}" for name in order)


def _bibtex(claim: Claim, book: Book) -> str:
    author, rest = book.cited.split(" (", 1)
    year, rest = rest.split("). ", 1)
    title, version = rest.rsplit(", version ", 1)
    return (
        f"BibTeX@misc{{verified-transformer-{claim['id'].lower()},author={{{author}}},"
        f"title={{{title}: claim {claim['id']}}},year={{{year}}},"
        f"note={{version {version}, claims/{claim['id']}.html}},url={{{book.address}}}}}"
    )


def _page(claim: Claim, book: Book) -> str:
    article, run = book.articles[claim["article"]], _run(claim, book.titles)
    chapter = f"›Chapter {article['chapter']}" if article["chapter"] else ""
    said = f"Said in{article['title_en']}" if chapter else "Said by the book itself"
    nature = f",{claim['nature']}" if claim["nature"] else ""
    setting = f"The article's setting{claim['setting']}" if claim["setting"] else ""
    retired = f"This name is no longer in use.{claim['retired']}" if claim["retired"] else ""
    met = "".join(f"The condition of {c}is met: {why}" for c, why in claim["discharges"])
    mutants = claim["mutants"]
    scored = (
        f"{mutants['killed']} of {mutants['total']} deliberately wrong versions "
        "were rejected by these checks. (A mutant is the formula with a sign, a number, a power or "
        "a term changed; a slip is such a change in the code of a derivation; a wrong object is "
        "another law or definition instead of the right one.)"
    ) * bool(mutants["total"])
    uses = _beside("It rests on", claim["uses"], book.known)
    used = _beside("On it rest", claim["used_by"], book.known)
    told = "".join(
        f"{change['date']}: {change['before'] or 'new'} → {change['after']}. {change['reason']}"
        for change in claim["history"]
    )
    check = (
        f"Read the run in {run}.Run it in the browser: open the notebook in Colab."
        "Run it on your machine, and compare it with what is stored: "
        f"make verify CLAIM={claim['id']}"
    )
    return "".join((
        f"Ledger{chapter}{'›' * bool(run)}{run}{claim['id']}{label(claim)}{claim['says']}",
        f"{said},{claim['where']}·{claim['kind']}{nature}{retired}",
        _grave(claim, article["chapter"]), "How it is read",
        claim["reading"] or "No reading has been written yet.", setting, _cases(claim["id"]),
        "What was found",
        f"{label(claim)}{evidence.VERDICTS[claim['verdict']].means}.",
        f"{claim['told'][:1].upper()}{claim['told'][1:]}." * bool(claim["notebook"]),
        _truth(claim), met, "Evidence",
        "".join(map(_record, claim["evidence"])) or "No check has run yet.",
        "".join(map(_proved, proved(ROOT).get(claim["id"], ()))),
        _enclosed(enclosed(ROOT).get(claim["id"], ())), scored,
        f"Its neighbours{_drawn(claim, book.known)}" * bool(uses or used), uses, used, "History",
        told or "Its statement and its verdict have not been changed.",
        "Check it yourself", check if run else "No notebook decides it.", "Cite it",
        f"{book.cited}, claim {claim['id']}. {book.address}, page claims/{claim['id']}.html",
        _bibtex(claim, book),
    ))  # fmt: skip


def _proved(one: dict[str, Any]) -> str:
    """What is said of a theorem that a kernel has checked."""
    case = f" (case “{one['case']}”)" if one["case"] else ""
    assumed = "It has no hypotheses."
    if one["hypotheses"]:
        assumed = (
            f"Of the law it assumes: {'; '.join(one['hypotheses'])}. Each of these is met by a law "
            "in the same file, and without any one of them the statement is refuted there."
        )
    return (
        f"Kernel-proved{case}: {one['words']}{assumed}proofs/{one['file']}, theorem {one['name']}; "
        f"Rocq {one['kernel']}, {one['when']}; no axioms but those of the reals."
        f"the statement{one['statement']}"
    )


def _enclosed(said: Sequence[str]) -> str:
    """What is said of the numbers whose digits a ball certifies."""
    rest = "Of each the rounding is the only one that an enclosure of the formula allows."
    return f"Exact (ball): printed as {'; '.join(said)}. {rest}" if said else ""


def _side(wrong: Claim, name: str) -> str:
    text, value = wrong[name]["text"], wrong[name]["value"]
    meant = errata.RELATIONS[wrong["relation"]] if wrong["relation"] and name == "printed" else ""
    shown = f"={value}" if value is not None and text != f"${value}$" else ""
    return f"{name}{meant}{text}{shown}"


def _sides(wrong: Claim) -> str:
    of = f"{wrong['of']}{', at ' + wrong['at'] if wrong['at'] else ''}" if wrong["of"] else ""
    return of + _side(wrong, "printed") + _side(wrong, "right")


def _erratum(claim: Claim) -> str:
    against = [record for record in claim["evidence"] if record["kind"] in AGAINST]
    wrong = claim["erratum"]
    said = f"{claim['where']}The article says{claim['says']}{_truth(claim)}"
    ways = f"{claim['id']}{label(claim)}" + "·the run·Colab" * bool(claim["notebook"])
    ways += errata.GRADES[wrong["grade"]].label if wrong["follows"] else ""
    return f"{wrong['headline']}{_sides(wrong)}{said}{_lines(against or claim['evidence'])}{ways}"


def _condition(claim: Claim) -> str:
    head = f"{claim['id']}{claim['id']}{label(claim)}·the run{claim['where']}"
    return f"{head}The article says{claim['says']}{_truth(claim)}"


def _correction(claim: Claim) -> str:
    wrong = claim["erratum"]
    return f"{claim['id']}{wrong['headline']}{errata.GRADES[wrong['grade']].label}"


def _result(claim: Claim) -> str:
    return f"{claim['id']}{label(claim)}{_lines(claim['evidence'])}"


@dataclass(frozen=True)
class Book:
    """What the page of a claim takes from elsewhere.

    Attributes:
        known: the claims by their ids.
        articles: the articles by their keys.
        titles: of the pages.
        cited: author, year, title and version.
        address: where the book is kept.
    """

    known: dict[str, Claim]
    articles: dict[str, Claim]
    titles: dict[str, str]
    cited: str
    address: str

    @classmethod
    def of(cls, html: Path) -> Book:
        """The book whose pages stand in a folder."""
        config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        articles = json.loads((html / "claims.json").read_text(encoding="utf-8"))["articles"]
        return cls(
            by_id(html), {article["key"]: article for article in articles},
            {page.name: page.facts.title for page in pages(html)},
            f"{config['author']} ({config['copyright']}). {config['title']}, "
            f"version {project['version']}", config["repository"]["url"],
        )  # fmt: skip


SHOWS: dict[str, Callable[[Claim], str]] = {
    "erratum": _erratum, "correction": _correction, "result": _result, "condition": _condition,
}  # fmt: skip


def other_boxes(html: Path) -> list[str]:
    """Errata, corrections and teasers that show another text than their claim has."""
    return _others(html, SHOWS, bare)


def other_rows(html: Path) -> list[str]:
    """Lines of the ledger that show another text; formulas stand there as letters."""
    return _others(html, {"row": _row, "short": lambda claim: of_latex(claim["says"])}, letters)


def other_claim_pages(html: Path) -> list[str]:
    """Pages of claims that show another text, pages of no claim, and claims without a page."""
    book = Book.of(html)
    found = _others(html, {"page": lambda claim: _page(claim, book)}, bare)
    listed = Counter(
        (page.name, name) for page in pages(html) for name, _ in page.facts.boxes["page"]
    )
    wanted = Counter((f"claims/{name}.html", name) for name in book.known)
    found += [f"{page}: no page of {name}" for page, name in wanted - listed]
    return found + [f"{page}: {name} does not belong here" for page, name in listed - wanted]


def _others(
    html: Path, shown: dict[str, Callable[[Claim], str]], kept: Callable[[str], str]
) -> list[str]:
    known = by_id(html)
    return [
        fault
        for page in pages(html)
        for kind, shows in shown.items()
        for name, text in page.facts.boxes[kind]
        for fault in (
            differing(f"{page.name}: {kind} {name}", kept(text), kept(shows(known[name])))
            if name in known
            else [f"{page.name}: {kind} of an unknown claim: {name}"]
        )
    ]


def other_summaries(html: Path) -> list[str]:
    """Chapters whose claims by section are not those of their article, or have other signs."""
    found, entries = [], claims(html)
    for page in pages(html):
        parts = dict(page.facts.boxes["part"])
        for article in {name.split()[0] for name in parts}:
            own = [c for c in entries if c["article"] == article]
            for number in sorted({section(c) for c in own}):
                named = [c for c in own if section(c) == number]
                chips = "".join(f"{evidence.VERDICTS[c['verdict']].mark}{c['id']}" for c in named)
                wanted = bare((number or "Not decided yet") + chips)
                shown = parts.get(f"{article} {number}", "")
                found += differing(f"{page.name}: claims of {article} {number}", shown, wanted)
    return found


def other_tables(html: Path) -> list[str]:
    """Tables of verdicts and of evidence that do not say what the account says."""
    verdicts = "VerdictIt meansIt takes" + "".join(
        f"{row.mark}{row.label}{row.means}{row.takes}" for row in evidence.VERDICTS.values()
    )
    kinds = "EvidenceWhat it showsWhat it can doWhat it needs" + "".join(
        f"{row.label}{row.shows}{row.weight.value}"
        f"{'; judged, and counted apart' if row.judged else ''}{row.needs}"
        for row in evidence.KINDS.values()
    )
    wanted = {bare(text)[:15]: bare(text) for text in (verdicts, kinds)}
    return [
        fault
        for page in pages(html)
        for shown in page.facts.tables
        for fault in differing(f"{page.name}: table", shown, wanted.get(shown[:15], ""))
    ]
