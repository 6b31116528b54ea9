"""Hashes of texts, and of data as JSON has them. What code means has a key, not a hash (`code`)."""

from __future__ import annotations

import hashlib
import json


def hash_of(thing: object, digits: int = 8) -> str:
    """Return the hash of a text, or of data.

    Args:
        thing: a text as it stands; anything else as JSON, keys sorted.
        digits: hexadecimal ones of it that are kept.

    Example:
        >>> hash_of({"b": 1, "a": "σ"}) == hash_of('{"a": "σ", "b": 1}')
        True
    """
    text = (
        thing if isinstance(thing, str) else json.dumps(thing, sort_keys=True, ensure_ascii=False)
    )
    return hashlib.sha256(text.encode()).hexdigest()[:digits]
