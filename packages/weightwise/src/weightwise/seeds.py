"""The seed of a name: nobody chooses seeds.

``VERIFIED_SALT`` in the environment puts other draws in the place of all, to see whether something
depends on them.
"""

from __future__ import annotations

import hashlib
import os


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
