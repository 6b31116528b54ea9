"""Can a tied head regularise, where both models learn a text and over-fit it?

The race of `tying_on_few_data` on a real text with 512 kinds of words, with twice the words, and at
two widths. There, at the width 64, the arms came 0.11 and 0.16 nats below the words' frequencies,
and one seed of the tied arm not at all: too little to decide by.

Written down before the run. The article says that tying may improve performance and can act as
regularisation, so one real text on which it does is what it claims. In a trial with other code,
other seeds and longer windows the tied model came lower at the width 192 and 256 (by 0.03 nats, two
seeds each) and not at 128. So the wide leg decides TIE-14 (regularise, better), whichever
way it goes, and the narrow one stands beside it.

Power. A leg decides if both arms come 0.2 nats below the frequencies of what they learn. With a
deviation from seed to seed of 0.03 eight seeds see 0.04 nats with 99 %.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from verifiedbook.account.parts import part

from .laboratory.tasks import described, documentation, worded
from .tying_on_few_data import (
    LENGTH,
    SEEDS,
    SEQUENCES,
    Parts,
    by_frequency,
    cut,
    fingerprint,
    measured,
)

__all__ = ["SEEDS", "fingerprint", "run"]
N, LETTERS = 512, 750_000
FEW, HELD_OUT, STEPS, EVERY = 16_384, 64, 1200, 40
RATES = {"width 64": (64, (5e-4, 1e-3, 2e-3)), "width 192": (192, (2.5e-4, 5e-4, 1e-3))}


def data() -> Parts:
    """Return the parts of the text: what eight seeds learn, and what all are tested on."""
    words = worded(documentation(LETTERS)[0], N)
    return cut(words, 8, FEW, HELD_OUT, LENGTH)


def run() -> dict[str, Any]:
    """The recorded comparison."""
    parts, runs, (seeds,) = data(), {}, SEEDS.values()
    sizes = {"steps": STEPS, "every": EVERY, "sequences": SEQUENCES, "length": LENGTH}
    for leg, (d, rates) in RATES.items():
        work = partial(measured, N, d, parts, tried=rates, **sizes)
        runs[leg] = part(leg, work, seeds=seeds, rates=rates)
    return {
        "setting": sizes | {"tokens learnt": FEW, "windows held out": HELD_OUT},
        "text": part("text", lambda: described(documentation(LETTERS)[0])),
        "by frequency": part("by frequency", partial(by_frequency, parts, N), seeds=seeds),
        "runs": runs,
    }
