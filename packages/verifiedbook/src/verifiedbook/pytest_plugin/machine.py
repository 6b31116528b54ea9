"""How busy this machine is: what a fixed piece of work takes, against what it takes elsewhere.

A time limit tells what hangs from what is slow; so it follows the machine. The first process of a
run measures, with as many processes at a time as will run, for two that share a core or its memory
slow each other down; its workers inherit the answer through ``VERIFIED_PATIENCE``, which a person
may set as well.
"""

from __future__ import annotations

import os
import subprocess
import sys

REFERENCE = 0.12  # seconds that WORK takes on an idle core of the machine whose times are kept
VARIABLE = "VERIFIED_PATIENCE"
WORK = """
import time
def work():
    started = time.perf_counter()
    total = 0
    for step in range(6_000_000):
        total += step & 3
    return time.perf_counter() - started
print(work())
"""


def calibrate(processes: int = 1) -> float:
    """Return how many times as long as on the reference machine this one takes, at least 1.

    Args:
        processes: that work at a time; the slowest of them counts.
    """
    if VARIABLE not in os.environ:
        command = [sys.executable, "-I", "-S", "-c", WORK]
        working = [
            subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(max(1, processes))
        ]
        taken = max(float(one.communicate()[0]) for one in working)
        os.environ[VARIABLE] = f"{max(1.0, taken / REFERENCE):.2f}"
    return float(os.environ[VARIABLE])


def patient(seconds: float) -> float:
    """Return a time limit that stands for so many seconds on the reference machine."""
    return seconds * calibrate()
