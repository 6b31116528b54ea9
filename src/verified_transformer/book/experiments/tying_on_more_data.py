"""Does a tied head make more of few data where both models have learnt the text?

The race of `tying_on_few_data` on a real text with 512 kinds of words, with four times the words
and twice the steps. There the arms came 0.11 and 0.16 nats below the words' frequencies, and one
seed of the tied arm not at all: too little to decide by.

Written down before the run. What counts is what counted there, for TIE-14 (regularise, better) and
TIE-15 (truth), and this leg decides, whichever way it goes.

Power. An arm decides if it comes 0.3 nats below the frequencies of what it learns. With the
deviation from seed to seed of the first race, 0.03, eight seeds see 0.04 nats with 99 %.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from .laboratory.parts import part
from .laboratory.tasks import described, documentation, worded
from .tying_on_few_data import (
    LENGTH, RATES, SEEDS, SEQUENCES, SIZES, Parts, by_frequency, cut, fingerprint, measured,
)  # fmt: skip

__all__ = ["SEEDS", "fingerprint", "run"]
SIZE, LETTERS = "512 tokens", 1_500_000
FEW, HELD_OUT, STEPS, EVERY = 32_768, 128, 1600, 40


def data() -> Parts:
    """Return the parts of the text: what eight seeds learn, and what all are tested on."""
    words = worded(documentation(LETTERS)[0], SIZES[SIZE][0])
    return cut(words, 8, FEW, HELD_OUT, LENGTH)


def run() -> dict[str, Any]:
    """The recorded comparison."""
    (n, d), parts = SIZES[SIZE], data()
    sizes = {"steps": STEPS, "every": EVERY, "sequences": SEQUENCES, "length": LENGTH}
    work = partial(measured, n, d, parts, tried=RATES, **sizes)
    return {
        "setting": sizes | {"tokens learnt": FEW, "windows held out": HELD_OUT},
        "text": described(documentation(LETTERS)[0]),
        "by frequency": by_frequency(parts, n),
        "runs": part("tying on more data, text, 512 tokens", work),
    }
