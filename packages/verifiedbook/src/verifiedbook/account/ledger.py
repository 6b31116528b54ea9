"""The ledger: every claim with its verdict and its evidence, as the book publishes it.

Reading it executes nothing and needs neither SymPy nor torch. `Ledger.to_json` is what stands in
``claims.json``; `schema` says what that holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import evidence, registry
from .errata import Erratum
from .records.notebook_records import (
    Found,
    notebooks,
    outdated,
    reworded,
    stored_records,
    uncounted,
)
from .records.record import METADATA_KEY, LedgerError, Record, Score
from .registry import Article, Statement
from .rendering.readable import told
from .verdicts import lock
from .verdicts.decide import Decision, decide_all
from .verdicts.lock import Change, Locked, State

__all__ = [
    "METADATA_KEY", "Entry", "Evidence", "Found", "Ledger", "LedgerError", "Summary",
    "collect", "notebooks", "read",
]  # fmt: skip

_MAY_ERR = ("wrong", "undecided")  # verdicts of a claim that may have an erratum


@dataclass(frozen=True)
class Evidence:
    """One record of a claim, as the ledger shows it; ``ran`` are the models that ran."""

    kind: str
    of: str
    case: str | None
    outcome: str
    text: str
    hash: str
    latex: str | None
    ran: Sequence[str] = ()


@dataclass(frozen=True)
class Entry:
    """A claim with its verdict and evidence.

    Attributes:
        id, article, where, kind, says: as in the registry.
        reading: how we read it, in words; None while no chapter has.
        setting: the article's own, as the reading gives it.
        reads: a hash of the reading, which the lock holds.
        verdict, judged, why: see `Decision`.
        nature: of a claim that is set aside: definition, plan, opinion or picture.
        retired: why the id is no longer in use, or None.
        erratum: of a wrong claim, how much it matters, as judged, and both numbers.
        history: how what it says and its verdict were changed, the oldest first.
        told: what was done about it, in a line of plain words.
        evidence: its records, in the order of the notebooks.
        truth, condition: what is true instead, or under which condition, in one text.
        truths, conditions: the same by case of the reading.
        inherited: pairs of a claim on which it rests, and that one's condition, which is its own.
        discharges: the same for conditions that are met here, and why.
        uses, used_by: ids of the claims on which it rests, and of those that rest on it.
        mutants: how many wrong versions its checks rejected.
        notebook, anchor: where it is decided.
    """

    id: str
    article: str
    where: str
    kind: str
    says: str
    reading: str | None
    setting: str | None
    reads: str | None
    verdict: str
    judged: bool
    why: str
    nature: str | None
    retired: str | None
    erratum: Erratum | None
    history: tuple[Change, ...]
    told: str
    evidence: tuple[Evidence, ...]
    truth: str | None
    condition: str | None
    truths: tuple[tuple[str | None, str], ...]
    conditions: tuple[tuple[str | None, str], ...]
    inherited: tuple[tuple[str, str], ...]
    discharges: tuple[tuple[str, str], ...]
    uses: tuple[str, ...]
    used_by: tuple[str, ...]
    mutants: Score
    notebook: str | None
    anchor: str | None

    @property
    def state(self) -> State:
        """What the lock holds of it."""
        return State(
            self.where, self.kind, lock.hash_of_words(self.says), self.verdict, self.judged,
            self.nature, self.retired,
            self.erratum.grade if self.erratum and self.verdict == "wrong" else None,
            self.reads,
        )  # fmt: skip


@dataclass(frozen=True)
class Summary:
    """How many statements are decided, and how."""

    total: int
    decided: int
    judged: int
    by_verdict: Mapping[str, int]
    mutants: Score


@dataclass(frozen=True)
class Ledger:
    """All claims, and their summary for all articles and for each."""

    summary: Summary
    by_article: Mapping[str, Summary]
    articles: tuple[Article, ...]
    claims: tuple[Entry, ...]

    def differences(self, locked: Mapping[str, Locked] | None = None) -> list[str]:
        """Say in words what differs from the lock, the package's own by default."""
        known = lock.read() if locked is None else locked
        found = lock.differences({claim.id: claim.state for claim in self.claims}, known)
        return [line for lines in found.values() for line in lines]

    def faults(self) -> list[str]:
        """Say which wrong claims have no erratum, which errata no wrong claim, which no root."""
        errata = [(claim, claim.erratum) for claim in self.claims if claim.erratum]
        found = [
            f"{claim.id}: wrong, and has no erratum: grade, headline and both numbers"
            for claim in self.claims
            if claim.verdict == "wrong" and claim.erratum is None
        ]
        places = Counter((claim.article, it.grade, it.order) for claim, it in errata)
        roots = {
            (claim.article, claim.id)
            for claim, it in errata
            if claim.verdict in _MAY_ERR and not it.follows
        }
        for claim, it in errata:
            if claim.verdict not in _MAY_ERR:
                found.append(f"{claim.id}: {claim.verdict}, and has an erratum")
            if places[claim.article, it.grade, it.order] > 1:
                found.append(f"{claim.id}: another erratum of its grade has the order {it.order}")
            if it.follows and (claim.article, it.follows) not in roots:
                found.append(f"{claim.id}: follows {it.follows}, which is no root of its article")
        return found

    def to_json(self) -> dict[str, Any]:
        """Return what stands in ``claims.json``."""
        parts = {key: _plain(part) for key, part in self.by_article.items()}
        return {
            "summary": {**_plain(self.summary), "by_article": parts},
            "articles": [{**vars(a), "chapter": a.chapter} for a in self.articles],
            "claims": [_plain(claim) for claim in self.claims],
        }


def _plain(thing: Any) -> Any:
    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {key: value for key, value in pairs if not (key == "below" and value is None)}

    return asdict(thing, dict_factory=made)


def read(root: Path) -> list[Found]:
    """Read all stored records, in order.

    Raises:
        LedgerError: a text is not its record's, a record was made from another wording of the
            claim, an id does not exist, or a recording is stale or left out; a line for each.
        ValueError: `root` has no notebooks.
    """
    statements = registry.load()[1]
    found, faults = list[Found](), list[str]()
    for notebook in notebooks(root):
        try:
            found += stored_records(notebook, root)
        except LedgerError as error:
            faults.append(str(error))
    for item in found:
        faults += [*reworded(item, statements), *outdated(item)]
    if faults := faults + uncounted(found, statements):
        raise LedgerError("\n".join(faults))
    return found


def collect(root: Path, locked: Mapping[str, Locked] | None = None) -> Ledger:
    """Read the stored records, and let verdicts and sums follow from them.

    Args:
        root: the repository.
        locked: the lock, whose histories the entries show; the package's own by default.

    Raises:
        LedgerError: see `read` and `decide_all`; or the lock has faults.
        ValueError: `root` has no notebooks.
    """
    articles, statements = registry.load()
    found, locked = read(root), lock.read() if locked is None else locked
    decisions = decide_all(statements, [item.record for item in found])
    own: dict[str, list[Found]] = {name: [] for name in statements}
    for item in found:
        for name in item.record.claims:
            own[name].append(item)
    used_by: dict[str, list[str]] = {name: [] for name in statements}
    for name, decision in decisions.items():
        for other in decision.uses:
            used_by[other].append(name)
    claims = tuple(
        _entry(s, decisions[name], own[name], used_by[name], locked.get(name))
        for name, s in statements.items()
    )
    return Ledger(
        summary=_count([c for c in claims if c.article != registry.OWN]),
        by_article={key: _count([c for c in claims if c.article == key]) for key in articles},
        articles=tuple(articles.values()),
        claims=claims,
    )


def _count(claims: Sequence[Entry]) -> Summary:
    verdicts = Counter(c.verdict for c in claims)
    return Summary(
        total=len(claims),
        decided=len(claims) - verdicts["undecided"],
        judged=sum(c.judged for c in claims),
        by_verdict={name: verdicts[name] for name in evidence.VERDICTS if verdicts[name]},
        mutants=_sum([c.mutants for c in claims]),
    )


def _sum(scores: Sequence[Score]) -> Score:
    below = sum(s.below or 0 for s in scores)
    return Score(sum(s.killed for s in scores), sum(s.total for s in scores), below or None)


def _entry(
    statement: Statement,
    decision: Decision,
    items: Sequence[Found],
    used_by: Sequence[str],
    locked: Locked | None,
) -> Entry:
    reading = statement.reading
    records: list[Record] = [item.record for item in items]
    readings = reading.parts if reading else {}
    conditions = tuple((case, r.condition) for case, r in readings.items() if r.condition)
    truths = tuple((case, r.truth) for case, r in readings.items() if r.truth)
    inherited = decision.inherited if decision.verdict == "holds-if" else ()
    condition = " ".join(text for _, text in (*conditions, *inherited)) or None
    only_if = f"Only if {condition}" if condition else None
    return Entry(
        id=statement.id, article=statement.article, where=statement.where, kind=statement.kind,
        says=statement.says, reading=reading.told if reading else None,
        setting=reading.setting if reading else None, reads=statement.reads,
        verdict=decision.verdict, judged=decision.judged, why=decision.why,
        nature=next((r.statement for r in records if r.kind == "set-aside"), None),
        retired=statement.retired, erratum=statement.erratum,
        history=locked.history if locked else (),
        told=told(records),
        evidence=tuple(
            Evidence(
                r.kind, r.of, r.case, r.outcome, item.text, r.hash, r.latex, (*map(str, r.ran),)
            ) for item, r in zip(items, records, strict=True)
        ),
        truth=" ".join(text for _, text in truths) or only_if,
        condition=condition, truths=truths, conditions=conditions,
        inherited=decision.inherited,
        discharges=tuple(reading.discharges.items()) if reading else (),
        uses=decision.uses, used_by=tuple(sorted(used_by)),
        mutants=_sum([r.mutants for r in records if r.mutants]),
        notebook=items[0].notebook if items else None,
        anchor=statement.id if items else None,
    )  # fmt: skip
