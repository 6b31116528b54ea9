"""A build for a course: its exercises judge an answer, and hold no solution.

What an answer is held against is sealed. Of a number there is neither value nor sentence: a grid
finer than what may be off has the answer in one bin, whose name, hashed with the exercise's own,
stands for it, and opens what is then said. A formula keeps its values at points. Whoever looks
finds nothing; a program that tries all numbers does.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from itertools import count
from typing import Any

__all__ = ["EXERCISE_KEY", "sealed_key", "withheld"]

EXERCISE_KEY = "vt-exercise"  # in an output's metadata, what answers are held against
AGREES = "It agrees wherever it was tried."
_FINER = 20  # bins of the grid in what a number may be off
_SMALLEST = 1e-300  # stands for zero, which has no logarithm
_SOLUTION = re.compile(r"<details><summary>Solution</summary>.*?</details>\s*", re.S)
_CALL = re.compile(r'(\bexercise\("[\d.]+")\)')
Key = dict[str, Any]


def withheld(notebook: str) -> str:
    """Return a notebook without the solutions of its exercises, as JSON.

    Neither have its outputs any, nor do its cells show one when they are run.

    Args:
        notebook: as JSON.
    """
    book = json.loads(notebook)
    for cell in book["cells"]:
        keyed = [o for o in cell.get("outputs", ()) if EXERCISE_KEY in o.get("metadata", {})]
        for output in keyed:
            del output["metadata"][EXERCISE_KEY]
            text = _SOLUTION.sub("", "".join(output["data"]["text/markdown"]))
            output["data"]["text/markdown"] = text.splitlines(keepends=True)
        if keyed:
            code = _CALL.sub(r"\1, solution=False)", "".join(cell["source"]))
            cell["source"] = code.splitlines(keepends=True)
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"


def sealed_key(key: Key, typeset: Callable[[str], dict[str, str]]) -> Key:
    """Return what a page of a course judges answers by.

    Args:
        key: of an exercise, as its output has it.
        typeset: makes of a sentence the HTML of its formulas, by their LaTeX.

    Returns:
        JSON data: of a choice its ``letters``; ``right``, ``known``, ``slips`` and ``say`` have for
        what is said the name of the answer to it, both sealed. A formula's ``right`` is not.
    """

    def rows(names: Iterable[tuple[str, str]]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, say in names:
            text = json.dumps([say, typeset(say)], ensure_ascii=False, separators=(",", ":"))
            salted = f"{key['id']} {name}"
            found.setdefault(_tag(salted), _closed(salted, text))
        return dict(sorted(found.items()))

    def binned(rows: Iterable[Sequence[Any]]) -> Iterable[tuple[str, str]]:
        return ((_bin(values, key["within"]), say) for say, *every in rows for values in every
                if None not in values)  # fmt: skip

    kept = {name: key[name] for name in ("id", "kind", "names", "at", "within", "unit", "told")
            if name in key} | {"sealed": True}  # fmt: skip
    if key["kind"] == "choice":
        letter, say = _tag(f"{key['id']} {key['right']}"), key["say"]
        return kept | {"letters": [*say], "right": letter, "say": rows(say.items())}
    if key["kind"] not in ("number", "formula"):
        return kept
    plain = key["kind"] == "formula"
    right = [AGREES, key["right"][1]] if plain else rows(binned([key["right"]]))
    return kept | {
        "right": right, "known": rows(binned(key["known"])), "slips": rows(binned(key["slips"])),
    }  # fmt: skip


def _bin(values: Sequence[float], within: float) -> str:
    """The name of the bin in which values are: their signs, and the place of their mean size."""
    sizes = [math.log(max(abs(value), _SMALLEST)) for value in values]
    place = sum(sizes) / len(sizes) / (within / _FINER)
    signs = "".join("-" if value < 0 else "+" for value in values)
    return f"{signs}{math.floor(place + 0.5)}"


def _tag(name: str) -> str:
    return sha256(name.encode()).hexdigest()[:16]


def _closed(name: str, text: str) -> str:
    """A text in letters that only its name opens."""
    data = text.encode()
    blocks = (sha256(f"{name} {n}".encode()).digest() for n in count())
    stream = (byte for block in blocks for byte in block)
    return b64encode(bytes(a ^ b for a, b in zip(data, stream, strict=False))).decode()
