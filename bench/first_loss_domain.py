"""Does each law of the first loss hold in all of its domain? z-scores at 200 random points of each.

    python bench/first_loss_domain.py [COUNT]

A point is drawn (tests/models/first_loss_domain.py says between which limits), and models of it 16
times, each measured on one text by the plain cross-entropy of its logits. The table, which the
manual shows, has how far their mean lies off, and how the z-scores are spread in units of the error
bar: of one draw, and of the mean. About four minutes on one core.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import transformers
from scipy.stats import kstest

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models"))
from first_loss_domain import LAWS, points

from verified_transformer.writing import write_whole

TABLE = Path(__file__).parents[1] / "book" / "initial-loss-domain.txt"
DRAWS = 16


def main(count: int = 200) -> int:
    """Measure, write the table, and say whether z is a normal number for each law."""
    lines = [
        "| law | points | median error | worst | z | deviation of z | within 2 | within 3 | p |",
        "|---|--:|--:|--:|---|--:|--:|--:|--:|",
    ]
    least = 1.0
    for name in LAWS:
        off, *scores = points(name, count, DRAWS).T
        off = 100 * abs(off)
        for what, z in zip(("of one draw", f"of {DRAWS}"), scores, strict=True):
            p = float(kstest(z, "norm").pvalue)
            least = min(least, p)
            within = [f"{100 * (abs(z) < most).mean():.1f} %" for most in (2, 3)]
            lines.append(
                f"| {name} | {count} | {np.median(off):.3f} % | {off.max():.2f} % | {what} | "
                f"{z.std(ddof=1):.2f} | {within[0]} | {within[1]} | {p:.2g} |"
            )
            print(lines[-1], flush=True)
    if count == 200:
        write_whole(TABLE, "\n".join(lines) + "\n")
    return int(least < 1e-3)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    sys.exit(main(*map(int, sys.argv[1:])))
