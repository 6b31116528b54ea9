"""The notebooks as on processors that nobody has seen: sums in other orders (`other_processor`).

A visit may be cut short: what is kept of the same notebook and draw is not run again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path
from typing import Any

from ..account.code import library, notebook_key
from .notebooks import bands, comparing
from .notebooks.other_processor import environment
from .notebooks.running import Run, run
from .status import keep, kept, path

DRAWS, FEW = 20, 2
_KEPT = 6  # lines of a draw
_SHOWN = 20  # of the moves, worst first


def run_under(notebook: Path, draw: int, *, loud: bool = False) -> Run:
    """Run a notebook as on the unknown processor of a draw; loud, on past what then fails."""
    return run(notebook, environment=environment(draw, loud=loud), through=loud)


def wanted(notebook: Path, draws: int = DRAWS) -> range:
    """Return the draws under which a notebook is to be run: few where nothing in it moves.

    What moves is the effect of a live experiment, or a number with a band of more than a unit.
    """
    moves = any(
        units > 1
        for cell in _cells(notebook)
        for of in bands.read(cell["metadata"]).values()
        for units in of.values()
    )
    return range(1, 1 + (draws if moves or trains(notebook) else min(draws, FEW)))


def trains(notebook: Path) -> bool:
    """Return whether a notebook has a live experiment."""
    return any(True for cell in _cells(notebook) for _ in comparing.effects(cell["outputs"]))


def _cells(notebook: Path) -> list[dict[str, Any]]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def other_orders(notebooks: Sequence[Path], root: Path, draws: int = DRAWS, jobs: int = 2) -> int:
    """Run notebooks with the terms of their sums in other orders; keep how far their numbers move.

    The largest moves over all draws are printed, in bands, worst first.

    Args:
        draws: how many orders, of a notebook in which something is drawn or trained.
        jobs: runs at a time.

    Returns:
        0 where all came out as they are stored, 1 where one did not.
    """
    runs, failed, package = 0, 0, library()
    furthest: dict[str, float] = {}
    with ThreadPoolExecutor(jobs) as pool:
        for notebook in notebooks:
            key = notebook_key(notebook, package)
            found = _under(wanted(notebook, draws), notebook, key, root, pool)
            differ = {draw: it["lines"] for draw, it in found.items() if it["differences"]}
            print(f"{_name(notebook, root)}: {len(found)} orders, {len(differ)} not as stored")
            for draw, lines in differ.items():
                print("".join(f"    order {draw}: {line}\n" for line in lines), end="", flush=True)
            runs, failed = runs + len(found), failed + len(differ)
            for of_draw in found.values():
                for place, far in of_draw["moves"].items():
                    told = f"{_name(notebook, root)}, {place}"
                    furthest[told] = max(far, furthest.get(told, 0))
    for place, far in sorted(furthest.items(), key=lambda item: -item[1])[:_SHOWN]:
        print(f"{far:6.2f} of its band: {place}")
    print(f"{runs} runs in other orders, {failed} not as stored   {path(root, 'portable')}")
    return int(bool(failed))


def _under(
    draws: range, notebook: Path, key: str, root: Path, pool: ThreadPoolExecutor
) -> dict[str, Any]:
    """What came out of a notebook under each draw, kept as soon as it is known."""
    name = _name(notebook, root)
    found = of_key(kept(root, "portable").get(name, {}), key)
    left = [draw for draw in draws if str(draw) not in found]
    for draw, made in zip(left, pool.map(lambda it: run_under(notebook, it), left), strict=True):
        found[str(draw)] = _told(made)
        before = kept(root, "portable").get(name, {})
        keep(root, "portable", {name: with_orders(before, key, found)})
    return found


def _told(made: Run) -> dict[str, Any]:
    """What is kept of a run: what is not as stored, outcomes that turned, and the largest moves.

    Of each cell it is the largest; of live experiments that of each, by claim.
    """
    lines, moves = made.differences(), dict[str, float]()
    for place, found in comparing.cell_moves(made.stored, made.book):
        for move in found:
            if move.far < inf:
                where = f"{place}: {move.of}"
                moves[where] = max(round(move.far, 2), moves.get(where, 0))
    return {"differences": len(lines), "lines": lines[:_KEPT], "moves": moves,
            "outcomes": made.other_outcomes()}  # fmt: skip


def _name(notebook: Path, root: Path) -> str:
    return notebook.relative_to(root).as_posix()


def of_key(entry: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return what is kept of a notebook's draws, where it was the same notebook."""
    kept_orders = entry.get("orders", {})
    return dict(kept_orders.get("draws", {})) if kept_orders.get("key") == key else {}


def with_orders(entry: Mapping[str, Any], key: str, draws: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept of a notebook, with its draws, and all of its runs counted.

    Example:
        >>> two = {"1": {"differences": 0, "lines": []}, "2": {"differences": 1, "lines": ["off"]}}
        >>> entry = with_orders({"differences": {"avx2/1": 0}}, "abc", two)
        >>> entry["runs"], entry["failed"]
        (3, 1)
    """
    counts = [*entry.get("differences", {}).values(), *(it["differences"] for it in draws.values())]
    return {
        **entry, "runs": len(counts), "failed": sum(map(bool, counts)),
        "orders": {"key": key, "draws": dict(draws)},
    }  # fmt: skip
