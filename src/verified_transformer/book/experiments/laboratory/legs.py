"""What a leg of a recorded experiment compares: arms at their best rates, seed by seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .learning import at_best_rate

Arm = dict[int, float]
Ways = Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]
Chosen = tuple[str, Callable[[Ways], Arm]]


def arms_of(ways: Ways, what: str) -> dict[str, Arm]:
    """Return what was measured of each way, each seed at the rate that is best for the others.

    Args:
        ways: by name, what was measured, by rate.
        what: was measured, such as ``"final"``.

    Raises:
        ValueError: a way has fewer than two seeds.
    """
    return {name: at_best_rate(found[what]) for name, found in ways.items()}


def best_of(ways: Ways, names: Iterable[str], what: str) -> Arm:
    """Return the best of several ways, way and rate chosen by the other seeds.

    Args:
        ways: by name, what was measured, by rate.
        names: of the ways.
        what: was measured.
    """
    every = {f"{name}, {rate}": row for name in names for rate, row in ways[name][what].items()}
    return at_best_rate(every)


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


def together(arms: Iterable[Arm], how: Callable[[Iterable[float]], float]) -> Arm:
    """Return one arm made of several, seed by seed.

    Args:
        arms: of the same seeds.
        how: such as ``max`` or ``min``.
    """
    every = list(arms)
    return {seed: how([arm[seed] for arm in every]) for seed in every[0]}


def race(heads: Mapping[str, Arm], one: str, others: Iterable[str]) -> tuple[Arm, Arm, Arm, Arm]:
    """Return one way, the slowest of others, how far it lies behind, and how far they lie apart.

    Args:
        heads: what was measured, by way.
        one: the way.
        others: the other ways.
    """
    rest = [heads[name] for name in others]
    mine, slow, fast = heads[one], together(rest, max), together(rest, min)
    gap = {seed: mine[seed] - slow[seed] for seed in mine}
    return mine, slow, gap, {seed: slow[seed] - fast[seed] for seed in mine}


def share_apart(ends: Iterable[Arm], floor: float = 0.0) -> Arm:
    """Return how far best and worst lie apart, as a share of the best.

    Args:
        ends: of several ways.
        floor: what is added to each, where the ends are told from a floor on.
    """
    every = list(ends)
    low, high = together(every, min), together(every, max)
    return {seed: (high[seed] - low[seed]) / (floor + low[seed]) for seed in low}


def of_curves(
    curves: Mapping[str, Sequence[Sequence[float]]], how: Callable[[Sequence[float]], float]
) -> dict[str, Arm]:
    """Return a number of each curve, by way and seed.

    Args:
        curves: by way, one for each seed.
        how: makes a number of a curve.
    """
    return {name: dict(enumerate(map(how, runs))) for name, runs in curves.items()}


def way(name: str, what: str = "final") -> Chosen:
    """Return an arm of one way, at its best rate.

    Args:
        name: of the way.
        what: was measured.
    """
    return name, lambda ways: at_best_rate(ways[name][what])


def legs_of(
    sources: Iterable[tuple[str, Ways, Mapping[str, Any]]], first: Chosen, second: Chosen, unit: str
) -> Iterator[dict[str, Any]]:
    """Yield what `experiment` takes for each leg that has both arms.

    Args:
        sources: name of a leg, what was measured of each way, what else is said of it.
        first, second: names of the arms, and how each is made of the ways; the first is predicted
            to be the higher.
        unit: what was measured.
    """
    for leg, ways, options in sources:
        try:
            arms = {name: choose(ways) for name, choose in (first, second)}
        except KeyError:  # a way that this leg has not
            continue
        yield {
            "arms": arms, "compares": (first[0], second[0]), "predicts": "positive",
            "unit": f"{leg}: {unit}", **options,
        }  # fmt: skip
