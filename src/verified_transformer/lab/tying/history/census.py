"""Who ties: shares by year, and how likely such a fall is by chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import comb

Dated = tuple[int, bool]  # a year, and whether the architecture of that year ties


def chance_of_so_early(rows: Sequence[Dated]) -> float:
    """Return how often the tied ones would be as early if their years were dealt out at random.

    All ways to choose which of the rows tie are counted, year by year, in whole numbers.

    Args:
        rows: pairs (year, whether it ties).

    Raises:
        ValueError: no row ties.
    """
    own = [year for year, tied in rows if tied]
    if not own:
        raise ValueError("rows: none of them ties; accepted: at least one that does")
    ways = Counter({(0, 0): 1})  # (tied so far, sum of their years): number of ways
    for year, many in Counter(year for year, _ in rows).items():
        longer: Counter[tuple[int, int]] = Counter()
        for (count, total), number in ways.items():
            for more in range(many + 1):
                longer[count + more, total + more * year] += number * comb(many, more)
        ways = longer
    early = sum(w for (c, s), w in ways.items() if c == len(own) and s <= sum(own))
    return early / comb(len(rows), len(own))


def share_with_error(ties: Sequence[bool]) -> tuple[float, float, float]:
    """Return the share that ties and how far Wilson's 99.7 % interval reaches below and above it.

    Args:
        ties: whether each one ties; at least one.
    """
    from scipy.stats import binomtest  # takes a second to load

    share = sum(ties) / len(ties)
    interval = binomtest(sum(ties), len(ties)).proportion_ci(0.9973, method="wilson")
    return share, max(0.0, share - interval.low), max(0.0, interval.high - share)
