"""`make mutants`: faults at random, what sees them, and the score by kind and chapter."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from verifiedbook.commands.status import path, provenance
from verifiedbook.writing import write_whole

from .judging import LOCKED, Judge, Judgement
from .mutant import CHAPTERS, KINDS, PARTS, Mutant
from .mutants import draw

ROOT = Path(__file__).parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent.yaml")
NUMBERS = {"code": 20, "prose": 60, "reading": 40, "experiment": 10, "figure": 10, "page": 60,
           "library": 30}  # fmt: skip


def main() -> int:
    """Draw, judge, print and keep; the exit status is 0, for a score is no gate."""
    options = _parser().parse_args()
    kinds = [options.kind] if options.kind else list(KINDS)
    known, argued = equivalent(), Counter[str]()
    results: list[Judgement] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        judge = Judge(ROOT, Path(folder), options.html)
        for kind in kinds:
            source = judge.html if kind == "page" else ROOT
            number = options.n or NUMBERS[kind]
            drawn = draw(kind, source, number, options.salt, options.chapter)
            asked = left(drawn, known)
            argued[kind] = len(drawn) - len(asked)
            for found in judge.judge(asked):
                results.append(found)
                sign = {"": "SURVIVED", LOCKED: "locked  "}.get(found.by, "red     ")
                mutant = found.mutant
                print(f"{sign} {found.seconds:6.1f} s {mutant.way:20} {mutant.description}")
                if found.by:
                    print(f"         {found.by}: {found.said[:110]}", flush=True)
    print(table(results))
    summary = as_json(results, options.salt, argued)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(summary, ensure_ascii=False, indent=1), encoding="utf-8")
    if not options.chapter and all((options.n or NUMBERS[kind]) >= NUMBERS[kind] for kind in kinds):
        keep_score(summary)
    print(f"{len(results)} mutants, {argued.total()} argued away   {options.out}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--kind", choices=(*KINDS, ""), default="", help="all by default")
    parser.add_argument("--n", type=_number, default=0, help=f"by default {NUMBERS}")
    chapters = ("", *map(str, dict.fromkeys(CHAPTERS.values())), *PARTS)
    said = f"all by default; of the library one of {', '.join(PARTS)}"
    parser.add_argument("--chapter", default="", choices=chapters, help=said)
    parser.add_argument("--salt", default=datetime.now(UTC).strftime("%G-W%V"), help="of the draw")
    parser.add_argument("--html", type=Path, help="the built pages; built where not given")
    parser.add_argument("--out", type=Path, default=ROOT / "_build" / "mutants.json")
    return parser


def _number(text: str) -> int:
    return int(text) if text else 0


def equivalent(file: Path = EQUIVALENT) -> dict[re.Pattern[str], str]:
    """What finds the mutants that change nothing that is said, with the reason for each.

    Raises:
        ValueError: one of them has no reason.
    """
    listed = yaml.safe_load(file.read_text(encoding="utf-8")) or []
    for item in listed:
        if not str(item.get("reason", "")).strip() or len({"mutant", "every"} & {*item}) != 1:
            raise ValueError(f"{file.name}: {item}: accepted: a mutant and a reason")
    return {
        re.compile(item.get("every") or rf"\A{re.escape(item['mutant'])}\Z"): item["reason"]
        for item in listed
    }


def left(drawn: Sequence[Mutant], known: Iterable[re.Pattern[str]]) -> list[Mutant]:
    """Return the mutants that are not argued away.

    Raises:
        ValueError: one reason takes more than a twentieth of them: it is too wide to be one.
    """
    taken = {way: {m for m in drawn if way.search(m.description)} for way in known}
    for way, mutants in taken.items():
        if len(mutants) > max(3, len(drawn) // 20):
            raise ValueError(
                f"{EQUIVALENT.name}: {way.pattern} argues {len(mutants)} of {len(drawn)} away; "
                "accepted: a twentieth"
            )
    return [m for m in drawn if not any(m in mutants for mutants in taken.values())]


def table(results: Iterable[Judgement]) -> str:
    """The score by kind and chapter, how many red ones name a claim, and what the lock adds."""
    cells: defaultdict[tuple[str, str], list[Judgement]] = defaultdict(list)
    for found in results:
        for chapter in (found.mutant.chapter, "all"):
            cells[found.mutant.kind, chapter].append(found)
    chapters = [*sorted({chapter for _, chapter in cells} - {"all"}), "all"]
    lines = ["| kind | " + " | ".join(chapters) + " | names the claim | the lock on words |"]
    lines.append("|---" * (len(chapters) + 3) + "|")
    for kind in KINDS:
        if (kind, "all") in cells:
            row = [_score(cells[kind, chapter]) for chapter in chapters]
            red = [found for found in cells[kind, "all"] if found.red]
            named = f"{sum(found.names for found in red)} of {len(red)} red"
            locked = f"{sum(found.by == LOCKED for found in cells[kind, 'all'])} more"
            lines.append(f"| {kind} | {' | '.join(row)} | {named} | {locked} |")
    return "\n".join(lines)


def _score(found: list[Judgement]) -> str:
    return f"{sum(one.red for one in found)}/{len(found)}" if found else ""


def as_json(
    results: Iterable[Judgement], salt: str, argued: Mapping[str, int] = MappingProxyType({})
) -> dict[str, Any]:
    """What the page on the state of the book shows; how many were argued away, by kind."""
    results = list(results)
    made: dict[str, Any] = {"when": datetime.now(UTC).date().isoformat(), "salt": salt}
    made["kinds"] = {}
    for kind in KINDS:
        own = [found for found in results if found.mutant.kind == kind]
        if own:
            made["kinds"][kind] = {
                **_sums(own),
                "argued": argued.get(kind, 0),
                "naming": sum(found.names for found in own if found.red),
                "chapters": _parts(own, lambda found: found.mutant.chapter),
                "ways": _parts(own, lambda found: found.mutant.way),
                "seen_by": dict(Counter(found.by for found in own if found.by).most_common()),
            }
    made["survivors"] = [
        {
            "kind": found.mutant.kind, "chapter": found.mutant.chapter, "way": found.mutant.way,
            "claims": found.mutant.claims, "mutant": found.mutant.description,
        }
        for found in results if not found.by
    ]  # fmt: skip
    return made


def keep_score(summary: Mapping[str, Any], root: Path = ROOT) -> Path:
    """Keep the score of each kind that was drawn in full, for the status page.

    Args:
        summary: of the run, as `as_json` gives it.
        root: the repository.
    """
    target = path(root, "mutants")
    kept = json.loads(target.read_text(encoding="utf-8"))["kinds"] if target.exists() else {}
    for kind, found in summary["kinds"].items():
        sums = {name: found[name] for name in ("total", "red", "locked", "argued", "naming")}
        by_chapter = {
            name: [part["red"], part["total"]] for name, part in found["chapters"].items()
        }
        kept[kind] = {
            **sums, "chapters": by_chapter, "salt": summary["salt"], **provenance(root)
        }  # fmt: skip
    made = {
        "command": "make mutants",
        "kinds": {kind: kept[kind] for kind in KINDS if kind in kept},
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, json.dumps(made, ensure_ascii=False, indent=1) + "\n")
    return target


def _sums(found: Iterable[Judgement]) -> dict[str, int]:
    own = list(found)
    locked = sum(one.by == LOCKED for one in own)
    return {"total": len(own), "red": sum(one.red for one in own), "locked": locked}


def _parts(found: list[Judgement], key: Callable[[Judgement], str]) -> dict[str, dict[str, int]]:
    names = sorted({key(one) for one in found})
    return {name: _sums(one for one in found if key(one) == name) for name in names}


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:  # the scratch copy is gone by now
        print("interrupted", file=sys.stderr)
        sys.exit(130)
