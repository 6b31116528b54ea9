"""`make elsewhere`: the whole of `make test`, as on a machine that nobody has seen.

It runs in a clone of the last commit, of depth 1 and in another folder, with an environment of its
own and no caches; with other threads, instruction set, order of summation and hash seed, in another
language and time zone, and with a HOME that cannot be written. A number draws what is drawn, so
that a red run can be had again. `make tried` runs any other command and keeps what came of it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from verifiedbook.commands.reruns import processor
from verifiedbook.commands.status import keep_trial, tree_key

ROOT = Path(__file__).parent.parent
FOLDER = "another machine’s "  # neither ASCII nor one word
OURS = ("MAKE", "MFLAGS", "PYTEST", "VERIFIED_", "XDG_", "IPYTHON", "JUPYTER", "MPL", "VIRTUAL_ENV")
# Of an instruction set: what OpenBLAS calls it, and what NumPy knows beyond it.
CORES = {"default": "Nehalem", "avx2": "Haswell"}
BEYOND = {"default": ["X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR"]}
BEYOND["avx2"] = BEYOND["default"][1:]
SUMMED_UP = re.compile(r"\d+ (?:passed|failed|errors?|skipped)\b.*?(?= in [\d.]+s)")
PROVENANCE = (
    "import json, pathlib; from verifiedbook.commands.status import provenance;"
    "print(json.dumps(provenance(pathlib.Path.cwd())))"
)


def drawn(number: int, languages: Sequence[str]) -> dict[str, str]:
    """Return the variables of a machine that the number draws.

    Args:
        number: of the draw.
        languages: that this machine has, as ``locale -a`` lists them.

    Example:
        >>> drawn(1, []) == drawn(1, []) != drawn(2, [])
        True
        >>> drawn(1, ["tr_TR.utf8"])["HOME"]
        '/dev/null/home'
    """
    draw = random.Random(number)
    instructions, threads = draw.choice(sorted(CORES)), draw.choice([1, 2, 4])
    spoken = ["C", *(one for one in languages if one.lower().startswith(("tr_tr.", "de_de.")))]
    return {
        **processor(instructions, threads, hash_seed=draw.randrange(1, 2**32)),
        "OPENBLAS_CORETYPE": CORES[instructions],
        # NumPy warns of what a processor has not
        "NPY_DISABLE_CPU_FEATURES": " ".join(
            one for one in BEYOND[instructions] if cpu_features().get(one)
        ),
        "OMP_WAIT_POLICY": "PASSIVE",  # more threads than cores: those that wait must not spin
        "VERIFIED_SUMMATION": str(number),
        "TZ": draw.choice(["Pacific/Kiritimati", "Pacific/Pago_Pago", "Asia/Kathmandu"]),
        "HOME": "/dev/null/home",
        "LC_ALL": draw.choice(spoken),  # the last: what is drawn before is so on every machine
    }


def cpu_features() -> Mapping[str, bool]:
    """What NumPy would use of this processor."""
    from numpy._core._multiarray_umath import __cpu_features__

    return __cpu_features__


def cloned(root: Path, into: Path, environment: Path | None) -> str:
    """Clone the last commit, and return which; an environment that is given comes along."""
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, encoding="utf-8", check=True
    ).stdout.strip()
    for command in (
        ["git", "init", "-q", str(into)],
        ["git", "-C", str(into), "fetch", "-q", "--depth", "1", root.as_uri(), "HEAD"],
        ["git", "-C", str(into), "checkout", "-q", "--detach", commit],
    ):
        subprocess.run(command, check=True)
    if environment:
        shutil.copytree(environment, into / ".venv", symlinks=True, copy_function=os.link)
    return commit


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Run a command, show what it prints, and return its exit code and how pytest summed up."""
    told: list[str] = []
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", errors="replace",
    ) as running:  # fmt: skip
        assert running.stdout is not None
        for line in running.stdout:
            print(line, end="", flush=True)
            told += SUMMED_UP.findall(line)
    return running.returncode, "; ".join(told)


def keep(
    where: str, ran: str, folder: Path, python: Path, code: int, told: str, began: float
) -> None:
    """Keep what came of a run in a folder for the status page, and say so."""
    asked = subprocess.run(
        [python, "-W", "ignore", "-c", PROVENANCE], cwd=folder, capture_output=True,
        env=os.environ | {"PYTHONPATH": str(folder / "packages/verifiedbook/src")},
        encoding="utf-8", check=False,
    )  # fmt: skip
    trial: dict[str, Any] = {
        "where": where, "ran": ran, "green": code == 0, "result": told or f"exit code {code}",
        "minutes": round((time.monotonic() - began) / 60, 1), "key": tree_key(folder),
        **json.loads(asked.stdout or "{}"),
    }  # fmt: skip
    target = keep_trial(ROOT, trial)
    print(f"{'green' if trial['green'] else 'RED'}: {trial['result']}   {target}")


def elsewhere(number: int, environment: Path | None, python: str) -> int:
    """Run `make test` in a clone, under what the number draws."""
    listed = subprocess.run(["locale", "-a"], capture_output=True, encoding="utf-8", check=False)
    other, began = drawn(number, listed.stdout.split()), time.monotonic()
    kept = {k: v for k, v in os.environ.items() if not k.startswith((*OURS, "LC_", "LANG"))}
    clone = Path(tempfile.mkdtemp(prefix=FOLDER))
    commit = cloned(ROOT, clone, environment)
    # more threads than cores wait for each other, and a run that takes minutes takes an hour
    workers = max(1, min(4, (os.cpu_count() or 1) // int(other["OMP_NUM_THREADS"])))
    command = ["make", "test", f"WORKERS={workers}", *([f"PYTHON={python}"] if python else [])]
    code, told = run(command, clone, kept | other)
    said = ", ".join(f"{name}={value}" for name, value in other.items())
    print(f"\nmake elsewhere ELSEWHERE={number}: commit {commit[:12]}, alone, in {clone}\n{said}")
    where = (
        f"A clone of depth 1, draw {number}: {other['OMP_NUM_THREADS']} threads, "
        f"{other['ATEN_CPU_CAPABILITY']}, summation {number}, {other['LC_ALL']}, {other['TZ']}"
    )
    keep(where, "make test", clone, clone / ".venv/test/bin/python", code, told, began)
    if code == 0:
        shutil.rmtree(clone)
    return code


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", type=int, default=0, help="a number; by default a new one")
    parser.add_argument("--environment", type=Path, help="a .venv to link; by default a new one")
    parser.add_argument("--python", default="", help="the interpreter of a new environment")
    parser.add_argument("--where", help="keep what comes of --run here, under this name")
    parser.add_argument("--run", help="a line for the shell")
    given = parser.parse_args()
    if given.where:
        began = time.monotonic()
        code, told = run(["sh", "-c", given.run], ROOT, os.environ)
        keep(given.where, given.run, ROOT, Path(given.python or sys.executable), code, told, began)
        return code
    return elsewhere(given.draw or random.randrange(1, 1000), given.environment, given.python)


if __name__ == "__main__":
    sys.exit(main())
