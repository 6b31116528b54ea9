"""How often the checks of the book fail though nothing is wrong: only by other draws.

A check on random draws is designed to a level. Summed over the stored records, the levels say how
many failures other seeds may bring by chance; what comes more often has a cause.
"""

from __future__ import annotations

from collections.abc import Iterable

from .record import Record

FALSE_ALARM = 1e-6  # of one measurement, where the formula is right; two in a row make a failure
MISS = 1e-3  # of one measurement, of a formula that is off by the resolution; two in a row as well


def by_chance(record: Record) -> float:
    """Return the probability, at most, that other draws turn a record's check into a failure.

    What has no level counts nothing: a proof, an enumeration, a recorded run, a predicate that is
    never false, and the sign of an experiment, which has a margin in its place.
    """
    if record.kind != "measurement":
        return 0.0
    points = len(record.volatile.estimates)
    mutants = record.mutants.killed if record.mutants else 0
    return points * (FALSE_ALARM**2 + mutants * MISS**2)


def expected(records: Iterable[Record]) -> float:
    """Return how many checks fail by chance, at most and on average, when all are run once.

    Example:
        >>> expected([])
        0.0
    """
    return sum(map(by_chance, records), 0.0)
