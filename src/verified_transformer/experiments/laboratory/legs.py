"""What a leg of a recorded experiment compares: arms at their best rates, seed by seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from .learning import at_best_rate

Arm = dict[int, float]


def arms_of(
    ways: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]], what: str
) -> dict[str, Arm]:
    """Return what was measured of each way, each seed at the rate that is best for the others.

    Args:
        ways: by name, what was measured, by rate.
        what: was measured, such as ``"final"``.

    Raises:
        ValueError: a way has fewer than two seeds.
    """
    return {name: at_best_rate(found[what]) for name, found in ways.items()}


def best_of(
    ways: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]], names: Iterable[str], what: str
) -> Arm:
    """Return the best of several ways, way and rate chosen by the other seeds.

    Args:
        ways: by name, what was measured, by rate.
        names: of the ways.
        what: was measured.
    """
    every = {f"{name}, {rate}": row for name in names for rate, row in ways[name][what].items()}
    return at_best_rate(every)


def at_rate_of(
    ways: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]],
    name: str,
    other: str,
    what: str,
) -> Arm:
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


def together(arms: Iterable[Arm], how: Callable[[Iterable[float]], float]) -> Arm:
    """Return one arm made of several, seed by seed.

    Args:
        arms: of the same seeds.
        how: such as ``max`` or ``min``.
    """
    every = list(arms)
    return {seed: how([arm[seed] for arm in every]) for seed in every[0]}
