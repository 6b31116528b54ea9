"""A processor that nobody has seen, imitated: sums in another order, last digits of their own.

`environment` gives the variables of a draw. A process that has them runs as on a processor whose
kernels add in another order (`kernels` says what moves and what stays exact); NumPy's and SciPy's
products come from kernels of OpenBLAS for another processor.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

VARIABLE = "VERIFIED_SUMMATION"  # the number of a draw
LOUD = "VERIFIED_LOUD"  # set to 1: what is moved moves by one part in ten thousand
# What OpenBLAS, NumPy's own loops and MKL take for the processor, when they are loaded.
LOADED = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "MKL_CBWR")
_STARTUP = Path(__file__).parent / "startup"  # with the `sitecustomize` that calls `install`
_SOURCE = Path(__file__).parents[4]

# All run on any x86 with AVX2.
_NEW = "X86_V4 AVX512_ICL AVX512_SPR"
_OTHERS = (
    {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": f"X86_V3 {_NEW}"},
    {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": _NEW, "MKL_CBWR": "COMPATIBLE"},
    {"OPENBLAS_CORETYPE": "Sandybridge", "NPY_DISABLE_CPU_FEATURES": f"X86_V3 {_NEW}"},
    {"OPENBLAS_CORETYPE": "Haswell", "MKL_CBWR": "COMPATIBLE"},
)


def environment(draw: int, *, loud: bool = False) -> dict[str, str]:
    """Return the variables that make a process run as on an unknown processor.

    Args:
        draw: which; the same number gives the same processor.
        loud: whether what moves shall move by one part in ten thousand, to find which numbers
            come from floating point at all. Checks may fail then.

    Example:
        >>> environment(7)["VERIFIED_SUMMATION"]
        '7'
    """
    paths = [str(_STARTUP), str(_SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])]
    found = {VARIABLE: str(draw), "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}
    if loud:
        found[LOUD] = "1"
    return found
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    return found | (_OTHERS[draw % len(_OTHERS)] if x86 else {})


def install() -> None:
    """Imitate the processor that the environment names, if it does, from torch's import on."""
    if VARIABLE not in os.environ:
        return
    if "torch" in sys.modules:
        _imitate()
    else:
        sys.meta_path.insert(0, _Torch())


def _imitate() -> None:
    from . import kernels

    kernels.install(int(os.environ[VARIABLE]), loud=os.environ.get(LOUD) == "1")


class _Torch(MetaPathFinder):
    """Finds torch, once, and lets the imitation begin when it is loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            loader.exec_module = _then_imitate(loader.exec_module)
        return spec


def _then_imitate(load: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    def exec_module(module: ModuleType) -> None:
        load(module)
        _imitate()

    return exec_module
