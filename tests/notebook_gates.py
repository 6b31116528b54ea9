"""Gates on the stored notebooks: each takes a notebook and says in words what is wrong with it.

All were run over all the known-bad notebooks. Alone sees `never_run` a cell without its outputs,
`hidden` a comment within a cell, `faulty_outputs` a figure that is not the last line,
`uncompared_share` bare reprs, `other_form` a check that stands open, `other_pictures` a picture of
other data, `weak_bands` a number that may become half as much again, `ownerless_prose` a formula
that nothing owns, `unsettled_digits` more digits than what is rounded beside them gives.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from verifiedbook.account.records import pictures
from verifiedbook.commands.notebooks import bands, form

ROOT = Path(__file__).parent.parent
# nbval obeys these as it obeys tags; a cell magic may swallow what the cell prints
COMMENTS_THAT_HIDE = re.compile(r"(?mi)^\s*#+\s*((?:NBVAL|PYTEST)_\w+)\s*$|^\s*(%%capture)\b")
BARE_REPR = re.compile(r"<[\w.]*(Figure|Axes|object|module|function)\b[^>]*>$|^\[?<.* at 0x")
COMPARED = ("text/plain", "text/html", "text/latex", "text/markdown", "image/svg+xml")


def cells(notebook: Path, kind: str) -> list[dict[str, Any]]:
    """The notebook's cells of one kind that are not empty, sources joined."""
    found = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    for cell in found:
        cell["source"] = "".join(cell["source"])
    return [c for c in found if c["cell_type"] == kind and c["source"].strip()]


def never_run(notebook: Path) -> list[str]:
    """Code cells whose execution counts are not 1, 2, 3, …; nbval passes one that never ran."""
    counts = [cell.get("execution_count") for cell in cells(notebook, "code")]
    wanted = list(range(1, len(counts) + 1))
    return [] if counts == wanted else [f"{notebook.name}: execution counts {counts}"]


def hidden(notebook: Path) -> list[str]:
    """Cells that nbval is told to pass by a comment or a magic; `other_form` refuses such tags."""
    return [
        f"{notebook.name}: {comment or magic!r} hides {cell['source'][:40]!r}"
        for cell in cells(notebook, "code")
        for comment, magic in COMMENTS_THAT_HIDE.findall(cell["source"])
    ]


def faulty_outputs(notebook: Path) -> list[str]:
    """Stored errors and warnings, and figures that show nothing: their call is not the last."""
    found = []
    for cell in cells(notebook, "code"):
        kinds = {kind for output in cell["outputs"] for kind in output.get("data", ())}
        if cell["source"].startswith("# @title Figure") and not kinds & {"text/html", "image/png"}:
            found.append(f"{notebook.name}: no figure in {cell['source'].splitlines()[0]!r}")
        for output in cell["outputs"]:
            if output["output_type"] == "error":
                found.append(f"{notebook.name}: stored error {output['ename']}")
            if output.get("name") == "stderr":
                found.append(f"{notebook.name}: stored stderr {''.join(output['text'])[:60]!r}")
    return found


def compared(notebook: Path) -> tuple[int, int]:
    """How many cells have an output that says something when compared, of how many with output."""
    with_output = [c for c in cells(notebook, "code") if c["outputs"]]
    return sum(any(map(_says_something, c["outputs"])) for c in with_output), len(with_output)


def _says_something(output: dict[str, Any]) -> bool:
    texts = (
        [output["text"]] if "text" in output else [output.get("data", {}).get(m) for m in COMPARED]
    )
    plain = ["".join(text).strip() for text in texts if text]
    return any(text and not BARE_REPR.search(text) for text in plain)


def uncompared_share(notebook: Path) -> list[str]:
    """Too many cells whose outputs say nothing where nbval compares them."""
    good, total = compared(notebook)
    return (
        [f"{notebook.name}: only {good} of {total} outputs compared"] if good < 0.95 * total else []
    )


def weak_bands(notebook: Path) -> list[str]:
    """Numbers whose band lets a change by a factor of 1.5 pass: print more digits, or fewer."""
    found = []
    for cell in cells(notebook, "code"):
        said, known = bands.texts(cell["outputs"]), bands.read(cell["metadata"])
        for kind in said.keys() & known.keys():
            if weak := bands.weak(said[kind], known[kind]):
                line = f"{notebook.name}: {kind}: {', '.join(weak)} may be half as much again"
                found.append(f"{line} in {cell['source'].splitlines()[0][:60]!r}")
    return found


def other_form(notebook: Path) -> list[str]:
    """Cells that are not as `make form` writes them: titles, tags, what folds."""
    text = notebook.read_text(encoding="utf-8")
    wanted = json.loads(form.formed(text))["cells"]
    return [
        f"{notebook.name}: cell {index} is not as `make form` writes it: {part} is "
        f"{_first(now[part])!r}, not {_first(as_written[part])!r}"
        for index, (now, as_written) in enumerate(
            zip(json.loads(text)["cells"], wanted, strict=True)
        )
        for part in ("source", "metadata")
        if _joined(now[part]) != _joined(as_written[part])
    ]


def _joined(part: Any) -> Any:
    return "".join(part) if isinstance(part, list) else part


def _first(part: Any) -> Any:
    return part if isinstance(part, dict) else "".join(part)[:160]


def other_pictures(notebook: Path) -> list[str]:
    """Pictures that are not those of the data stored beside them, which alone nbval compares."""
    found = [
        pictures.picture_fault(output)
        for cell in cells(notebook, "code")
        for output in pictures.pictures(cell)
    ]
    return [f"{notebook.name}: {fault}" for fault in found if fault]


# ------------------------------------------------------------------ owners


def ownerless_prose(page: Path) -> list[str]:
    """Numbers and formulas of a page without an owner that says the same."""
    from verifiedbook.commands.prose import pages as prose  # needs SymPy

    found = prose.notebook_faults if page.suffix == ".ipynb" else prose.text_faults
    return list(found(page, _sources()))


@cache
def _sources() -> dict[str, str]:
    """By key of the bibliography what is quoted there."""
    bibliography = (ROOT / "book/references.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{([^,\s]+),(.*?)^\}", bibliography, re.DOTALL | re.MULTILINE)
    quoted = ((key, re.search(r"^  annote\s*= \{(.*)\},?$", entry, re.M)) for key, entry in entries)
    return {key: annote[1] if annote else "" for key, annote in quoted}


def unsettled_digits(page: Path) -> list[str]:
    """Printed numbers of a page that are not the only rounding of the formula that owns them."""
    from verifiedbook.commands.prose import certified  # needs SymPy and Arb

    return list(certified.uncertified_in(page))


GATES = (
    never_run, hidden, faulty_outputs, uncompared_share, weak_bands, other_form, other_pictures,
    ownerless_prose, unsettled_digits,
)  # fmt: skip
PROSE_GATES = (ownerless_prose, unsettled_digits)  # on the pages of book/
