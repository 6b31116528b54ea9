"""What the built pages of notebooks show, held against what the notebooks store."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from bs4 import BeautifulSoup
from html_gates import Page, claims, pages
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from page_facts import Cell as Shown
from page_facts import bare

from verifiedbook.account import evidence, registry
from verifiedbook.account.records.record import METADATA_KEY, from_json
from verifiedbook.account.rendering import cards, readable

Cell = dict[str, Any]
MARKDOWN = MarkdownIt("commonmark").use(dollarmath_plugin, double_inline=True)
TITLE = re.compile(r"(?s)\A(?:# @title ([^\n]*)(?:\n|\Z))?(.*)")
SAID = {  # what a strip says of a kind of evidence, without blanks
    "proof": "proved", "measurement": "measured", "counterexample": "refuted",
    "equality": "equalon", "sampled": "trueon", "witness": "withoutitscondition",
    "met": "conditionmet", "citation": "heldagainst", "set-aside": "setaside",
}  # fmt: skip
NAMED = re.compile(r"\b[A-Z]{3,5}-\d{2,}\b")


def straight(text: str) -> str:
    """A text without the curled quotation marks that Sphinx makes of those in Markdown."""
    return text.translate(str.maketrans("‘’“”", "''\"\""))


def differing(where: str, shown: str, wanted: str) -> list[str]:
    """Say where a text first differs from what it should be; nothing where it does not."""
    if shown == wanted:
        return []
    same = next(
        (i for i, (a, b) in enumerate(zip(shown, wanted, strict=False)) if a != b),
        min(len(shown), len(wanted)),
    )
    start = max(0, same - 20)
    return [f"{where}: shows {shown[start : same + 40]!r}, not {wanted[start : same + 40]!r}"]


def other_outputs(html: Path) -> list[str]:
    """Cells of a notebook's page that show other code, outputs or pictures than are stored."""
    found = []
    for page in pages(html):
        source = html / "_sources" / PurePosixPath(page.name).with_suffix(".ipynb")
        if source.exists():
            cells = _stored(source.read_text(encoding="utf-8"))
            found += _other_cells(page, cells)
            found += _other_pictures(page, [cell for cell, _ in cells.values()], html)
    return found


@cache
def _stored(notebook: str) -> dict[int, tuple[Cell, list[str]]]:
    """The code cells of a notebook that are not empty, by their places, and what each shows."""
    cells = enumerate(json.loads(notebook)["cells"])
    code = {i: c for i, c in cells if c["cell_type"] == "code" and "".join(c["source"]).strip()}
    return {i: (cell, [_text(output) for output in cell["outputs"]]) for i, cell in code.items()}


def _other_cells(page: Page, cells: dict[int, tuple[Cell, list[str]]]) -> list[str]:
    shown = {cell.index: cell for cell in page.facts.cells}
    if list(shown) != list(cells):
        return [f"{page.name}: cells {sorted(shown.keys() ^ cells.keys())} are not where they were"]
    return [
        fault
        for index, (cell, outputs) in cells.items()
        for fault in _other_cell(page.name, cell, outputs, shown[index])
    ]


def _other_cell(name: str, cell: Cell, outputs: list[str], shown: Shown) -> list[str]:
    named = dict.fromkeys(NAMED.findall("".join(["".join(cell["source"]), *outputs])))
    where = f"{name}: cell {shown.index}{f' of {chr(32).join(named)}' if named else ''}"
    tags = cell["metadata"].get("tags", [])
    title, code = TITLE.match("".join(cell["source"])).groups()  # type: ignore[union-attr]
    found = []
    if "remove-input" in tags:  # an exercise, which its page asks in a way of its own
        found += differing(f"{where} (code)", shown.code or "", "")
    elif "card" not in tags:  # `claim("LOSS-14")` says nothing beside its strip
        found += differing(f"{where} (code)", shown.code or "", bare(code))
        if title and "set-up" not in tags:
            found += differing(f"{where} (title)", shown.title or "", bare(title))
    kept = "".join(bare(text) for i, text in enumerate(outputs) if i not in shown.moved)
    found += differing(f"{where} (output)", straight(shown.kept), straight(kept))
    for place, text in shown.moved.items():
        wanted = bare(outputs[place]) if place < len(outputs) else ""
        found += differing(f"{where} (output)", text, wanted)
    return found


def other_strips(html: Path) -> list[str]:
    """Strips that say other than the stored records, or lack one, and records without a strip."""
    known = {claim["id"]: claim for claim in claims(html)}
    found = []
    for page in pages(html):
        source = html / "_sources" / PurePosixPath(page.name).with_suffix(".ipynb")
        if source.exists():
            stored = json.loads(source.read_text(encoding="utf-8"))["cells"]
            outputs = [o.get("metadata", {}) for c in stored for o in c.get("outputs", ())]
            kept = [told[METADATA_KEY] for told in outputs if METADATA_KEY in told]
            found += _other_strips(page, kept, known)
    return found


def _other_strips(page: Page, kept: list[Cell], known: dict[str, Cell]) -> list[str]:
    wanted = {name for record in kept for name in record["claims"]}
    shown = {claim for claim, _, _ in page.facts.strips}
    found = [f"{page.name}: no strip of {name}" for name in sorted(wanted - shown)]
    for name, line, records in page.facts.strips:
        where = f"{page.name}: strip of {name}"
        own = [r for r in kept if name in r["claims"] and r["kind"] != "card"]
        row = evidence.VERDICTS[known[name]["verdict"]]
        label = f"{row.mark} {row.label}" + (" (judged)" if known[name]["judged"] else "")
        if not line.startswith(bare(f"{name}{label}")):
            found.append(f"{where}: does not begin with its verdict, {label}")
        first = [r for r in own if r["claims"][0] == name]
        if list(records) != [name] * len(first):
            found.append(f"{where}: holds records of {records}, not {len(first)} of its own")
        scores = [r["mutants"] for r in own if r.get("mutants") and r["mutants"]["total"]]
        told = re.findall(r"(\d+)/(\d+)wrongversions", line)
        sums = [tuple(str(sum(s[key] for s in scores)) for key in ("killed", "total"))]
        if told != (sums if scores else []):
            found.append(f"{where}: tells of {told} wrong versions, not {sums}")
        for kind, word in SAID.items():
            if (word in line) != any(r["kind"] == kind for r in own):
                found.append(f"{where}: {word!r} is said of no {kind}, or is not said of one")
    return found


def other_runs(html: Path) -> list[str]:
    """Code and tables of numbers on a claim's page that no notebook stores."""
    sources = sorted((html / "_sources").glob("notebooks/*/*.ipynb"))
    stored = set().union(*(_ran(source.read_text(encoding="utf-8")) for source in sources))
    return [
        f"{page.name}: no notebook has {text[:60]!r}"
        for page in pages(html)
        for text in page.facts.found
        if text not in stored
    ]


@cache
def _ran(notebook: str) -> frozenset[str]:
    """The code of a notebook's cells and the tables of numbers among their outputs.

    What a cell derives and the cell below holds to a claim is shown as one.
    """
    stored, above = set(), ""
    for cell in json.loads(notebook)["cells"]:
        code = bare("".join(cell["source"]))
        stored |= {code, above + code}
        above = code if "derives" in cell["metadata"].get("tags", ()) else ""
        for output in cell.get("outputs", ()):
            shown = "".join(output.get("data", {}).get("text/html", ""))
            for table in re.findall(r'(?s)<table class="vt-numbers">.*?</table>', shown):
                stored.add(bare(BeautifulSoup(table, "html.parser").get_text()))
    return frozenset(stored)


def _text(output: dict[str, Any]) -> str:
    if "text" in output:
        return "".join(output["text"])
    data = {kind: "".join(text) for kind, text in output.get("data", {}).items()}
    if "text/html" in data:
        soup = BeautifulSoup(data["text/html"], "html.parser")
        record = output.get("metadata", {}).get(METADATA_KEY)
        if record and record["kind"] == "card":  # told anew, with formulas for letters and signs
            claim = registry.statement(*record["claims"])
            told = "".join(f"{label}:{text}" for label, text in cards.rows(claim))
            return f"{claim.kind}·{claim.where}{told}"
        if record:
            head, detail = soup.find(class_="vt-head"), soup.find(class_="vt-detail")
            said = readable.readable_head(record.get("latex"), record["statement"])
            head.string = f"{head.b.get_text()} {said}"
            detail.string = readable.readable(from_json(record).full_detail)
            soup.find("summary").decompose()
            for formula in soup.find_all(attrs={"data-latex": True}):
                formula.string = formula["data-latex"]
        return soup.get_text()
    if any(kind.startswith("image/") for kind in data):
        return ""
    if "text/markdown" in data:
        return BeautifulSoup(MARKDOWN.render(data["text/markdown"]), "html.parser").get_text()
    return data.get("text/latex") or data.get("text/plain", "")


def _other_pictures(page: Page, cells: Sequence[Cell], html: Path) -> list[str]:
    stored = [_picture(output["data"]) for cell in cells for output in cell["outputs"]
              if "data" in output]  # fmt: skip
    wanted = [picture for picture in stored if picture is not None]
    shown = [(html / page.name).parent / unquote(source) for source in page.facts.pictures]
    if len(shown) != len(wanted):
        return [f"{page.name}: {len(shown)} pictures, not {len(wanted)}"]
    return [
        f"{page.name}: picture {index} is not the stored one"
        for index, (path, data) in enumerate(zip(shown, wanted, strict=True))
        if not path.exists() or path.read_bytes().strip() != data.strip()
    ]


def _picture(data: dict[str, Any]) -> bytes | None:
    for kind in ("image/svg+xml", "image/png", "image/jpeg"):
        if kind in data and "text/html" not in data:
            text = "".join(data[kind])
            return text.encode() if kind.endswith("xml") else base64.b64decode(text)
    return None
