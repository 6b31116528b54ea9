"""A family of parts of an experiment: every way, in every size, on every task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from verifiedbook.account.parts import part

Size = TypeVar("Size")


def family(
    sizes: Mapping[str, Size],
    tasks: Callable[[Size], Mapping[str, Any]],
    ways: Mapping[str, Any],
    make: Callable[..., Any],
    *,
    seeds: Sequence[int],
    rates: Callable[[Any], Sequence[float]],
    **setting: Any,
) -> dict[str, Any]:
    """Make every way in every size on every task, each a `part`.

    Args:
        sizes: by name.
        tasks: of a size, by name.
        ways: by name.
        make: makes a part of a way, a size and a task.
        seeds, rates: of a part, the latter of its way.
        setting: what else ``make`` is given, beside the number of seeds.

    Returns:
        By task, size and way what was made.
    """
    found: dict[str, Any] = {}
    for size, numbers in sizes.items():
        for task, learnt in tasks(numbers).items():
            for way, what in ways.items():
                work = partial(make, what, numbers, learnt, seeds=len(seeds), **setting)
                made = part(f"{task}, {size}, {way}", work, seeds=seeds, rates=rates(what))
                found.setdefault(task, {}).setdefault(size, {})[way] = made
    return found
