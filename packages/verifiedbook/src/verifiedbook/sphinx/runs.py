"""What ran for each claim: the records of the notebooks, with their numbers and their code."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ..account.records import notebook_records
from ..account.records.record import Record

OPEN = "open"  # the tag of a cell that a page shows
DERIVES = "derives"  # the tag of one whose function the cell below holds to a claim


@dataclass(frozen=True)
class Run:
    """A record where it stands.

    Attributes:
        record: what a check left.
        html: what the notebook shows of it, with steps and numbers.
        page: of its notebook, as Sphinx names pages.
        cell: the number of its cell.
        code: of the cell, after the derivation that it holds to the claim, at the first of the
            claim's records in it; of none that a source decides.
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
                code = _code(cells, item.cell) if item.record.made and not known else None
                runs[name].append(Run(item.record, item.html, page, item.cell, code, folded))
    return runs


def _code(cells: Sequence[Mapping[str, Any]], place: int) -> str:
    above = next((c for c in reversed(cells[:place]) if c["cell_type"] == "code"), None)
    derives = above is not None and DERIVES in above["metadata"].get("tags", ())
    parts = [above, cells[place]] if above and derives else [cells[place]]
    return "\n\n\n".join("".join(part["source"]) for part in parts)
