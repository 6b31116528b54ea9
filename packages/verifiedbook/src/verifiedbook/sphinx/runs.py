"""What ran for each claim: the records of the notebooks, with their numbers and their code."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..account.records import notebook_records
from ..account.records.record import Record

OPEN = "open"  # the tag of a cell that a page shows


@dataclass(frozen=True)
class Run:
    """A record where it stands.

    Attributes:
        record: what a check left.
        html: what the notebook shows of it, with steps and numbers.
        page: of its notebook, as Sphinx names pages.
        cell: the number of its cell.
        code: of the cell, with what it defines, at the first of the claim's records in it; of none
            that a source decides.
        folded: whether the page of the notebook folds it.
    """

    record: Record
    html: str
    page: str
    cell: int
    code: str | None
    folded: bool


def by_claim(root: Path) -> Mapping[str, list[Run]]:
    """Read the stored notebooks: for each claim what ran, in the order of the ledger's evidence."""
    runs: defaultdict[str, list[Run]] = defaultdict(list)
    for notebook in notebook_records.notebooks(root):
        page = str(PurePosixPath(notebook.relative_to(root).as_posix()).with_suffix(""))
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        for item in notebook_records.stored_records(notebook, root):
            cell = cells[item.cell]
            folded = OPEN not in cell["metadata"].get("tags", ())
            for name in item.record.claims:
                known = any((r.page, r.cell) == (page, item.cell) for r in runs[name])
                code = "".join(cell["source"]) if item.record.made and not known else None
                runs[name].append(Run(item.record, item.html, page, item.cell, code, folded))
    return runs
