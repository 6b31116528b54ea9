"""Parts of a recorded experiment: what was measured of an arm in a setting, in a row by seed.

A recording keeps its parts and nothing that is computed from them. Whoever reads it runs the
experiment with every `part` found instead of made. So no mean and no chosen rate can be typed into
it, and a part that is missing, has fewer seeds or other rates, or is not asked for is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

Make = Callable[[], Any]
_NUMBER = re.compile(r"[\d.e-]+")
_FIND: ContextVar[Callable[..., Any] | None] = ContextVar("find", default=None)


def part(name: str, make: Make, *, seeds: Sequence[int] = (), rates: Sequence[float] = ()) -> Any:
    """Return a part of an experiment: made now, or found where a recording is read.

    Args:
        name: arm and setting, in words; no other part of the experiment has it.
        make: makes it, as JSON.
        seeds: its lists have a row for each.
        rates: its mappings from numbers have these keys.

    Raises:
        ValueError: it is not as said, or not there.
    """
    find = _FIND.get()
    return find(name, make, seeds, rates) if find else make()


def assembled(
    run: Make, kept: Mapping[str, Any], make: Callable[[str, Make], Any] | None = None
) -> tuple[Any, dict[str, Any]]:
    """Return what an experiment gives with its parts as they are kept, and the parts.

    Args:
        run: of the experiment.
        kept: parts by name.
        make: makes a part that is not kept, from its name and what makes it; where it is not
            said, such a part is refused.

    Raises:
        ValueError: a part is missing, is there twice, has other seeds or rates than the experiment
            says, or is one that it does not ask for.

    Example:
        >>> mean = lambda: sum(part("tied", lambda: [2.0, 4.0], seeds=range(2))) / 2
        >>> mean(), assembled(mean, {"tied": [1.0, 4.0]})
        (3.0, (2.5, {'tied': [1.0, 4.0]}))
        >>> assembled(mean, {"tied": [1.0]})
        Traceback (most recent call last):
        ...
        ValueError: part 'tied': has 1 rows; accepted: 2, one a seed
    """
    found: dict[str, Any] = {}

    def find(name: str, made: Make, seeds: Sequence[int], rates: Sequence[float]) -> Any:
        if name in found:
            raise ValueError(f"part {name!r}: is asked for twice; accepted: once")
        if name not in kept and make is None:
            raise ValueError(f"part {name!r}: is missing; accepted: {', '.join(kept)}")
        found[name] = kept[name] if name in kept or make is None else make(name, made)
        _check(found[name], f"part {name!r}", seeds, [f"{rate:g}" for rate in rates])
        return found[name]

    before = _FIND.set(find)
    try:
        result = run()
    finally:
        _FIND.reset(before)
    if more := [name for name in kept if name not in found]:
        raise ValueError(f"part {more[0]!r}: is not asked for; accepted: {', '.join(found)}")
    return result, found


def _check(value: Any, place: str, seeds: Sequence[int], rates: list[str]) -> None:
    if isinstance(value, list) and len(value) != len(seeds):
        raise ValueError(f"{place}: has {len(value)} rows; accepted: {len(seeds)}, one a seed")
    if not isinstance(value, Mapping):
        return
    if any(_NUMBER.fullmatch(key) for key in value) and [*value] != rates:
        raise ValueError(f"{place}: has {', '.join(value)}; accepted: {', '.join(rates)}")
    for key, inner in value.items():
        _check(inner, f"{place}, {key}", seeds, rates)
