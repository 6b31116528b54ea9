"""Check Var|w|^2 = 2 d sigma^4 at the widths of real models, and the speed against the generator.

    python bench/norm_variance_at_scale.py evidence/norm-variance-DEVICE.json

At d = 4096 the variance of the squared norm needs some 5e9 normal numbers for a resolution of one
per cent: seconds on a GPU, most of a minute on two cores. Written with provenance: command, commit,
versions, device, the hash of the code. The widths are no design points (an off-by-one is invisible
there); the small ones in the notebook decide the claim, this shows that it reaches real models.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import sympy as sp
import torch

from verifiedbook.exact.formulas.notation import symbols
from verifiedbook.exact.laws import Normal
from verifiedbook.exact.moments import Index, Tensor, total, variance
from verifiedbook.sampling import measuring as sampling
from verifiedbook.seeds import device
from verifiedbook.writing import write_whole

ROOT = Path(__file__).parent.parent
WIDTHS = {"cpu": (8, 64, 256), "cuda": (8, 64, 768, 4096)}
SCALE = sp.Rational(13, 10)


def squared_norm(w: torch.Tensor) -> torch.Tensor:
    """The definition, one number per replicate."""
    return torch.linalg.vecdot(w, w)


def generator_seconds(count: int, where: torch.device) -> float:
    """Seconds that the generator alone takes for ``count`` normal numbers, reusing one buffer."""
    buffer = torch.empty(1 << (25 if where.type == "cuda" else 18), device=where)
    generator = torch.Generator(where).manual_seed(0)
    buffer.normal_(generator=generator)
    started = time.perf_counter()
    for _ in range(max(1, count // buffer.numel())):
        buffer.normal_(generator=generator)
    if where.type == "cuda":
        torch.cuda.synchronize()
    passes = max(1, count // buffer.numel()) * buffer.numel()
    return (time.perf_counter() - started) * count / passes


def main(target: Path) -> None:
    """Measure at every width and write the evidence."""
    d, σ = symbols("d sigma")
    i = Index("i", d)
    quantity = variance(total(Tensor("w", Normal(0, σ), d)[i] ** 2, i))
    where = device()
    rows = []
    for width in WIDTHS[where.type]:
        point = {d: sp.Integer(width), σ: SCALE}
        expected = float(2 * width * SCALE**4)
        sampling.measure(quantity, squared_norm, point, expected, name="warm-up")
        found = sampling.measure(quantity, squared_norm, point, expected, name=f"scale {width}")
        normals = 2 * found.n * width
        alone = generator_seconds(min(normals, 2_000_000_000), where)
        alone *= normals / min(normals, 2_000_000_000)
        rows.append(
            {
                "d": width,
                "formula": expected,
                "measured": found.mean,
                "z": found.z,
                "n": found.n,
                "would_have_caught": found.detectable,
                "seconds": found.seconds,
                "generator_alone_seconds": alone,
                "confirmed_by_second_draw": found.redrawn,
            }
        )
        print(f"d={width:5} z={found.z:+.2f} n={found.n} {found.seconds:.2f} s, "
              f"generator alone {alone:.2f} s", flush=True)  # fmt: skip
        assert abs(found.z) < found.design.threshold
    target.parent.mkdir(parents=True, exist_ok=True)
    found = {"provenance": provenance(where), "rows": rows}
    write_whole(target, json.dumps(found, indent=1) + "\n")


def provenance(where: torch.device) -> dict[str, str]:
    """Where, with what and from which code a figure was measured."""
    code = "".join(
        (ROOT / name).read_text(encoding="utf-8")
        for name in (
            "bench/norm_variance_at_scale.py",
            "packages/verifiedbook/src/verifiedbook/sampling/measuring.py",
        )
    )
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    ).stdout.strip()
    return {
        "command": "python " + " ".join(sys.argv),
        "commit": commit or os.environ.get("COMMIT", "not a git checkout"),
        "code": hashlib.sha256(code.encode()).hexdigest()[:16],
        "device": torch.cuda.get_device_name() if where.type == "cuda" else platform.processor(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "sympy": sp.__version__,
        "seed": "hash of the name of each measurement, see seeds.seed_of",
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
