"""How old evidence is: a claim about its own day is held against nothing that came later."""

from __future__ import annotations

import re

_DAY = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


def checked_day(day: object) -> str:
    """Return a day as it is.

    Args:
        day: as YYYY, YYYY-MM or YYYY-MM-DD.

    Raises:
        ValueError: it is no day.
    """
    text = str(day)
    if not _DAY.fullmatch(text):
        raise ValueError(f"day: got {text!r}; accepted: YYYY, YYYY-MM or YYYY-MM-DD")
    return text


def younger(datum: str, day: str) -> bool:
    """Whether a datum came after a day, as far as both are known.

    Example:
        >>> younger("2023", "2023-07"), younger("2023-08", "2023-07"), younger("2024", "2023-07")
        (False, True, True)
    """
    length = min(len(datum), len(day))
    return datum[:length] > day[:length]


def age_fault(datum: str | None, day: str | None, what: str) -> str | None:
    """Say why evidence says nothing of a claim's day, or return None where it does.

    Args:
        datum: the day of the youngest datum, or None where nobody said.
        day: of which the claim speaks, or None where it speaks of none.
    """
    if day is None:
        return None
    if datum is None:
        return f"{what} does not say how young its data are; the claim speaks of {day}"
    return f"{what} is of {datum}, younger than {day}" if younger(datum, day) else None
