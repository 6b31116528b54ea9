"""The law of the first loss: against an independent integral, and against tables that are drawn.

    python bench/first_loss_law.py
    python bench/first_loss_law.py --law    today's law beside the integrals that are recorded

200 random points of the domain against nested Gauss-Legendre panels that share no formula with the
library (`first_loss_by_windows`), 50 random points against 2000 drawn tables each.
The result lies beside the package's test_gaussian_first_loss.py, which holds it
against the code of today. About six minutes on one core.
"""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import torch
from first_loss_by_windows import by_windows, random_starts

from verified_transformer.book.tying.first_losses import (
    first_losses_of_tables,
    z_of_mean,
    z_of_variance,
)
from verifiedbook.writing import write_whole
from weightwise.first_loss import GaussianStart

RESULT = Path(__file__).parents[1] / "packages/weightwise/tests/first_loss_law.json"
KINDS: dict[str, tuple[int, int, float, dict[str, object]]] = {  # how many of each, largest spread
    "one cosine": (150, 20, 100.0, {}),
    "a random cosine": (20, 10, 10.0, {"cosine": "random"}),
    "ε": (15, 10, 10.0, {"ε": 1.0}),
    "ε, a random cosine, layer norm": (
        15, 10, 5.0, {"ε": 1.0, "cosine": "random", "norm": "layer"}
    ),
}  # fmt: skip
KEPT = ("integrated", "drawn")
TABLES, LARGEST = 2000, 30_000  # drawn tables at a point; entries of one of them


def integrated() -> list[dict[str, Any]]:
    """The law and the other integral at random points of its domain."""
    rows = []
    for kind, (count, _, most, fixed) in KINDS.items():
        for start in random_starts(f"bench {kind}", count, most_spread=most, **fixed):
            other, found = by_windows(start), start.loss()
            off = abs(found - other) / max(1, abs(other))
            rows.append({"kind": kind, "start": asdict(start), "law": found, "other": other,
                         "off": off})  # fmt: skip
        print(f"{kind}: {count} points, off by at most {worst(rows, kind):.1e}", flush=True)
    return rows


def worst(rows: list[dict[str, Any]], kind: str) -> float:
    """The largest error of a kind, as a share of the greater of 1 and the loss."""
    return max(row["off"] for row in rows if row["kind"] == kind)


def drawn() -> list[dict[str, Any]]:
    """Mean and variance of the law beside those of drawn tables."""
    rows = []
    for kind, (_, count, _, fixed) in KINDS.items():
        starts = random_starts(f"draw {kind}", 40 * count, most_spread=6.0, **fixed)
        small = (start for start in starts if start.n * start.d <= LARGEST)
        for number, start in enumerate(islice(small, count)):
            losses = first_losses_of_tables(start, f"bench {kind} {number}", TABLES)
            mean, variance = start.loss(), start.variance()
            z = z_of_mean(losses, mean), z_of_variance(losses, mean, variance)
            rows.append({"kind": kind, "start": asdict(start), "law": mean, "variance": variance,
                         "z": z[0], "z of variance": z[1]})  # fmt: skip
        print(f"{kind}: {count} points drawn", flush=True)
    return rows


def summary(known: dict[str, Any]) -> dict[str, Any]:
    """The two numbers that matter, and how the z are spread."""
    z = np.array([row["z"] for row in known["drawn"]])
    of_variance = np.array([row["z of variance"] for row in known["drawn"]])
    return {
        "points": len(known["integrated"]),
        "worst error": max(row["off"] for row in known["integrated"]),
        "worst relative error": max(
            abs(row["law"] / row["other"] - 1) for row in known["integrated"]
        ),
        "points drawn": len(z), "greatest |z|": float(np.abs(z).max()),
        "root mean square z": float(np.sqrt((z**2).mean())),
        "greatest |z| of a variance": float(np.abs(of_variance).max()),
    }  # fmt: skip


def main() -> int:
    """Measure, write, and say whether the promise is kept."""
    if sys.argv[1:] == ["--law"]:
        known: dict[str, Any] = json.loads(RESULT.read_text("utf-8"))
        for row in known["integrated"]:
            row["law"] = again(row).loss()
            row["off"] = abs(row["law"] - row["other"]) / max(1, abs(row["other"]))
    else:
        known = {"integrated": integrated(), "drawn": drawn()}
    known["summary"] = summary(known)
    known["made with"] = {
        "command": "python bench/first_loss_law.py", "device": "cpu", "tables": TABLES,
        "torch": torch.__version__, "numpy": np.__version__, "scipy": scipy.__version__,
        "python": platform.python_version(),
    }  # fmt: skip
    write_whole(RESULT, a_row_a_line(known))
    print(json.dumps(known["summary"], indent=1))
    kept = known["summary"]["worst error"] <= 1e-8 and known["summary"]["greatest |z|"] < 4.5
    return int(not kept)


def a_row_a_line(known: dict[str, Any]) -> str:
    """The result as JSON, each point on a line."""
    parts = []
    for name, part in known.items():
        rows = [json.dumps(row, ensure_ascii=False) for row in part] if name in KEPT else []
        said = "[\n  " + ",\n  ".join(rows) + "\n ]" if rows else json.dumps(part)
        parts.append(f" {json.dumps(name)}: {said}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def again(row: dict[str, Any]) -> GaussianStart:
    """The start of a row."""
    return GaussianStart(**row["start"])


if __name__ == "__main__":
    sys.exit(main())
