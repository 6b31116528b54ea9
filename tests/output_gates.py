"""What the built pages of notebooks show, held against what the notebooks store."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from bs4 import BeautifulSoup
from html_gates import Page, pages
from page_facts import bare

Cell = dict[str, Any]
NAMED = re.compile(r"\b[A-Z]{3,5}-\d\d\b")


def differing(where: str, shown: str, wanted: str) -> list[str]:
    """Say where a text first differs from what it should be; nothing where it does not."""
    if shown == wanted:
        return []
    same = next(
        (i for i, (a, b) in enumerate(zip(shown, wanted, strict=False)) if a != b),
        min(len(shown), len(wanted)),
    )
    start = max(0, same - 20)
    return [f"{where}: shows {shown[start : same + 40]!r}, not {wanted[start : same + 40]!r}"]


def other_outputs(html: Path) -> list[str]:
    """Cells of a notebook's page that show other code, outputs or pictures than are stored."""
    found = []
    for page in pages(html):
        source = html / "_sources" / PurePosixPath(page.name).with_suffix(".ipynb")
        if source.exists():
            stored = json.loads(source.read_text(encoding="utf-8"))["cells"]
            cells = [c for c in stored if c["cell_type"] == "code" and "".join(c["source"]).strip()]
            found += _other_cells(page, cells) + _other_pictures(page, cells, html)
    return found


def _other_cells(page: Page, cells: Sequence[Cell]) -> list[str]:
    if len(page.facts.cells) != len(cells):
        return [f"{page.name}: {len(page.facts.cells)} cells, not {len(cells)}"]
    found = []
    for index, (cell, (code, shown)) in enumerate(zip(cells, page.facts.cells, strict=True)):
        outputs = [_text(output) for output in cell["outputs"]]
        named = dict.fromkeys(NAMED.findall("".join(["".join(cell["source"]), *outputs])))
        of = f" of {' '.join(named)}" if named else ""
        where = f"{page.name}: cell {index}{of}"
        tags = cell["metadata"].get("tags", [])
        if "remove-input" not in tags:
            summary = cell["metadata"].get("mystnb", {}).get("code_prompt_show", "")
            wanted = bare("".join(cell["source"]))
            found += differing(f"{where} (code)", code.removeprefix(bare(summary)), wanted)
        wanted = "".join(map(bare, outputs))
        found += differing(f"{where} (output)", shown, wanted)
    return found


def _text(output: dict[str, Any]) -> str:
    if "text" in output:
        return "".join(output["text"])
    data = {kind: "".join(text) for kind, text in output.get("data", {}).items()}
    if "text/html" in data:
        return BeautifulSoup(data["text/html"], "html.parser").get_text()
    if any(kind.startswith("image/") for kind in data):
        return ""
    return data.get("text/latex") or data.get("text/markdown") or data.get("text/plain", "")


def _other_pictures(page: Page, cells: Sequence[Cell], html: Path) -> list[str]:
    stored = [_picture(output["data"]) for cell in cells for output in cell["outputs"]
              if "data" in output]  # fmt: skip
    wanted = [picture for picture in stored if picture is not None]
    shown = [(html / page.name).parent / unquote(source) for source in page.facts.pictures]
    if len(shown) != len(wanted):
        return [f"{page.name}: {len(shown)} pictures, not {len(wanted)}"]
    return [
        f"{page.name}: picture {index} is not the stored one"
        for index, (path, data) in enumerate(zip(shown, wanted, strict=True))
        if not path.exists() or path.read_bytes().strip() != data.strip()
    ]


def _picture(data: dict[str, Any]) -> bytes | None:
    for kind in ("image/svg+xml", "image/png", "image/jpeg"):
        if kind in data and "text/html" not in data:
            text = "".join(data[kind])
            return text.encode() if kind.endswith("xml") else base64.b64decode(text)
    return None
