"""What a statement says, clause by clause, and which cases decide each.

The verdict on a claim is the worst of its cases, so that a case which is missing makes it better.
Therefore every word of the statement stands in a clause, and every case decides one: whoever drops
a case leaves words that nothing decides. A reading without cases decides all but what is said not
to be judged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from .reading import Reading

_NOT = "not judged: "
_JOINS = {"and", "but", "or", "so", "then", "hence", "thus", "therefore", "while"}
_WORD = re.compile(r"[^\s,;:.]+")


@dataclass(frozen=True)
class Clause:
    """Words of a statement.

    Attributes:
        words: as they stand in the statement.
        cases: names of the cases of the reading that decide them.
        why: why they are not judged, where no case decides them.
    """

    words: str
    cases: tuple[str, ...] = ()
    why: str | None = None


def read_clauses(
    given: Mapping[str, object], says: str, reading: Reading, refuse: Callable[[str], Exception]
) -> tuple[Clause, ...]:
    """Read the clauses of a statement as a claims file has them.

    Args:
        given: words of the statement, each with a case, a list of cases, or ``not judged: why``.
        says: the statement.
        reading: whose cases decide it.
        refuse: makes the error of a broken rule, which names file and claim.

    Raises:
        RegistryError: a clause does not stand in the statement once, or names no case that decides;
            a case decides no clause; or words other than those that join stand in no clause.
    """
    clauses = tuple(_clause(" ".join(words.split()), by) for words, by in given.items())
    for clause in clauses:
        if (times := says.count(clause.words)) != 1:
            raise refuse(f"clauses: “{clause.words}” stands {times} times in what is said")
        if unknown := [case for case in clause.cases if case not in reading.cases]:
            accepted = ", ".join(reading.cases) or "none"
            raise refuse(f"clauses: got the case {unknown[0]!r}; accepted: {accepted}")
        if not (clause.why or set(clause.cases) & set(reading.deciding)):
            raise refuse(f"clauses: no case decides “{clause.words}”; accepted: one, or {_NOT}why")
    for case in reading.cases:
        if not any(case in clause.cases for clause in clauses):
            raise refuse(f"clauses: none names the case {case!r}; accepted: the words it decides")
    if reading.cases and (left := " … ".join(_outside(says, clauses))):
        raise refuse(f"clauses: none has the words “{left}” of what is said")
    return clauses


def _clause(words: str, by: object) -> Clause:
    if isinstance(by, str) and by.startswith(_NOT):
        return Clause(words, why=by.removeprefix(_NOT))
    return Clause(words, tuple(map(str, by)) if isinstance(by, list) else (str(by),))


def _outside(says: str, clauses: tuple[Clause, ...]) -> Iterator[str]:
    """The words that stand in no clause, but for those that only join."""
    places = [says.index(clause.words) for clause in clauses]
    ends = [at + len(clause.words) for at, clause in zip(places, clauses, strict=True)]
    for word in _WORD.finditer(says):
        inside = any(at <= word.start() < end for at, end in zip(places, ends, strict=True))
        if not inside and word.group().lower() not in _JOINS:
            yield word.group()
