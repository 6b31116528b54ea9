"""The exercises as data: what is asked, what the answer is, and what makes sure of it.

They stand in ``claims/exercises/*.yaml``, a file per chapter. An answer is never only typed: the
claim, or the definition that the engine computes, from which it follows stands beside it, and
`verifiedbook.checks.exercises.sound` holds one against the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..serving import served
from . import registry
from .rendering.formulas import latex_fault
from .rules import check_rules

__all__ = ["ExerciseError", "Question", "load_questions", "question"]

_ID = re.compile(r"(\d+\.\d+)\.\d+")
_NEEDS: dict[str, set[str]] = {
    "formula": {"symbols", "answer", "because"}, "number": {"answer", "because"},
    "choice": {"choices", "answer"}, "function": {"inputs", "known"}, "open": set(),
}  # fmt: skip
_MAY = {"number": {"within", "unit"}, "choice": {"right"}, "open": {"numbers"}}
_ALWAYS, _OFTEN = {"id", "stars", "title", "ask", "kind", "solution"}, {"nudge", "known", "uses"}
_BECAUSE = ({"claim"}, {"quantity", "where"}, {"quantity"}, {"solves", "for"})  # may have at, then


class ExerciseError(ValueError):
    """A file of exercises breaks a rule; the message names file, exercise and rule."""


@dataclass(frozen=True, eq=False)  # so that a key is kept for each
class Question:
    """One exercise.

    Attributes:
        id: section and number, such as ``"3.4.1"``; never used again for another.
        notebook: of its section, from the folder of the notebooks.
        stars: 1 a minute's thought, 2 pencil and paper, 3 an evening.
        title: a few words.
        ask: the question, Markdown with LaTeX.
        kind: "formula", "number", "choice", "function" or "open".
        solution: Markdown; ``{answer}`` stands for the answer's LaTeX. That of a function shows it
            in a block of Python, which is run.
        nudge: what to think of first.
        symbols: names of the notation in which a formula is to be given.
        answer: formula or number as SymPy text, or the letter of a choice.
        within: relative error that a number may have.
        unit: of a number, for the eye alone.
        because: what makes sure of the answer: a ``claim`` (`LOSS-14`, ``LOSS-12[square]``,
            ``LOSS-15.truth``); ``quantity`` and ``where`` for the engine; or the equation which it
            ``solves``, as an expression that is zero, ``for`` a symbol. The first two may be taken
            ``at`` values, and ``then`` put into a formula in x.
        choices: of a choice, text by letter.
        right: of a choice, a function of Python that says of each text, without its dollars or
            backticks, whether it is right.
        numbers: of an open one, Python that computes ``said``, by what its solution says.
        inputs: of a function, the arguments with which an answer is tried, as Python text.
        known: wrong answers that are known, with what to say to each; of a function, Python
            expressions in its arguments, which may call the right one.
        uses: ids of the claims on which the exercise rests.
    """

    id: str
    notebook: str
    stars: int
    title: str
    ask: str
    kind: str
    solution: str
    nudge: str = ""
    symbols: str = ""
    answer: str = ""
    within: float = 0.01
    unit: str = ""
    because: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    right: str = ""
    numbers: str = ""
    inputs: Sequence[str] = ()
    known: Mapping[str, str] = field(default_factory=dict)
    uses: tuple[str, ...] = ()


@cache
def load_questions(folder: Path | None = None) -> dict[str, Question]:
    """Read and validate all exercises.

    Args:
        folder: where the files are; beneath the claims of the book that is served by default.

    Returns:
        Questions by id, in the order of the book.

    Raises:
        RegistryError: a key that stands twice in a file.
        ExerciseError: a key that is not known or is missing, an id that is double or of another
            section, LaTeX that does not balance, or a claim that is not in the registry.
    """
    found: dict[str, Question] = {}
    for path in sorted((folder or served().claims / "exercises").glob("*.yaml")):
        for section in registry.contents(path):
            if set(section) != {"section", "notebook", "exercises"}:
                raise ExerciseError(f"{path.name}: got {sorted(section)}; accepted: section, "
                                    "notebook, exercises")  # fmt: skip
            for entry in section["exercises"]:
                made = _question(entry, section, path.name)
                if made.id in found:
                    raise ExerciseError(f"{path.name}: {made.id} is there twice")
                found[made.id] = made
    return found


def question(id: str) -> Question:
    """Return the exercise with this id.

    Raises:
        KeyError: there is none; the message lists those of its section.
    """
    every = load_questions()
    if id in every:
        return every[id]
    near = [name for name in every if name.startswith(f"{str(id).rpartition('.')[0]}.")]
    raise KeyError(f"id: {id!r} is no exercise; accepted: {', '.join(near or every)}")


def _question(entry: Mapping[str, Any], section: Mapping[str, Any], file: str) -> Question:
    def refuse(rule: str) -> ExerciseError:
        return ExerciseError(f"{file}: {entry.get('id', 'an exercise without an id')}: {rule}")

    kind = entry.get("kind")
    if kind not in _NEEDS:
        raise refuse(f"kind is {kind!r}; accepted: {', '.join(_NEEDS)}")
    wanted = _ALWAYS | _NEEDS[kind]
    missing = sorted(wanted - set(entry))
    strange = sorted(set(entry) - wanted - _MAY.get(kind, set()) - _OFTEN)
    check_rules(refuse, {
        f"{', '.join(missing)} is missing": missing,
        f"a {kind} has no {', '.join(strange)}": strange,
    })  # fmt: skip
    number = _ID.fullmatch(str(entry["id"]))
    solution, because = entry["solution"], entry.get("because", {})
    choices, known = entry.get("choices", {}), entry.get("known", {})
    texts = (entry["ask"], solution, entry.get("nudge", ""), *known.values(), *choices.values())
    computed = kind in ("formula", "number")
    named = [*entry.get("uses", ()), *([because["claim"]] if "claim" in because else [])]
    unknown = [id for name in named
               if (id := re.split(r"[\[.]", name)[0]) not in registry.load()[1]]  # fmt: skip
    check_rules(refuse, {
        f"accepted in section {section['section']}: its number and that of the exercise, "
        'such as "3.4.1"': not number or number[1] != str(section["section"]),
        f"stars is {entry['stars']!r}; accepted: 1, 2, 3": entry["stars"] not in (1, 2, 3),
        **{f"{fault} in {text[:40]!r}": True
           for text in texts if (fault := latex_fault(text.replace("$$", "$")))},
        f"because has {sorted(because)}; accepted: claim, or quantity and where, solves and for; "
        "then at and then": computed and set(because) - {"at", "then"} not in _BECAUSE,
        "the solution does not end in {answer}": computed and "{answer}" not in solution,
        "the solution does not show the function in Python":
            kind == "function" and "```python\n" not in solution,
        f"answer and known wrong ones do not cover {set(choices)}":
            kind == "choice" and {entry["answer"]} ^ set(known) != set(choices),
        f"{', '.join(unknown)} is not in the registry": unknown,
    })  # fmt: skip
    ready = {**entry, "answer": str(entry.get("answer", "")), "uses": tuple(entry.get("uses", ()))}
    return Question(notebook=section["notebook"], **ready)
