"""`refresh`: notebooks executed, their outputs stored, every change shown."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from . import comparing
from .running import run


def refresh(notebooks: Sequence[Path], root: Path) -> int:
    """Execute notebooks and store their outputs; one in which nothing changed stays as it is.

    Args:
        notebooks: which; one whose cell fails is not stored.

    Returns:
        1 where a cell failed, else 0.
    """
    import nbformat

    masked = comparing.masks(root)
    failed = False
    for notebook in notebooks:
        before = nbformat.read(notebook, as_version=4)
        again = run(notebook)
        print(f"{notebook.relative_to(root)}: {again.seconds:.1f} s", flush=True)
        if again.errors:
            print(f"    not stored; {again.errors[0]}", file=sys.stderr)
            failed = True
            continue
        for change in comparing.differences(before, again.book, masked):
            print(f"    {change}")
        comparing.keep_what_stayed(before, again.book, masked)
        nbformat.write(again.book, notebook)
    return int(failed)
