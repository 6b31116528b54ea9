"""The state of the book, read from the files that runs have left; no number of it is typed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import yaml
from docutils import nodes
from markupsafe import Markup, escape
from sphinx.util.docutils import SphinxDirective

from verifiedbook.account.code import library, notebook_key
from verifiedbook.account.records.chances import expected
from verifiedbook.account.records.notebook_records import notebooks, stored_records
from verifiedbook.account.registry import OWN, load
from verifiedbook.account.words.support import KINDS, all_rows, kind_of
from verifiedbook.commands.status import tree_key
from verifiedbook.sphinx.claims import raw
from verifiedbook.sphinx.render import statement

SHOWN = (
    "torch", "numpy", "scipy", "sympy", "transformers", "jupyter-book", "nbval", "pytest",
)  # fmt: skip
GATES = {
    "notebook_gates": "over every notebook",
    "prose_gates": "over every page of prose",
    "page_gates": "over the built pages",
    "others": "on the gates and the build themselves",
}
NOTHING = "<p>Nothing is kept: no such run has been recorded in this version of the book.</p>"


class State(SphinxDirective):
    """A part of the state, by its name."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        made = PARTS.get(self.arguments[0])
        if made is None:
            raise self.error(f"{self.arguments[0]}: accepted: {', '.join(PARTS)}")
        root = Path(self.env.srcdir)
        self.env.note_dependency(str(root / "tests" / "status"))
        return [raw(made(root))]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in HTML, its first column the heads of its rows; what is no `Markup` is escaped.

    Example:
        >>> table(["a", "b"], [["x", "<1"]])[-68:]
        '<tbody><tr><th scope="row">x</th><td>&lt;1</td></tr></tbody></table>'
    """
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    lines = (
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return (
        f'<table class="vt-state table"><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def versions(root: Path) -> str:
    """The pins of the packages that decide, and how many there are in all."""
    lines = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==", 1) for line in lines if "==" in line and line[0] != "#")
    rows = [(name, pins[name]) for name in SHOWN if name in pins]
    return table(["Package", "Version"], rows) + f"<p>These and {len(pins) - len(rows)} more.</p>"


def gates(root: Path) -> str:
    """How many gates there are, and how many known-bad inputs they must refuse."""
    wired = yaml.safe_load((root / "tests" / "wiring.yaml").read_text(encoding="utf-8"))
    rows: list[tuple[object, ...]] = [
        (f"Gates {where}", len(wired[kind])) for kind, where in GATES.items()
    ]
    counted = (root / "tests" / "canaries" / "counts.txt").read_text(encoding="utf-8").splitlines()
    canaries = sum(int(line.split()[0]) for line in counted)
    rows.append(("Canaries: bad inputs that must be refused", canaries))
    return table(["What", "How many"], rows)


def clauses(_: Path) -> str:
    """How many clauses the articles' statements are cut into, and which are not judged."""
    said = [s for s in load()[1].values() if s.clauses and s.article != OWN]
    cut = [s for s in said if s.reading and s.reading.cases]
    left = [(s.id, Markup(statement(c.words)), c.why) for s in said for c in s.clauses if c.why]
    told = (
        f"<p>{len(cut)} statements of the articles are cut into {sum(len(s.clauses) for s in cut)} "
        f"clauses. Of these and of the other statements {len(left)} clauses are not judged:</p>"
    )
    return told + table(["Claim", "Words", "Why"], left)


def own_words(root: Path) -> str:
    """How many own words each chapter has, by what decides them; a row has its weightiest."""
    counted: dict[str, Counter[str]] = {}
    for path, found in all_rows(root).items():
        chapter = path.parent.name.partition("-")[0]
        name = f"Chapter {chapter}" if chapter.isdigit() else "Pages"
        kinds = (kind_of(row.by[0]) for rows in found.values() for row in rows)
        counted.setdefault(name, Counter()).update(kinds)
    counted["All"] = sum(counted.values(), Counter())
    rows = [(name, *(of[kind] for kind in KINDS), of.total()) for name, of in counted.items()]
    return table(["Where", *(kind.capitalize() for kind in KINDS), "All"], rows)


def times(root: Path) -> str:
    """Where the time of the last kept `make test` went."""
    kept = _kept(root, "times")
    if not kept:
        return NOTHING
    files: Mapping[str, Mapping[str, float]] = kept["files"]
    total = sum(file["processor"] for file in files.values())
    heavy = sorted(files.items(), key=lambda item: -item[1]["processor"])[:10]
    rows = [(name, f"{file['processor']:.0f} s") for name, file in heavy]
    said = (
        f"<p>{kept['wall'] / 60:.1f} minutes by the clock, {total / 60:.1f} of the processor, on "
        f"{kept['cores']} cores; {_when(kept)}. The heaviest files:</p>"
    )
    return said + table(["File", "Processor"], rows)


def elsewhere(root: Path) -> str:
    """The last runs with other seeds, and under other instruction sets."""
    made = []
    for name, title in (
        ("fresh-seeds", "Other draws instead of all of the book's"),
        ("portable", "Other instruction sets, threads, hash seeds and orders of summation"),
    ):
        kept = _kept(root, name).get("notebooks", {})
        made.append(f"<h3>{escape(title)}</h3>")
        if kept and name == "fresh-seeds":
            made.append(_by_chance(kept, root))
        made.append(_notebooks(kept) if kept else NOTHING)
    return "".join(made)


def machines(root: Path) -> str:
    """What was tried on which machine or setting, and what has changed since."""
    tried = [one for name in ("machines", "newest") for one in _kept(root, name).get("tried", [])]
    now = tree_key(root)
    if not tried:
        return NOTHING
    rows = [
        (
            one["where"], one["ran"], ("" if one["green"] else "red: ") + one["result"],
            "yes" if one["key"] == now else "no, not since something changed",
            f"{_when(one)}, Python {one['python']}, {one['cores']} cores",
        )
        for one in tried
    ]  # fmt: skip
    return table(["Where", "What ran", "Result", "As the book is now?", "Run"], rows)


def proofs(root: Path) -> str:
    """What a proof kernel has checked, when, and of which file which theorems."""
    file = root / "proofs" / "checked.json"
    if not file.exists():
        return NOTHING
    checked = json.loads(file.read_text(encoding="utf-8"))
    theorems = checked["theorems"]
    claims = {name.split()[0] for one in theorems for name in one["claims"]}
    rows = [
        (name, len(of), ", ".join(dict.fromkeys(c.split()[0] for one in of for c in one["claims"])))
        for name in sorted({one["file"] for one in theorems})
        if (of := [one for one in theorems if one["file"] == name])
    ]
    return (
        f"<p>{len(theorems)} theorems on {len(claims)} claims, in {checked['lines']} lines; "
        f"checked by Rocq {escape(checked['kernel'])} in {checked['seconds']} s, "
        f"on {checked['when']}. No axiom but those of the reals.</p>"
        + table(["File", "Theorems", "Claims"], rows)
    )


def digits(root: Path) -> str:
    """How many printed numbers a ball certifies, by chapter."""
    whole = _kept(root, "digits")
    counts: dict[str, Counter[str]] = {}
    for page, found in whole.get("pages", {}).items():
        chapter = page.split("/")[1].partition("-")[0] if page.startswith("notebooks/") else "pages"
        counts.setdefault(chapter, Counter()).update(found)
    if not counts:
        return NOTHING
    rows = [(name, of["balls"], of["fractions"]) for name, of in sorted(counts.items())]
    rows.append(
        ("all", *(sum(of[kind] for of in counts.values()) for kind in ("balls", "fractions")))
    )
    made = f"{whole['when']}, commit {whole['commit'][:7]}, python-flint {whole['flint']}"
    return table(["Chapter", "By a ball", "As a fraction"], rows) + f"<p>{made}.</p>"


def _by_chance(kept: Mapping[str, Mapping[str, Any]], root: Path) -> str:
    """How many runs with other draws there were, and how many would fail by chance."""
    chance = {
        name: expected(found.record for found in stored_records(root / name, root))
        for name in kept
        if (root / name).is_file()
    }
    runs, failed, mended = (
        sum(entry["runs"] for entry in kept.values()),
        sum(entry["failed"] for entry in kept.values()),
        sum(len({one["salt"] for one in entry.get("mended", [])}) for entry in kept.values()),
    )
    by_chance = sum(entry["runs"] * chance.get(name, 0) for name, entry in kept.items())
    once = f", and {mended} failed until their checks were mended" if mended else ""
    return (
        f"<p>{runs} runs of {len(kept)} sections; {failed} failed{once}. By chance, at most "
        f"{by_chance:.2g} failures are expected: so often do measurements with these levels fail "
        "in so many runs. The sign of an experiment has no level, but a margin.</p>"
    )


def _notebooks(kept: Mapping[str, Mapping[str, Any]]) -> str:
    rows = {
        name: (f"{entry['runs'] - entry['failed']} of {entry['runs']}", _when(entry))
        for name, entry in kept.items()
    }
    listed = _failures(kept, "failures", "What was not as stored:")
    listed += _failures(kept, "mended", "What failed once, and is mended:")
    return table(["Sections", "As stored", "Run"], _together(rows)) + listed


def _together(said: Mapping[str, tuple[str, str]]) -> list[tuple[str, ...]]:
    """A row for all sections of which the same is said, in the order of reading.

    Example:
        >>> said = {f"notebooks/3-b/{n}-a.ipynb": ("10 of 10",) for n in (10, 9, 2, 3, 1)}
        >>> _together(said)
        [('3.1–3.3, 3.9, 3.10', '10 of 10')]
    """
    places = {name: tuple(map(int, _section(name).split()[0].split("."))) for name in said}
    alike: dict[tuple[str, ...], list[tuple[int, ...]]] = {}
    for name in sorted(said, key=places.__getitem__):
        alike.setdefault(said[name], []).append(places[name])
    return [(_ranges(found), *what) for what, found in alike.items()]


def _ranges(found: Sequence[tuple[int, ...]]) -> str:
    """Numbers of sections, three or more in a row as the first and the last."""
    rows: list[list[tuple[int, ...]]] = []
    for chapter, number in found:
        if rows and rows[-1][-1] == (chapter, number - 1):
            rows[-1].append((chapter, number))
        else:
            rows.append([(chapter, number)])
    names = [[f"{chapter}.{number}" for chapter, number in row] for row in rows]
    return ", ".join(f"{n[0]}–{n[-1]}" if len(n) > 2 else ", ".join(n) for n in names)


def _failures(kept: Mapping[str, Mapping[str, Any]], key: str, words: str) -> str:
    lines = [
        f"<li>{escape(_section(name))}: {escape(failure['salt'])} {escape(failure['what'])}</li>"
        for name, entry in sorted(kept.items())
        for failure in entry.get(key, [])
    ]
    return f"<p>{words}</p><ul>{''.join(lines)}</ul>" if lines else ""


def mutants(root: Path) -> str:
    """How many faults at random were seen, by kind."""
    kinds = _kept(root, "mutants").get("kinds", {})
    if not kinds:
        return NOTHING
    rows = [
        (
            kind, f"{one['red']} of {one['total']}", _by_chapter(one.get("chapters", {})),
            f"{one.get('locked', 0)}", one.get("argued", "not kept"), f"{one['naming']}",
            _when(one),
        )
        for kind, one in kinds.items()
    ]  # fmt: skip
    heads = ["Fault in", "Seen as false", "By chapter", "Only as other words", "Argued away"]
    return table([*heads, "Naming the claim", "Run"], rows)


def _by_chapter(chapters: Mapping[str, Sequence[int]]) -> str:
    return " · ".join(f"{name}: {red}/{total}" for name, (red, total) in chapters.items())


def devices(root: Path) -> str:
    """On which devices the stored measurements and recordings ran."""
    found: Counter[str] = Counter()
    for path in notebooks(root):
        for item in stored_records(path, root):
            found.update(estimate.device for estimate in item.record.volatile.estimates)
    rows: list[tuple[object, ...]] = [
        (f"Measured points in the notebooks, on {name}", number)
        for name, number in found.most_common()
    ]
    for path in sorted((root / "experiments/long_runs/recordings").glob("*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))["provenance"]
        rows.append((f"Recording {path.stem}", f"{run['device']}, {run['date']}"))
    on_gpu = any(not name.startswith("cpu") for name in found)
    said = (
        "<p>Some of the stored outputs come from a GPU.</p>" if on_gpu else
        "<p>No stored output of a notebook comes from a GPU.</p>"
    )  # fmt: skip
    return said + table(["What", "Device"], rows) + _on_a_gpu(root)


def _on_a_gpu(root: Path) -> str:
    """Every section with what it came to on a GPU: not yet where it was not run as it is now."""
    kept, package = _kept(root, "evidence").get("notebooks", {}), library()

    def said(name: str) -> tuple[str, str]:
        entry = kept.get(name, {})
        if "cuda" not in entry:
            return "not yet", ""
        where = f"{entry['device']}, CUDA {entry['cuda']}, {_when(entry)}"
        if entry["key"] != notebook_key(root / name, package):
            return "not yet; its code has changed since", where
        off = len(entry["differences"]) + len(entry["finer differences"])
        finer = f", measured {entry['finer']:g} times finer" if entry["finer"] > 1 else ""
        return (f"{off} differ" if off else f"as stored{finer}"), where

    names = [path.relative_to(root).as_posix() for path in notebooks(root)]
    if not kept:
        return "<p>No section has run on a GPU yet.</p>"
    return table(["Sections", "On a GPU", "Run"], _together({name: said(name) for name in names}))


def _kept(root: Path, name: str) -> Mapping[str, Any]:
    path = root / "tests" / "status" / f"{name}.json"
    found: Mapping[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found


def _when(entry: Mapping[str, Any]) -> str:
    of = f"{entry['when']}, commit {entry['commit'][:7]}"
    return f"{of}, torch {entry['versions']['torch']}, {entry['processor']}"


def _section(notebook: str) -> str:
    """The number of a section.

    Example:
        >>> _section("notebooks/3-first-loss/4-the-first-loss.ipynb")
        '3.4 the first loss'
    """
    chapter, page = notebook.removesuffix(".ipynb").split("/")[-2:]
    number, _, title = page.partition("-")
    return f"{chapter.partition('-')[0]}.{number} {title.replace('-', ' ')}"


PARTS: Mapping[str, Callable[[Path], str]] = {
    part.__name__: part
    for part in (versions, gates, clauses, own_words, proofs, digits, times, elsewhere, machines,
                 mutants, devices)
}  # fmt: skip
