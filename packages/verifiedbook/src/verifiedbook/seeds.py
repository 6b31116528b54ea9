"""Where randomness comes from: the seed of a name, a generator for it, and the device.

Nobody chooses a seed: it is a hash of what it is for. One switch chooses the device: the
environment variable ``VERIFIED_DEVICE`` (``cpu``, ``cuda``, …); without it CUDA where there is one,
else the CPU (never MPS, which has no float64). ``VERIFIED_SALT`` puts other draws instead of all of
the book's, to see whether a check depends on them. ``VERIFIED_FINER``, 1 by default, says how many
times finer than written measurements resolve; ten times takes a hundred times the draws.
"""

from __future__ import annotations

import hashlib
import math
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def seed_of(name: str) -> int:
    """Return the seed that belongs to a name: a hash of it, so that nobody chooses seeds.

    Args:
        name: what is drawn, in words.

    Returns:
        An integer from 0 to 2**56 - 1.

    Raises:
        TypeError: a name that is no text.
        ValueError: an empty one.
    """
    if not isinstance(name, str):
        raise TypeError(f"name: got {name!r}; accepted: a text that says what is drawn")
    if not name:
        raise ValueError("name: got ''; accepted: a text that says what is drawn")
    salted = os.environ.get("VERIFIED_SALT", "") + name
    return int.from_bytes(hashlib.sha256(salted.encode()).digest()[:7], "big")


def generator(name: str, where: torch.device | str = "cpu") -> torch.Generator:
    """Return a torch generator seeded from a name.

    Args:
        name: what is drawn, in words.
        where: the device; the CPU by default, whose stream is the same on every machine.

    Example:
        >>> import torch
        >>> int(torch.randint(10, (), generator=generator("a die with ten faces")))
        8
    """
    import torch

    return torch.Generator(where).manual_seed(seed_of(name))


def device() -> torch.device:
    """Return the device on which everything is measured (see the module's text).

    Raises:
        ValueError: ``VERIFIED_DEVICE`` names none, or one without float64.
    """
    import torch

    chosen = os.environ.get("VERIFIED_DEVICE")
    if chosen == "mps":
        raise ValueError("VERIFIED_DEVICE: got 'mps', which has no float64; accepted: cpu, cuda")
    try:
        return torch.device(chosen or ("cuda" if torch.cuda.is_available() else "cpu"))
    except RuntimeError:
        raise ValueError(f"VERIFIED_DEVICE: got {chosen!r}; accepted: cpu, cuda, cuda:1") from None


def finer() -> float:
    """Return how many times finer than written the claims' measurements resolve.

    Raises:
        ValueError: ``VERIFIED_FINER`` is no number of at least 1.
    """
    given = os.environ.get("VERIFIED_FINER") or "1"
    try:
        times = float(given)
    except ValueError:
        times = math.nan
    if not 1 <= times < math.inf:
        raise ValueError(f"VERIFIED_FINER: got {given!r}; accepted: a number of at least 1")
    return times
