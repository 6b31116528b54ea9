"""Parts of a long experiment, kept on the disk as they are made, so that nothing is lost.

``VERIFIED_PARTS=FOLDER`` keeps them: an experiment that was cut off goes on where it was. Parts
that other code made are refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

Size = TypeVar("Size")
EXPERIMENTS = Path(__file__).parents[1]


def _code() -> str:
    """The hash of all files of this wing and of the seeds."""
    files = [*sorted(EXPERIMENTS.rglob("*.py")), EXPERIMENTS.parents[1] / "seeds.py"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


CODE = _code()  # as it was imported


def part(name: str, make: Callable[[], Any]) -> Any:
    """Return a part of an experiment: the one that is kept, or one that is made now.

    Args:
        name: of the experiment and the part, in words.
        make: makes it, as JSON.

    Raises:
        ValueError: other code made the part that is kept.
    """
    folder = os.environ.get("VERIFIED_PARTS")
    if not folder:
        return make()
    path = Path(folder) / (hashlib.sha256(name.encode()).hexdigest()[:16] + ".json")
    if path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["code"] != CODE:
            raise ValueError(f"VERIFIED_PARTS: {name!r} was made by other code; accepted: this")
        return kept["value"]
    began = time.process_time()
    value = make()
    kept = {"name": name, "code": CODE, "seconds": time.process_time() - began, "value": value}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".new").write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")
    path.with_suffix(".new").rename(path)
    return value


def family(
    name: str,
    sizes: Mapping[str, Size],
    tasks: Callable[[Size], Mapping[str, Any]],
    ways: Mapping[str, Any],
    make: Callable[..., Any],
    **setting: Any,
) -> dict[str, Any]:
    """Make every way in every size on every task, each a `part`.

    Args:
        name: of the experiment.
        sizes: by name.
        tasks: of a size, by name.
        ways: by name.
        make: makes a part of a way, a size and a task.
        setting: what else it is given.

    Returns:
        By task, size and way what was made.
    """
    found: dict[str, Any] = {}
    for size, numbers in sizes.items():
        for task, learnt in tasks(numbers).items():
            for way, what in ways.items():
                called = f"{name}, {task}, {size}, {way}, {setting}"
                made = part(called, partial(make, what, numbers, learnt, **setting))
                found.setdefault(task, {}).setdefault(size, {})[way] = made
    return found
