"""How busy this machine is: what a fixed piece of work takes, against what it takes elsewhere.

A time limit tells what hangs from what is slow; so it follows the machine. The first process of a
run measures, and its workers inherit the answer through ``VERIFIED_PATIENCE``, which a person may
set as well.
"""

from __future__ import annotations

import os
import time

WORK = 6_000_000  # steps of a loop
REFERENCE = 0.3  # seconds that they take on two idle cores like those of the reference machine
VARIABLE = "VERIFIED_PATIENCE"


def calibrate() -> float:
    """Return how many times as long as on the reference machine this one takes, at least 1."""
    if VARIABLE not in os.environ:
        started = time.perf_counter()
        total = 0
        for step in range(WORK):
            total += step & 3
        taken = time.perf_counter() - started
        os.environ[VARIABLE] = f"{max(1.0, taken / REFERENCE):.2f}"
    return float(os.environ[VARIABLE])


def patient(seconds: float) -> float:
    """Return a time limit that stands for so many seconds on the reference machine."""
    return seconds * calibrate()
