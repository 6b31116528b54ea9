"""What the articles say, what the book adds, and how each is read.

The statements stand in ``claims/*.yaml`` and nowhere else; those of the book's own, ``BOOK-nn``,
in ``claims/book.yaml``, counted apart. A claim has an id that is never reused,
a place in its article, a kind and the statement in our own words. A claim that the book decides
also has a *reading*, written before its cell: the quantity and its domain in words, the formula,
and what would make it false. Importing this module needs neither SymPy nor torch.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ..serving import OWN as OWN
from ..serving import served
from .errata import Erratum, read_erratum
from .hashing import hash_of
from .reading import Clause, Reading, read_clauses, read_reading
from .rendering.formulas import latex_fault
from .rules import RegistryError, check_rules

CLAIM_KINDS = ("statement", "equation", "number", "attribution", "empirical")
_APART = ("discharges", "citations", "day", "without", "models")  # no part of the hash
_KEYS = {"id", "where", "kind", "says", "reading", "retired"}
PART = r"(?P<id>[A-Z]+-\d{2,})(?:\[(?P<case>[^\]]+)\])?(?:\.(?P<part>truth|claimed|told))?"
_ID = re.compile(r"[A-Z]+-(\d\d|[1-9]\d{2,})")  # BOOK-07, BOOK-107


@dataclass(frozen=True)
class Article:
    """Bibliographic data of an article, or the book itself for its own statements."""

    key: str
    title: str
    title_en: str
    author: str | None
    date: str | None
    url: str | None

    @property
    def chapter(self) -> int | None:
        """Number of the chapter that mirrors the article; None for the book's own statements."""
        return served().chapters.get(self.key)


@dataclass(frozen=True)
class Statement:
    """One claim of an article.

    Attributes:
        id, article, where, kind, says: as in the claims file.
        reading: how we read it; None until a chapter writes it.
        retired: the reason why the id is no longer in use, or None.
        erratum: what is wrong with it, and how much it matters, of a claim found wrong.
        keywords: what readers may look for it under; the search finds it first.
        clauses: its words, each with the cases that decide them; every word, where there are cases.
    """

    id: str
    article: str
    where: str
    kind: str
    says: str
    reading: Reading | None = None
    retired: str | None = None
    erratum: Erratum | None = None
    keywords: tuple[str, ...] = ()
    clauses: tuple[Clause, ...] = ()

    @cached_property
    def hash(self) -> str:
        """A hash of statement and reading; a record made from another wording is stale.

        What the reading discharges and cites, its day, its models, the recordings that it goes
        without, the erratum, keywords and clauses take no part: no check takes anything of them. (A
        citation's record, the age of evidence and what ran are held against the registry as it is.)
        """
        data = json.dumps([self.says, self.kind, self.reading], default=_plain, sort_keys=True)
        return hash_of(data, 12)

    @cached_property
    def reads(self) -> str | None:
        """A hash of the reading, with its clauses and all that `hash` leaves out; None: of none."""
        data = json.dumps([self.reading, self.clauses], default=_whole, sort_keys=True)
        return hash_of(data, 12) if self.reading else None


def _plain(thing: object) -> Any:
    return {key: value for key, value in _whole(thing).items() if key not in _APART}


def _whole(thing: object) -> Any:
    return {key: value for key, value in vars(thing).items() if value not in (None, (), {})}


@cache
def load(folder: Path | None = None) -> tuple[dict[str, Article], dict[str, Statement]]:
    """Read and validate all claims files.

    Args:
        folder: which has them; that of the book that is served by default.

    Returns:
        Articles by key and statements by id, both in chapter and article order.

    Raises:
        RegistryError: a duplicate id, an unknown kind or key, LaTeX that does not balance, or a
            ``uses`` that names no claim.
    """
    folder, chapters = folder or served().claims, served().chapters
    articles: dict[str, Article] = {}
    statements: dict[str, Statement] = {}
    files = sorted(
        (*folder.glob("*.yaml"), *folder.glob("*.json")),
        key=lambda path: (chapters.get(path.stem, 99), path.stem),
    )
    if not files:
        raise RegistryError(f"folder: got {folder}; accepted: a folder of claims files (*.yaml)")
    for path in files:
        data = contents(path)
        article = _article(data, path.name)
        if article.key not in (*chapters, OWN):
            raise RegistryError(f"{path.name}: article {article.key!r} is not a chapter's")
        articles[article.key] = article
        for entry in data["claims"]:
            statement = _statement(entry, article.key, path.name)
            if statement.id in statements:
                raise RegistryError(f"{path.name}: id {statement.id} is used twice")
            statements[statement.id] = statement
    for statement in statements.values():
        for other in statement.reading.uses if statement.reading else ():
            if other not in statements:
                raise RegistryError(f"{statement.id}: uses {other}, which is not in the registry")
    return articles, statements


def contents(path: Path) -> Any:
    """Return what a file says: YAML, or JSON where the published page carries it.

    Args:
        path: the file.

    Raises:
        RegistryError: it is no YAML, or a key stands twice in it; the message has the line.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return json.loads(text)
    import yaml

    try:
        return yaml.load(text, _loader())
    except yaml.YAMLError as error:
        raise RegistryError(f"{path.name}: {' '.join(str(error).split())}") from None


@cache
def _loader() -> Any:
    """YAML's own, which by itself takes the last of two equal keys, and says nothing."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen = set[str]()
            for key, _ in node.value:
                if key.value in seen:
                    twice = f"the key {key.value!r} stands twice"
                    raise yaml.constructor.ConstructorError(None, None, twice, key.start_mark)
                seen.add(key.value)
            return super().construct_mapping(node, deep)

    return Loader


def statement(id: str) -> Statement:
    """Return the statement with this id.

    Raises:
        KeyError: there is none, or it is retired; the message says so.
    """
    found = load()[1].get(id)
    if found is None:
        raise KeyError(f"id: {id!r} is not in the registry; accepted: ids such as LOSS-14")
    if found.retired:
        raise KeyError(f"id: {id} is retired: {found.retired}")
    return found


def reading_of(id: str, case: str | None = None) -> Reading:
    """Return the reading of a claim, or a case of it.

    Raises:
        KeyError: there is no such claim.
        ValueError: it has no such case, or no reading.
    """
    reading = statement(id).reading
    if reading is None or case not in reading.parts:
        raise ValueError(f"no case {case!r}" if case else "has no reading")
    return reading.parts[case]


def formula_of(reading: Reading, part: str | None = None) -> str:
    """Return a reading's formula, that of its ``truth``, or what is ``claimed``.

    Raises:
        ValueError: it has none.
    """
    parts = {None: reading.formula, "truth": reading.truth_formula, "claimed": reading.claimed}
    text = parts.get(part)
    if text is None:
        raise ValueError(f"has no {part or 'formula'}")
    return text


def _article(data: Any, file: str) -> Article:
    if not isinstance(data, dict) or set(data) != {"article", "claims"}:
        raise RegistryError(f"{file}: a claims file has the keys article and claims, and no other")
    about = {key: value for key, value in data["article"].items() if key != "seed"}
    wanted = set(Article.__dataclass_fields__)
    if set(about) != wanted:
        raise RegistryError(f"{file}: article has {sorted(about)}; accepted: {sorted(wanted)}")
    about = {key: None if value is None else str(value) for key, value in about.items()}
    return Article(**about)  # YAML reads 2015-02-06 as a date


def _statement(entry: dict[str, Any], article: str, file: str) -> Statement:
    name = entry.get("id", "?")

    def refuse(rule: str) -> RegistryError:
        return RegistryError(f"{file}: {name}: {rule}")

    kind, unknown = entry.get("kind"), set(entry) - _KEYS
    read = dict(entry.get("reading") or {})
    wrong, keywords = read.pop("erratum", None), read.pop("keywords", ())
    clauses = read.pop("clauses", {})
    check_rules(refuse, {
        "an id is capital letters, a hyphen and two digits or more": not _ID.fullmatch(str(name)),
        f"unknown keys {sorted(unknown)}": unknown,
        "'where' is missing": not entry.get("where"),
        "'says' is missing": not entry.get("says"),
        f"kind is {kind!r}; accepted: {', '.join(CLAIM_KINDS)}": kind not in CLAIM_KINDS,
        f"keywords are {list(keywords)}; accepted: words in small letters":
            any(word != str(word).lower() for word in keywords),
    })  # fmt: skip
    reading = read_reading(read, refuse) if read else None
    erratum = read_erratum(wrong, reading, refuse) if wrong and reading else None
    if reading and kind in ("equation", "number"):
        check_rules(refuse, {
            f"decides: got a case of an {kind}; accepted: legs of an experiment":
                reading.decides in reading.cases,
            f"citations of an {kind}, which can be computed":
                any(part.citations for part in reading.parts.values()),
        })  # fmt: skip
    for text in _texts(entry):
        if fault := latex_fault(text):
            raise refuse(f"{fault} in {text!r}")
    says = " ".join(entry["says"].split())
    return Statement(
        name, article, entry["where"], entry["kind"], says, reading, entry.get("retired"), erratum,
        tuple(keywords), read_clauses(clauses, says, reading, refuse) if reading else (),
    )  # fmt: skip


def _texts(data: object) -> list[str]:
    """Every text of an entry, but for citations, whose words are a source's and no LaTeX."""
    if isinstance(data, dict):
        return [text for key in data if key != "citations" for text in _texts(data[key])]
    if isinstance(data, list | tuple):
        return [text for value in data for text in _texts(value)]
    return [data] if isinstance(data, str) else []
