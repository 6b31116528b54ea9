"""The built book with one fault each: what a template, an extension or a hand could do to a page.

A fault is a page, a pattern in it and what takes its place; the rest of the book stays as built.

All gates were run over all faults: each of those below sees one that no other gate sees. Two that
did not have gone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import page_gates

FRONT, LEDGER, ERRATA = "book/welcome.html", "book/ledger.html", "book/errata-3.html"
CLAIM = "claims/LOSS-14.html"
NOTEBOOK = "notebooks/1-initialisation/1-sampling-laws.html"
EVIDENCE = NOTEBOOK.replace(".html", ".evidence.js")
PLOTS = "notebooks/3-first-loss/5-where-the-formula-holds.html"
Gate = Callable[[Path], list[str]]


@dataclass(frozen=True)
class Fault:
    """A fault of a page.

    Attributes:
        name: what is wrong.
        page: path of the page from the folder of the pages; with `*` the first that the pattern
            matches.
        pattern: where; its first match is replaced.
        by: what stands there instead.
        gate: which must find it.
        finding: what the gate must say.
    """

    name: str
    page: str
    pattern: str
    by: str
    gate: Gate
    finding: str


WRONG = r'(class="vt-badge vt-is-)wrong("[^>]*>)✗ wrong'
FAULTS = (
    Fault("says holds beside a wrong claim", ERRATA, WRONG, r"\1wrong\2✓ holds",
          page_gates.other_badges, "'✓ holds'"),
    Fault("has the colour of holds", LEDGER, WRONG, r"\1holds\2✗ wrong",
          page_gates.other_badges, "{'vt-is-holds'}"),
    Fault("gives another reason", LEDGER, r'(data-claim="INIT-06" title=")', r"\1no ",
          page_gates.other_badges, "INIT-06"),
    Fault("has a badge of no claim", FRONT, r'(class="vt-badge [^>]*) data-claim="LOSS-14"', r"\1",
          page_gates.other_badges, "a badge of no claim"),
    Fault("tells of one statement less", FRONT, r"\d+ of (\d+) statements", r"1 of \1 statements",
          page_gates.other_tallies, "tally of all: shows '1of"),
    Fault("tells nothing", "book/chapter-2.html", r'class="vt-decided"', "",
          page_gates.other_tallies, "0 tallies, not 1"),
    Fault("leaves a truth out", ERRATA, r"<p><b>What is true</b>.*?</p>", "",
          page_gates.other_boxes, "erratum"),
    Fault("leaves a condition out", "claims/*.html", r"<p><b>Only if</b>.*?</p>", "",
          page_gates.other_claim_pages, ": page "),
    Fault("changes a number in a line of the ledger", LEDGER, r"(<td class=\"vt-says\">[^<]*)2",
          r"\g<1>3", page_gates.other_rows, "row"),
    Fault("turns a sign in a line of the ledger", LEDGER,
          r'(id="LOSS-13"[\s\S]*?vt-says[\s\S]*?)\+', r"\1−", page_gates.other_rows, "LOSS-13"),
    Fault("has a claim's page without its evidence", CLAIM, r'(?s)<ul class="vt-lines.*?</ul>', "",
          page_gates.other_claim_pages, "page LOSS-14"),
    Fault("has no page of a claim", CLAIM, 'class="vt-claim"', "",
          page_gates.other_claim_pages, "claims/LOSS-14.html: no page of LOSS-14"),
    Fault("hides a claim from the search", "searchindex.js", '"loss-14":', '"loss-140":',
          page_gates.missing_in_search, "the search does not find LOSS-14"),
    Fault("shows another sign in a chapter's summary", "book/chapter-3.html", r"✗ (LOSS-\d+)",
          r"✓ \1", page_gates.other_summaries, "claims of tied-loss 3."),
    Fault("leaves out a link to a claim", "book/chapter-3.html",
          r'<a class="vt-ref [^>]*>LOSS-\d+</a>', "", page_gates.other_links,
          "chapter-3.html: links to claims"),
    Fault("leads from a verdict to another claim's page", ERRATA,
          r'href="\.\./claims/LOSS-4\d\.html"', 'href="../claims/LOSS-01.html"',
          page_gates.other_links, "leads to LOSS-01"),
    Fault("grades an erratum otherwise", ERRATA, 'data-grade="result"', 'data-grade="misprint"',
          page_gates.other_grades, "grade of LOSS-"),
    Fault("heads errata with another grade", ERRATA, "Changes a result<a", "Misprint<a",
          page_gates.other_grades, "grade of LOSS-"),
    Fault("counts other errata", ERRATA, r"\d+ · changes a result", "3 · changes a result",
          page_gates.other_grades, "counted tied-loss"),
    Fault("leads with another finding", "book/errata.html", r'(class="vt-headline">)', r"\1No: ",
          page_gates.other_grades, "errata initialisation"),
    Fault("changes a measured number on a claim's page", CLAIM, r'(vt-volatile">)\d',
          r"\g<1>7", page_gates.other_runs, "no notebook has 'point"),
    Fault("changes the code on a claim's page", CLAIM, r'(<div class="highlight"><pre>)',
          r"\1not ", page_gates.other_runs, "no notebook has 'not"),
    Fault("draws a line too few", "book/claim-graph.html", r"<path [^>]*>(</path>)?", "",
          page_gates.other_graphs, "drawing of initialisation"),
    Fault("draws another verdict", "book/claim-graph.html", r">✓ (LOSS-\d+)", r">✗ \1",
          page_gates.other_graphs, "drawing of tied-loss"),
    Fault("lists a line too few", "book/claim-graph.html",
          r'(It rests on<ul>)<li><a href="[^"]*">GROW[^/]*/a></li>', r"\1",
          page_gates.other_graphs, "list of growth"),
    Fault("leaves a condition out of the errata", ERRATA,
          r'(?s)<details class="vt-condition".*?</details>', "",
          page_gates.missing_errata, "is left out"),
    Fault("leaves an erratum out", ERRATA, r'(?s)<section class="vt-erratum".*?</section>', "",
          page_gates.missing_errata, "is left out"),
    Fault("leaves a correction out", "book/chapter-5.html", r'(?s)<li class="vt-pair".*?</li>', "",
          page_gates.missing_errata, "corrections leave out"),
    Fault("changes a number of a statement", ERRATA, r"(<b>The article says</b> )", r"\g<1>7 ",
          page_gates.other_boxes, "The"),
    Fault("tells another meaning of a verdict", "book/how-to-read.html", "true as read",
          "true as written", page_gates.other_tables, "table"),
    Fault("leads to another claim", "book/chapter-3.html", r'(class="vt-ref[^>]*#)LOSS-\d+"',
          r'\1LOSS-01"', page_gates.other_links, "leads to LOSS-01, not to"),
    Fault("tells no verdict", "book/chapter-2.html", r'(class="vt-ref.*?</a>[^<]*)<a.*?</a>',
          r"\1", page_gates.other_links, "no verdict follows"),
    Fault("leads to a claim that is nowhere", LEDGER, r'href="[^"]*#[A-Z]+-\d+"',
          'href="#LOSS-999"',
          page_gates.other_links, "no such claim"),
    Fault("leads to another page", FRONT, r'href="[^"]*(#LOSS-14)"', rf'href="../{NOTEBOOK}\1"',
          page_gates.other_links, "the claim does not stand there"),
    Fault("gives a claim's place to another", NOTEBOOK, r'id="(INIT-\d+)" *data-claim="[^"]*"',
          r'id="\1" data-claim="LOSS-14"', page_gates.other_links, "stands LOSS-14"),
    Fault("changes an output", EVIDENCE, r'(<div class="vt-detail">)', r"\g<1>not ",
          page_gates.other_outputs, "(output): shows"),
    Fault("rejects fewer wrong versions", NOTEBOOK, r"/\d+ wrong versions", r"/0 wrong versions",
          page_gates.other_strips, "wrong versions, not"),
    Fault("says proved of what is not", NOTEBOOK, r"(</span> <span>)held", r"\1proved · held",
          page_gates.other_strips, "'proved' is said of no proof"),
    Fault("has a strip with another verdict", NOTEBOOK,
          r'(id="INIT-01"[\s\S]*?<span [^>]*>)✓ holds',
          r"\1✗ wrong",
          page_gates.other_strips, "does not begin with its verdict"),
    Fault("has no strip of a claim", NOTEBOOK, 'class="vt-strip"', 'class="vt-stripe"',
          page_gates.other_strips, "no strip of "),
    Fault("holds a record of another claim", EVIDENCE,
          r'(vt-record vt-proof" data-claim=")[A-Z]+-\d+', r"\1LOSS-14",
          page_gates.other_strips, "holds records of"),
    Fault("hands over evidence without a strip", NOTEBOOK, 'class="vt-strip" id="INIT-07"',
          'class="vt-strip" id="INIT-70"', page_gates.other_strips, "INIT-07"),
    Fault("runs code among the evidence", EVIDENCE, "</template>", "</template>${alert(1)}",
          page_gates.other_outputs, "are not where they were"),
    Fault("names a script that is gone", NOTEBOOK, r"sampling-laws\.evidence", "gone.evidence",
          page_gates.other_outputs, "are not where they were"),
    Fault("has another title on folded code", NOTEBOOK, "<summary>Figure: [^<]*", "<summary>Figure",
          page_gates.other_outputs, "(title): shows"),
    Fault("changes code", EVIDENCE, r'(<span class="o">)=', r"\1/=",
          page_gates.other_outputs, "(code): shows"),
    Fault("shows another picture", PLOTS, r'(?s)(cell_output.*?src="[^"]*_images/)[^"]*"',
          r'\1norm-density-light.svg"', page_gates.other_outputs, "is not the stored one"),
)  # fmt: skip


def spoiled(html: Path, fault: Fault, folder: Path) -> Path:
    """A copy of the built book with one fault; the pages without it are links.

    Raises:
        LookupError: the page has nothing that the fault's pattern matches.
    """
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(html.glob(fault.page))}
    page = next((path for path, text in texts.items() if re.search(fault.pattern, text)), None)
    if page is None:
        raise LookupError(f"{fault.page}: {fault.name}: nothing matches {fault.pattern}")
    for path in html.rglob("*"):
        name = path.relative_to(html)
        if path.is_file() and path != page and name.parts[0] != "_static":
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.link(path, folder / name)
    changed = re.sub(fault.pattern, fault.by, texts[page], count=1)
    if changed == texts[page]:
        raise LookupError(f"{fault.page}: {fault.name}: {fault.pattern} leaves it as it is")
    (folder / page.relative_to(html)).write_text(changed, encoding="utf-8")
    return folder
