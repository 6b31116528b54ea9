"""Where the time of a run went: seconds of the clock and of the processor, by file.

A busy machine stretches the clock and leaves the processor's seconds nearly as they are, so these
tell what a change saves. A notebook's kernel and whatever else a test starts count with it.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from verifiedbook.commands.notebooks import warm_kernels

SHOWN = 15


def used() -> float:
    """Return the processor's seconds of this process, of its kernels, of children that ended."""
    return warm_kernels.used() + sum(os.times()[:4])


class Account:
    """Adds up what the files of a run take; in a worker, tells what each test took."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.clock: Counter[str] = Counter()
        self.processor: Counter[str] = Counter()
        self._last = used()

    def since(self) -> float:
        """Return the processor's seconds since the last call."""
        before, self._last = self._last, used()
        return self._last - before

    def add(self, name: str, clock: float, processor: float) -> None:
        """Add a phase of a test to its file."""
        self.clock[name] += clock
        self.processor[name] += processor

    def lines(self) -> list[str]:
        """What to print: the files that take most of the processor."""
        total = f"{self.clock.total():.0f} s, of the processor {self.processor.total():.0f} s"
        rows = [
            f"{self.clock[name]:7.1f} s  {seconds:7.1f} s  {name}"
            for name, seconds in self.processor.most_common(SHOWN)
        ]
        return [f"where the time went, of {total} in all:", *rows]

    def to_json(self, asked: list[str]) -> dict[str, Any]:
        """The same as data, for ``make times`` to keep."""
        return {
            "asked": asked,
            "when": datetime.now(UTC).date().isoformat(),
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "wall": round(time.perf_counter() - self.started, 1),
            "files": {
                name: {"clock": round(self.clock[name], 1), "processor": round(seconds, 1)}
                for name, seconds in self.processor.most_common()
            },
        }

    def write(self, root: Path, asked: list[str]) -> None:
        """Write it where nothing is committed."""
        target = root / "_build" / "times.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps(self.to_json(asked), indent=1) + "\n", encoding="utf-8")
