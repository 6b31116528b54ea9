"""Files that are kept are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write what a file holds beside it, then put it in the file's place.

    Whatever ends the writing, a full disk or a kill, the file is as it was.

    Args:
        path: of the file; its folder is there.
        content: bytes, or a text, which is written in UTF-8.

    Raises:
        OSError: it cannot be written; nothing is left beside the file.
    """
    beside = path.with_name(f"{path.name}.part")
    try:
        with beside.open("wb") as out:
            out.write(content.encode() if isinstance(content, str) else content)
            out.flush()
            os.fsync(out.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
