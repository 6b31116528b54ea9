"""What was done about a claim, in a line of plain words made from its records.

>>> told([])
'nothing has run here'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..records.record import Record

_Records = Sequence[Record]


def told(records: _Records) -> str:
    """Say in a line what was done about a claim.

    Args:
        records: of one claim, those of what the article says and those of what is true instead.

    Returns:
        Words such as ``proved two ways · measured to 1 % at 2 points · 19/19 wrong versions
        rejected``.
    """
    parts = _done([r for r in records if r.of == "reading"])
    if right := _done([r for r in records if r.of == "truth"]):
        parts.append(f"the right statement {', '.join(right)}")
    scores = [r.mutants for r in records if r.mutants and r.mutants.total]
    if scores:
        killed, total = sum(s.killed for s in scores), sum(s.total for s in scores)
        parts.append(f"{killed}/{total} wrong versions rejected")
    return " · ".join(parts) or "nothing has run here"


def _done(records: _Records) -> list[str]:
    kinds = ((words, [r for r in records if r.kind == kind]) for kind, words in _WORDS.items())
    return [words(of) for words, of in kinds if of]


def _times(count: int, one: str, many: str) -> str:
    return one if count == 1 else many.format(count)


def _points(records: _Records, pattern: str) -> int:
    """How many points the records name, summed."""
    return sum(int(found[1]) for r in records if (found := re.search(pattern, r.detail)))


def _at(points: int) -> str:
    return f" at {points} point{'s' * (points > 1)}" if points else ""


def _proof(records: _Records) -> str:
    ways = {
        "two ways": "two routes", "by induction": "by induction", "step by step": "checked step",
    }  # fmt: skip
    used = [way for way, sign in ways.items() if any(sign in r.detail for r in records)]
    return f"proved {used[0]}" if len(used) == 1 else "proved"


def _exact(records: _Records) -> str:
    points = _points(records, r"exact at (\d+) point")
    return (
        f"computed exactly{_at(points)}"
        if points
        else "checked exactly, and a broken version fails"
    )


def _measurement(records: _Records) -> str:
    sees = [float(f[1]) for r in records if (f := re.search(r"sees ([\d.]+)%", r.detail))]
    to = f" to {max(sees):g} %" if sees else ""
    return f"measured{to}{_at(sum(len(r.volatile.estimates) for r in records))}"


def _draws(records: _Records) -> int:
    return max(r.sample.n if r.sample else 0 for r in records)


_TRIED = {
    "supports": "seen{}", "contradicts": "the opposite seen{}", "unsettled": "tried{}, not settled",
}  # fmt: skip


def _experiment(records: _Records) -> str:
    parts = []
    for outcome, words in _TRIED.items():
        if of := [r for r in records if r.outcome == outcome]:
            runs = _points(of, r"^(\d+) runs")
            parts.append(words.format(f" in {runs} runs" if runs else ""))
    return ", ".join([*parts, *["recorded"] * any(r.recorded for r in records)])


def _set_aside(records: _Records) -> str:
    nature = records[0].statement
    return f"set aside: {'an' if nature[:1] in 'aeiou' else 'a'} {nature}"


_WORDS: dict[str, Callable[[_Records], str]] = {  # what speaks against a claim stands first
    "counterexample": lambda r: _times(
        len(r), "refuted by a counter-example", "refuted by {} counter-examples"
    ),
    "proof": _proof,
    "exact": _exact,
    "count": lambda r: "counted" + _at(_points(r, r"counted at (\d+) point")),
    "equality": lambda r: f"equal on {_draws(r)} random draws",
    "measurement": _measurement,
    "sampled": lambda r: f"true on {_draws(r)} random draws",
    "census": lambda r: "counted in {} published data".format(_points(r, r"^(\d+) data")),
    "experiment": _experiment,
    "citation": lambda r: _times(len(r), "held against a source", "held against {} sources"),
    "witness": lambda r: "false without its condition",
    "met": lambda r: "its condition met in the article's setting",
    "set-aside": _set_aside,
    "attempt": lambda r: "tried, and not settled",
}
