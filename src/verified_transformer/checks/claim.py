"""Deciding a claim: prove, check, measure, refute, reproduce, count, cite, set aside.

    claim("LOSS-14").prove(variance(total(w[i] ** 2, i)))
    claim("LOSS-14").measure(variance(total(w[i] ** 2, i)), squared_norm, at=[{d: 3, σ: 1.3}, …])

Every method takes the formula from the registry's reading, never from the cell; runs the check and
its mutants; displays a record; and raises `ClaimFailed`, which names the claim, where the check
fails. The verdict is not typed anywhere: it follows from the records (see `account`).
"""

from __future__ import annotations

from ..account.records.record import Record
from .against import Against
from .by_draws.equality import ByEquality
from .by_draws.sampled import BySampling
from .by_measurement import ByMeasurement
from .exactly import ByCount, ByOracle, ByProof
from .of_the_world import ByExperiment, BySources
from .subject import ClaimFailed
from .what_ran import watch
from .within import Within

__all__ = ["Claim", "ClaimFailed", "Record", "claim"]

watch()  # in a notebook what ran before the first claim counts as well


def claim(*ids: str) -> Claim:
    """Return a claim to decide; on several ids, a joint one whose records count for each.

    Args:
        ids: ids such as ``"LOSS-14"``; joint claims must have the same formula.

    Raises:
        KeyError: an id is not in the registry, or is retired.
        ValueError: no id, or ids with different formulas.
    """
    watch()
    return Claim(ids)


class Claim(
    ByProof, ByOracle, ByCount, ByMeasurement, BySampling, ByEquality, Against, Within,
    ByExperiment, BySources,
):  # fmt: skip
    """One claim (or one case of it, or its truth), ready to be decided.

    Exactly: `prove`, `check`, `check_that`, `count`. By measurement: `measure`. On random
    draws: `sampled_that`, `same`. Against it: `refute`, `refute_that`, `fails_without`. Under
    its condition: `meets`, `meets_that`. By the world: `experiment`, `census`, `cited`,
    `set_aside`, `attempt`.

    Args:
        ids: the claim's id, or several for a joint claim.
        case: name of a case of the reading.
        of: "reading" for what the article says, "truth" for the right statement.
    """
