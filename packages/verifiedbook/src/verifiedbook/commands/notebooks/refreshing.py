"""`refresh`: notebooks run and stored, with the bands of their numbers.

Bands are measured under processors that nobody has seen (`other_processor`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ...account.records import pictures
from ...writing import write_whole
from . import bands, comparing, form
from .other_processor import environment
from .running import Run, run

DRAWS = 4  # processors on which a cell's bands are measured when it is stored
_WIDEST = 20  # units of a picture's band: a tenth of an axis


def refresh(notebooks: Sequence[Path], root: Path, draws: int | None = None) -> int:
    """Execute notebooks and store their outputs; one in which nothing changed stays as it is.

    The bands of cells that say something else are measured; what no band can hold is printed.
    Titles say what came out: a notebook that was as `form` writes it is so again.

    Args:
        notebooks: which; one whose cell fails is not stored.
        draws: on how many processors the bands of all cells are measured anew.
    """
    failed = False
    for notebook in notebooks:
        again = run(notebook)
        print(f"{notebook.relative_to(root)}: {again.seconds:.1f} s", flush=True)
        if again.errors:
            print(f"    not stored; {again.errors[0]}", file=sys.stderr)
            failed = True
            continue
        for change in again.differences():
            print(f"    {change}")
        names = comparing.keep_what_stayed(again.stored, again.book)
        _store(notebook, again.book)
        changed = {cell.get("id") for cell in again.book.cells} if draws else names
        names = {cell.get("id") for cell in again.book.cells if _may_move(cell)} & changed
        if names:
            numbers = range(1, 1 + (draws or DRAWS))
            book, told = measure(notebook, names, numbers)
            _store(notebook, book)
            print("".join(f"    {line}\n" for line in told), end="", flush=True)
    return int(failed)


def _store(notebook: Path, book: Any) -> None:
    import nbformat

    before, text = notebook.read_text(encoding="utf-8"), nbformat.writes(book) + "\n"
    write_whole(notebook, form.formed(text) if form.formed(before) == before else text)


def _may_move(cell: Any) -> bool:
    """Whether a cell shows a picture, or a number with a point outside its records."""
    said = bands.texts(cell.get("outputs", [])).items()
    shown = [text for kind, text in said if not kind.startswith(bands.DECIDED)]
    pointed = any("." in number or "e" in number for t in shown for number in bands.numbers(t))
    return pointed or any(pictures.pictures(cell))


def measure(
    notebook: Path, names: set[str], draws: Sequence[int], jobs: int = 2
) -> tuple[Any, list[str]]:
    """Measure the bands of a stored notebook's cells.

    Args:
        notebook: its file, which stays as it is.
        names: ids of the cells.
        draws: numbers of the processors.
        jobs: runs at a time.

    Returns:
        The notebook with the bands in its cells' metadata, and lines on what no band can hold:
        cells that failed, words that moved, numbers and pictures that move too far.
    """
    places = [environment(draw) for draw in draws]
    with ThreadPoolExecutor(jobs) as pool:
        loud = pool.submit(run, notebook, environment=environment(0, loud=True), through=True)
        made = [*pool.map(lambda it: run(notebook, environment=it, through=True), places)]
    book = made[0].stored
    told = [
        f"draw {draw}: {line}" for draw, it in zip(draws, made, strict=True) for line in it.errors
    ]
    for index, cell in enumerate(book.cells):
        if cell.get("id") not in names or cell.cell_type != "code":
            continue
        outputs = [_outputs(it, index) for it in (*made, loud.result())]
        found = _bands(cell, outputs)
        cell.metadata.pop(bands.KEY, None)
        if found:
            cell.metadata[bands.KEY] = bands.written(found)
        told += [f"cell {index}: {line}" for line in _too_far(cell.outputs, outputs[:-1], found)]
    return book, told


def _outputs(made: Run, index: int) -> Any:
    return made.book.cells[index].get("outputs", [])


def _bands(cell: Any, made: Sequence[Any]) -> bands.Bands:
    said, *others = (bands.texts(outputs) for outputs in (cell.outputs, *made))
    found = bands.measured(said, others[:-1], others[-1], cell.source)
    seen: dict[int, int] = {}
    for outputs in made[:-1]:
        for place, _, units in pictures.moved(cell.outputs, outputs):
            if units < math.inf:
                seen[place] = max(seen.get(place, 1), math.ceil(bands.AT_MOST * units))
    wider = {place: units for place, units in seen.items() if 1 < units <= _WIDEST}
    return found | ({bands.PICTURE: wider} if wider else {})


def _too_far(stored: Any, made: Sequence[Any], found: bands.Bands) -> Iterator[str]:
    """What moves by more than a third of its band, and numbers whose band says nothing."""
    for outputs in made:
        for move in comparing.moves(stored, outputs, found):
            if move.far > 1 / bands.AT_MOST + 1e-9:
                yield comparing.told(move)
    for kind, text in bands.texts(stored).items():
        if weak := bands.weak(text, found.get(kind, {})):
            yield f"{kind}: a band lets half as much again pass: {', '.join(weak)}"
