"""Files that are kept are written whole or not at all."""

from __future__ import annotations

from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a text beside its file, then put it in the file's place.

    Whatever ends the writing, a full disk or a kill, the file is as it was.

    Args:
        path: of the file; its folder is there.
        text: written in UTF-8.

    Raises:
        OSError: it cannot be written; nothing is left beside the file.
    """
    beside = path.with_name(f"{path.name}.part")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
