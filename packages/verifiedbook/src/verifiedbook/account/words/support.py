"""Whether what an own word points to is there, supports it, and says what it said."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ..hashing import hash_of
from ..ledger import Ledger
from ..records.notebook_records import notebooks, stored_records
from ..registry import load
from ..verdicts.decide import decide_cases
from .cutting import flow, own_sentences
from .rows import UNKNOWN, Row, read_rows

SUFFIX = ".words"
JUDGED = {  # what no evidence of ours decides, and what it is counted as
    "we think": "judged", "advice": "advice", "definition": "definition",
    "question": "no statement", "what follows": "no statement",
}  # fmt: skip
KINDS = ("a claim", "a run", "a derivation", "a source", *dict.fromkeys(JUDGED.values()))
UNASKED = {"a claim", "definition", "no statement"}  # need no `false if`
_STANCES = {"": ("holds", "reproduced"), "if": ("holds-if",), "open": ("open",),
            "not": ("wrong", "not-reproduced")}  # fmt: skip
_CLAIM = re.compile(r"(?:(not|if|open) )?([A-Z]{3,5}-\d{2,})(?:\[([^\]]+)\])?")
_SEAL = re.compile(r"#([0-9a-f]{6})$")
_DISPLAY = re.compile(r"\$\$.+?\$\$", re.DOTALL)
_PLACES = re.compile(r"(cell|text|test|file) (\S+?)(?: in (\S+))?")


@dataclass(frozen=True)
class Text:
    """A text with own words, and what stands beside it.

    Attributes:
        path: the notebook or page.
        root: the repository.
        ledger: its verdicts.
    """

    path: Path
    root: Path
    ledger: Ledger

    @cached_property
    def sources(self) -> dict[str, str]:
        """The texts in the order of reading by id; of a page the whole by ""."""
        if self.path.suffix == ".md":
            return {"": self.path.read_text(encoding="utf-8")}
        cells = _cells(self.path)
        return {name: "".join(cell["source"]) for name, cell in cells.items()
                if cell["cell_type"] == "markdown"}  # fmt: skip

    @cached_property
    def rows(self) -> dict[str, list[Row]]:
        """What stands in the file beside it."""
        beside = self.path.with_suffix(SUFFIX)
        return read_rows(beside.read_text(encoding="utf-8") if beside.exists() else "")

    @property
    def wanted(self) -> dict[str, list[str]]:
        """The sentences that need a row."""
        return own_sentences(self.sources.items(), whole=self.path.suffix == ".md")

    def faults(self) -> Iterator[str]:
        """Yield what is wrong: words without a row, rows without words, evidence that fails."""
        for name in [*self.sources, *(n for n in self.rows if n not in self.sources)]:
            text, place, covered = flow(self.sources.get(name, "")).text, 0, ""
            for row in self.rows.get(name, []):
                at = text.find(row.says, place)
                if at < 0:
                    yield f"{self._at(name)}: was judged, and does not stand there: {row.says}"
                    continue
                place = at + len(row.says)
                covered += row.says + " "
                for fault in self.row_faults(row):
                    yield f"{self._at(name)}: {fault}: {row.says}"
            place = 0
            for sentence in self.wanted.get(name, []):
                at = covered.find(sentence, place)
                place = at + len(sentence) if at >= 0 else place
                if at < 0:
                    yield f"{self._at(name)}: nobody judged as it stands: {sentence}"

    def _at(self, name: str) -> str:
        return f"{self.path.stem}{f' [{name}]' if name else ''}"

    def row_faults(self, row: Row) -> Iterator[str]:
        """Yield why a row's evidence does not decide its words as they were judged."""
        for by in row.by:
            seal = _SEAL.search(by)
            bare = by[: seal.start()] if seal else by
            try:
                now = self.seal(bare)
            except (KeyError, LookupError, OSError, ValueError) as error:
                yield str(error.args[0])
                continue
            if now != (seal[1] if seal else ""):
                yield (f"{bare} says something else than when this was judged by it" if seal
                       else f"{bare} has no seal: read it, then `own-words`")  # fmt: skip
        if {*map(kind_of, row.by)} - UNASKED and not row.false_if:
            yield "has no `false if`"

    def seal(self, by: str) -> str:
        """Return a hash of what a piece of evidence says; "" for what is judged.

        Raises:
            ValueError: it is not there, or does not support; the message says what is accepted.
        """
        word, _, why = by.partition(":")
        if word in JUDGED and (why.strip() or word in ("definition", "question", "what follows")):
            return ""
        if claim := _CLAIM.fullmatch(by):
            return self._claim(claim[1] or "", claim[2], claim[3])
        if by.startswith("@"):
            return hash_of(self._annotation(by[1:]), 6)
        if not (found := _PLACES.fullmatch(by)):
            raise ValueError(f"{by!r} decides nothing; accepted: LOSS-14, not LOSS-14[case], "
                             f"cell ID, text ID, test FILE::NAME, file NAME, @key, "
                             f"{': why, '.join(JUDGED)}")  # fmt: skip
        kind, name, other = found.groups()
        said: Callable[[], object] = {
            "cell": lambda: _shown(self._cell(name, other)),
            "text": lambda: _DISPLAY.findall("".join(self._cell(name, other)["source"])),
            "test": lambda: _tested(self.root, name),
            "file": lambda: (self.root / name).read_text(encoding="utf-8"),
        }[kind]
        if not (says := said()):
            raise ValueError(f"{by} shows nothing")
        return hash_of(says, 6)

    def _cell(self, name: str, notebook: str | None) -> Mapping[str, Any]:
        path = self.root / notebook if notebook else self.path
        cells = _cells(path) if path.suffix == ".ipynb" else {}
        if name not in cells:
            raise ValueError(f"{path.name} has no cell {name}")
        return cells[name]

    def _annotation(self, key: str) -> str:
        whole = (self.root / "book/references.bib").read_text(encoding="utf-8")
        entry = re.search(rf"^@\w+\{{{re.escape(key)},.*?^\}}", whole, re.DOTALL | re.MULTILINE)
        if not entry:
            raise ValueError(f"@{key} is not in the bibliography")
        return entry[0]

    def _claim(self, stance: str, id: str, case: str | None) -> str:
        entry = next((claim for claim in self.ledger.claims if claim.id == id), None)
        if entry is None:
            raise ValueError(f"{id} is no claim")
        verdict = _cases(self.root, id).get(case) if case else entry.verdict
        if verdict is None:
            raise ValueError(f"{id} has no case {case!r}")
        if verdict not in _STANCES[stance]:
            held = ", ".join(f"{name} {id}".strip() for name in _STANCES)
            raise ValueError(f"{stance} {id} does not decide this, for it is {verdict}: {held}")
        return hash_of([verdict, entry.says, entry.truth, entry.condition], 6)


def kind_of(by: str) -> str:
    """Return what a piece of evidence counts as.

    Example:
        >>> [kind_of(by) for by in ("LOSS-14#a1b2c3", "not RES-02", "text a", "we think: so")]
        ['a claim', 'a claim', 'a derivation', 'judged']
    """
    kinds = {"cell": "a run", "test": "a run", "file": "a run", "text": "a derivation"}
    word = by.partition(":")[0]
    if word in JUDGED or by == UNKNOWN:
        return JUDGED.get(word, "nothing")
    return "a source" if by[0] == "@" else kinds.get(by.split(" ")[0], "a claim")


def all_rows(root: Path) -> dict[Path, dict[str, list[Row]]]:
    """Return the rows of all texts by their files, in the order of reading."""
    files = [path.with_suffix(SUFFIX) for path in notebooks(root)]
    files = [path for path in files if path.is_file()] + sorted(root.glob(f"book/*{SUFFIX}"))
    return {path: read_rows(path.read_text(encoding="utf-8")) for path in files}


def sealed(text: Text, row: Row) -> Row:
    """Return a row whose evidence has its seals; one that has one keeps it."""
    made = list[str]()
    for by in row.by:
        seal = "" if _SEAL.search(by) or by == UNKNOWN else text.seal(by)
        made.append(f"{by}#{seal}" if seal else by)
    return Row(row.says, tuple(made), row.within, row.false_if)


@cache
def _read(path: Path, changed: int) -> dict[str, Mapping[str, Any]]:
    cells: Sequence[Any] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: cell for cell in cells}


def _cells(path: Path) -> dict[str, Mapping[str, Any]]:
    return _read(path, path.stat().st_mtime_ns)


def _shown(cell: Mapping[str, Any]) -> list[str]:
    """The lines that a cell has printed, or its figures tell."""
    outputs = cell.get("outputs", [])
    told = [o.get("text") or o.get("data", {}).get("text/plain") or "" for o in outputs]
    return list(filter(None, map("".join, told)))


def _tested(root: Path, name: str) -> str:
    path, _, test = name.partition("::")
    tree = ast.parse((root / path).read_text(encoding="utf-8"))
    nodes = [node for node in ast.walk(tree) if getattr(node, "name", None) == test]
    return ast.dump(nodes[0]) if nodes else ""


def _cases(root: Path, id: str) -> dict[str | None, str]:
    """The verdicts of a claim's cases."""
    found = [item.record for book in notebooks(root) for item in stored_records(book, root)]
    decided = decide_cases(load()[1][id], [record for record in found if id in record.claims])
    return {case: decision.verdict for case, decision in decided.items()}
