"""Gates on the stored notebooks: each takes a notebook and says in words what is wrong with it."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from verified_transformer.account import ledger, registry
from verified_transformer.account.records import pictures
from verified_transformer.commands.notebooks import colab, form

ROOT = Path(__file__).parent.parent
WAITING = Path(__file__).with_name("pages_without_owners.txt")
TAGS_THAT_HIDE = re.compile(r"skip|ignore|raises-exception", re.I)
# nbval obeys these as it obeys tags; a cell magic may swallow what the cell prints
COMMENTS_THAT_HIDE = re.compile(r"(?mi)^\s*#+\s*((?:NBVAL|PYTEST)_\w+)\s*$|^\s*(%%capture)\b")
BARE_REPR = re.compile(r"<[\w.]*(Figure|Axes|object|module|function)\b[^>]*>$|^\[?<.* at 0x")
COMPARED = ("text/plain", "text/html", "text/latex", "text/markdown", "image/svg+xml")
MATHS = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$]+?)\$", re.S)
FORMULA = re.compile(r"[\^_/=+<>-]|\d|\\frac|\\sqrt|\\approx|\\le|\\ge|\\propto|\\sum|\\int")


def cells(notebook: Path, kind: str) -> list[dict[str, Any]]:
    """The notebook's cells of one kind that are not empty, sources joined."""
    found = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    for cell in found:
        cell["source"] = "".join(cell["source"])
    return [c for c in found if c["cell_type"] == kind and c["source"].strip()]


def never_run(notebook: Path) -> list[str]:
    """Code cells whose execution counts are not 1, 2, 3, …"""
    counts = [cell.get("execution_count") for cell in cells(notebook, "code")]
    wanted = list(range(1, len(counts) + 1))
    return [] if counts == wanted else [f"{notebook.name}: execution counts {counts}"]


def hidden(notebook: Path) -> list[str]:
    """Cells that are not compared, without a first line that gives the reason."""
    return [
        f"{notebook.name}: {tag!r} without a reason: {cell['source'][:40]!r}"
        for cell in cells(notebook, "code")
        for tag in _hiding(cell)
        if not cell["source"].startswith("# reason: ")
    ]


def _hiding(cell: dict[str, Any]) -> list[str]:
    tags = [tag for tag in cell["metadata"].get("tags", []) if TAGS_THAT_HIDE.search(tag)]
    found = COMMENTS_THAT_HIDE.findall(cell["source"])
    return tags + [comment or magic for comment, magic in found]


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
    """Too many cells whose outputs nobody compares."""
    good, total = compared(notebook)
    return (
        [f"{notebook.name}: only {good} of {total} outputs compared"] if good < 0.95 * total else []
    )


def other_form(notebook: Path) -> list[str]:
    """Cells that are not as `make form` writes them: first cell, titles, tags, what folds."""
    text = notebook.read_text(encoding="utf-8")
    wanted = json.loads(form.formed(text, colab.head(ROOT, notebook)))["cells"]
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


def stale_records(notebook: Path) -> list[str]:
    """Records whose text, hash or reading does not belong to them."""
    statements = registry.load()[1]
    try:
        records = list(ledger.stored_records(notebook, notebook.parent.parent.parent))
    except ledger.LedgerError as error:
        return [str(error)]
    return [fault for item in records for fault in ledger.stale(item, statements)]


def other_pictures(notebook: Path) -> list[str]:
    """Pictures that are not those of the data stored beside them."""
    found = [
        pictures.fault(output)
        for cell in cells(notebook, "code")
        for output in pictures.pictures(cell)
    ]
    return [f"{notebook.name}: {fault}" for fault in found if fault]


# ------------------------------------------------------------------ typed maths


def ownerless_maths(page: Path) -> list[str]:
    """Formulas typed into prose that stand in no claim.

    A formula in Markdown is executed by nobody. So each one must be, up to spacing, a piece of what
    the registry says, where a reading, its records and its fingerprint hold it in place. A page
    that gives owners to all is asked by `tests/test_prose.py`, and not here.
    """
    if "<!-- owners\n" in _text(page) and not _waits(page):
        return []
    owners = _owned()
    whole = "\n".join(owners)
    found = []
    for formula, display in _typed(page):
        if not display and not FORMULA.search(formula):
            continue
        if normalised(formula) not in whole:
            found.append(
                f"{page.name}: no claim owns the formula ${formula}$; "
                f"closest is {_closest(normalised(formula), owners)}"
            )
    return found


def _closest(formula: str, owners: dict[str, str]) -> str:
    def shared(owned: str) -> int:
        matcher = difflib.SequenceMatcher(None, formula, owned, autojunk=False)
        return matcher.find_longest_match().size

    return owners[max(owners, key=shared)]


def _typed(page: Path) -> Iterator[tuple[str, bool]]:
    text = re.sub(r"<!-- owners\n.*?-->", "", _text(page), flags=re.S)
    if page.suffix != ".ipynb":
        text = re.sub(r"`[^`\n]*\$[^`\n]*`", "", text)
        for block in re.findall(r"```\{math\}(.*?)```", text, re.S):
            yield block, True
    for match in MATHS.finditer(text):
        yield match[1] or match[2], match[1] is not None


def _text(page: Path) -> str:
    if page.suffix == ".ipynb":
        return "\n\n".join(cell["source"] for cell in cells(page, "markdown"))
    return page.read_text(encoding="utf-8")


def _waits(page: Path) -> bool:
    """Whether some numbers or formulas of a page have no owner yet."""
    waiting = WAITING.read_text(encoding="utf-8").split()
    return any(page.as_posix().endswith(f"/{name}") for name in waiting)


def ownerless_prose(page: Path) -> list[str]:
    """Numbers and formulas without an owner that says the same, of a page that has its owners.

    For the score of mutants; `tests/test_prose.py` asks the same of every page.
    """
    if _waits(page):
        return []
    bibliography = (ROOT / "book/references.bib").read_text(encoding="utf-8")
    sources = frozenset(re.findall(r"@\w+\{([^,\s]+),", bibliography))
    from verified_transformer.commands.prose import pages as prose  # needs SymPy

    found = prose.notebook_faults if page.suffix == ".ipynb" else prose.text_faults
    return list(found(page, sources))


@cache
def _owned() -> dict[str, str]:
    owners: dict[str, str] = {}
    for statement in registry.load()[1].values():
        readings = (
            [statement.reading, *statement.reading.cases.values()] if statement.reading else []
        )
        texts = [statement.says]
        for r in readings:
            texts += [r.text, r.false_if or "", r.condition or "", r.truth or ""]
        for text in texts:
            for match in MATHS.finditer(text):
                owners.setdefault(normalised(match[1] or match[2]), statement.id)
    return owners


def normalised(formula: str) -> str:
    """A formula without spacing and without braces that change nothing."""
    text = re.sub(r"\\[,;!:]|\\(?:left|right)\b|\s+|~", "", formula)
    text = re.sub(r"\\boldsymbol\{(\w)\}", r"\1", text)
    text = re.sub(r"\\[lr]Vert", r"\\Vert", text)
    text = re.sub(r"(\\[a-zA-Z]+)(?=[a-zA-Z])", r"\1 ", text)
    return re.sub(r"\{(\w|\\[a-zA-Z]+)\}", r"\1", text)


GATES = (
    never_run, hidden, faulty_outputs, uncompared_share, other_form,
    stale_records, other_pictures, ownerless_maths,
)  # fmt: skip
PROSE_GATES = (ownerless_maths,)  # on the pages of book/
