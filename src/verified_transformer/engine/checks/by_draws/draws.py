"""Random draws that the library makes: each from a name, so that nobody chooses a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import Any

from ..what_ran import seen

LEAST_DRAWS = 20  # fewer cannot tell "always" from "four times in five"
_COMPARED = 3

Draw = Callable[[str], Any]


def names_of(subject: str, n: int) -> list[str]:
    """Return the names from which a claim's draws are made.

    Args:
        subject: what is decided, such as ``"LOSS-14 reading"``.
        n: how many draws.

    Raises:
        ValueError: ``n`` is no whole number, or too small.
    """
    if not isinstance(n, int) or n < LEAST_DRAWS:
        raise ValueError(f"n: got {n!r}; accepted: a whole number, at least {LEAST_DRAWS}")
    return [f"{subject} draw {index}" for index in range(n)]


def require_draws(draw: Draw, names: list[str]) -> list[Any]:
    """Refuse a draw that is no function of a name, or that gives the same thing for every name.

    Returns:
        The things of the first names, as they were drawn.

    Raises:
        TypeError: ``draw`` is no function.
        ValueError: it ignores the name, or gives something else when it is asked again.
    """
    if not callable(draw):
        raise TypeError(
            f"draw: got {type(draw).__name__}; accepted: a function of a name, such as "
            "lambda name: torch.randn(3, generator=generator(name))"
        )
    things = [draw(name) for name in names[:_COMPARED]]
    found = [content(thing) for thing in things]
    if None in found:
        return things  # what cannot be written down cannot be compared
    if len(set(found)) < len(found):
        raise ValueError("draw: gives the same thing for different names; make it from the name")
    if content(draw(names[0])) != found[0]:
        raise ValueError("draw: gives another thing for the same name; make it from the name alone")
    return things


def drawn(draw: Draw, names: list[str]) -> Iterator[Any]:
    """Yield what is drawn from each name, once: a real model takes a second to draw.

    Raises:
        TypeError, ValueError: see `require_draws`.
    """
    things = require_draws(draw, names)
    return map(seen, chain(things, map(draw, names[len(things) :])))


def content(thing: Any) -> object | None:
    """Return what can be compared of a thing; None where it is more than arrays and numbers.

    Args:
        thing: that was drawn.
    """
    import numpy as np
    import torch

    if isinstance(thing, torch.nn.Module):
        thing = dict(thing.state_dict())
    if isinstance(thing, torch.Tensor):
        thing = thing.detach().cpu().numpy()
    if isinstance(thing, np.ndarray):
        return str(thing.dtype), thing.shape, thing.tobytes()
    if is_dataclass(thing) and not isinstance(thing, type):
        thing = {field.name: getattr(thing, field.name) for field in fields(thing)}
    if isinstance(thing, dict):
        thing = list(thing.items())
    if isinstance(thing, list | tuple):
        parts = [content(part) for part in thing]
        return None if None in parts else tuple(parts)
    return (thing,) if isinstance(thing, int | float | complex | str) else None
