"""How long a call takes, apart from other work on the machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def median_seconds(call: Callable[[], Any], times: int = 5) -> float:
    """Return the median over several runs of the processor time of a call, in seconds.

    Raises:
        ValueError: ``times`` is not positive.
    """
    if times < 1:
        raise ValueError(f"times: got {times}; accepted: a positive number")
    spent = []
    for _ in range(times):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return statistics.median(spent)
