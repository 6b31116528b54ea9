"""The comparison of `tied_convergence` with eight times as many tokens, most of them rare.

In the small setting each token is met hundreds of times. Here half of the tokens are met fewer
than ten times, as in the first steps of a real training run. Three heads are compared: the small
standard deviation, and an untied and a shuffled head at the usual one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .tied_convergence import Setting, compare

SEEDS = {"choice of the rate": [0], "comparison": [2, 3, 4]}
SETTING = Setting(n=2048, d=256, steps=300, look_every=10)


def run() -> dict[str, Any]:
    """The recorded comparison."""
    return _compare(SETTING)


def fingerprint() -> dict[str, Any]:
    """The same at toy sizes."""
    return _compare(replace(SETTING, n=64, d=32, sequences=4, length=8, steps=8, look_every=4))


def _compare(setting: Setting) -> dict[str, Any]:
    return compare(
        setting,
        remedies=("small σ", "untied", "half swap"),
        rates=(0.001, 0.002, 0.004),
        choosing=SEEDS["choice of the rate"],
        comparing=SEEDS["comparison"],
    )
