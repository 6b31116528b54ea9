"""What a leg of a recorded experiment compares: arms at their best rates, seed by seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .learning import at_best_rate

Arm = dict[int, float]
Ways = Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]


def arms_of(ways: Ways, what: str) -> dict[str, Arm]:
    """Return what was measured of each way, each seed at the rate that is best for the others.

    Args:
        ways: by name, what was measured, by rate.
        what: was measured, such as ``"final"``.

    Raises:
        ValueError: a way has fewer than two seeds.
    """
    return {name: at_best_rate(found[what]) for name, found in ways.items()}


def at_rate_of(ways: Ways, name: str, other: str, what: str) -> Arm:
    """Return a way at the rate that suits another way best, as the other seeds choose it.

    Args:
        ways: by name, what was measured, by rate.
        name: of the way.
        other: of the way that chooses the rate, among those at which both were tried.
        what: was measured.
    """
    mine, chooses = ways[name][what], ways[other][what]
    common = [rate for rate in chooses if rate in mine]
    found = {}
    for seed in range(len(mine[common[0]])):
        rest = {r: [x for i, x in enumerate(chooses[r]) if i != seed] for r in common}
        found[seed] = mine[min(common, key=lambda r: sum(rest[r]))][seed]
    return found
