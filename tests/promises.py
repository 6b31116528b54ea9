"""What README and pages show as code: the blocks, and the lines of a shell in them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
README, WELCOME = ROOT / "README.md", ROOT / "book" / "welcome.md"
_BLOCK = re.compile(r"^```([a-z]+)\n(.*?)^```$", re.M | re.S)


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of a language on a page, in order."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text for name, text in found if name == language]


def shell(page: Path) -> list[str]:
    """The lines of a page's shell blocks, comments left out."""
    lines = "".join(blocks(page, "sh")).splitlines()
    return [line for line in (re.sub(r"(^|\s+)#.*", "", line) for line in lines) if line]
