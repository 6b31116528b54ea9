"""Git, asked by a command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(root: Path, *words: str, given: str = "", **environment: str) -> str:
    """Return what git prints, blanks at its ends left out.

    Args:
        root: where it runs.
        words: of the command.
        given: what it reads.
        environment: variables to set.

    Raises:
        ValueError: git is not there, or fails; the message is its own.
    """
    try:
        done = subprocess.run(
            ["git", *words], cwd=root, env={**os.environ, **environment}, input=given.encode(),
            capture_output=True, check=False,
        )  # fmt: skip
    except OSError as error:
        raise ValueError(f"git {words[0]}: {error}") from None
    if done.returncode:
        raise ValueError(f"git {words[0]}: {done.stderr.decode().strip()}")
    return done.stdout.decode().strip()
