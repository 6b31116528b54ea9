"""Whether an answer is right, and if not, what to say: known mistakes first, then general ones.

``answers.js`` does the same in a published page, line by line; what both say is held
together by ``tests/answers.yaml``.
"""

from __future__ import annotations
import __future__

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ...account.questions import Question, question
from ...account.rendering.formulas import latex
from .key import EXERCISE_KEY, Key, key, key_in_a_line
from .typed import Typed, Unreadable, read_answer, said

_Function = Callable[..., Any]
_CODE = re.compile(r"```python\n(.*?)```", re.S)
_COARSE = 0.05  # a rounded number is never taken for one that is farther off
_SAME, _ROUNDED = 1e-7, 0.01  # relative errors of a factor


@dataclass(frozen=True)
class JudgedAnswer:
    """What an answer is worth: whether it is right, and what to say, as Markdown with LaTeX."""

    right: bool
    say: str
    above: str = ""

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"{'right' if self.right else 'not yet'}: {self.say}"

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        head = "✓ **Right.**" if self.right else "✗ **Not yet.**"
        return {
            "text/markdown": f"{self.above}\n\n{head} {self.say}".strip(),
            "text/plain": repr(self),
        }


def judge_answer(asked: Question, given: Any) -> JudgedAnswer:
    """Judge an answer to a question; what is no answer is told so.

    Args:
        asked: the question.
        given: a formula (as people type it, or a SymPy expression), a number, the letter of a
            choice or its words, or a function.
    """
    if asked.kind == "open":
        return JudgedAnswer(False, said("open"))
    if asked.kind == "function":
        if not callable(given):
            return JudgedAnswer(False, said("function", f"`{given!r}`"))
        fault = _tried(asked, given)
        return JudgedAnswer(not fault, fault or said("works"))
    held = key(asked)
    text = str(given).strip()
    if asked.kind == "choice":
        letter = _chosen(text, asked.choices)
        say = held["say"].get(letter) or said("list", ", ".join(held["say"]))
        return JudgedAnswer(letter == held["right"], say)
    try:
        return _judge(held, read_answer(text, held["names"], held["unit"]))
    except Unreadable as unreadable:
        return JudgedAnswer(False, str(unreadable))


def _chosen(text: str, choices: Mapping[str, str]) -> str:
    """The letter of the choice that is meant: by its letter, its words, or how only it begins."""
    letter = text.strip("().").lower()
    if letter in choices:
        return letter
    words = _words(text)
    every = {name: _words(choice) for name, choice in choices.items()}
    same = [name for name, choice in every.items() if choice == words]
    begun = [name for name, choice in every.items() if words and choice.startswith(words)]
    meant = same or begun
    return meant[0] if len(meant) == 1 else ""


def _words(text: str) -> str:
    return re.sub(r"[\s$`*\\]+", " ", re.sub(r"^\([a-z]\)", "", text)).strip(" .").lower()


def _judge(held: Key, typed: Typed) -> JudgedAnswer:
    plain = held["kind"] == "number"
    slack = typed.slack if plain else 0.0
    values = [typed.value(dict(zip(held["names"], at, strict=True))) for at in held["at"]]
    found = [value for value in values if value is not None]
    if len(found) < len(values):
        place = held["told"] if values[-1] is None else ""
        return JudgedAnswer(False, said("nowhere", place) if place else said("undefined"))

    def nearest(rows: Sequence[Any], *slacks: float) -> str | None:
        near = (row for slack in slacks for row in rows if _holds(row, found, held, slack))
        return next(near, [None])[0]

    right, known = held["right"], held["known"]
    if nearest([right], 0.0):
        return JudgedAnswer(True, right[0])
    wrong = nearest(known, 0.0)
    if not wrong and nearest([right], slack):
        many = nearest(known, slack)
        return JudgedAnswer(False, said("digits")) if many else JudgedAnswer(True, right[0])
    wrong = wrong or nearest(known, slack)
    wrong = wrong or (None if plain else _factor(found, right[1]))
    wrong = wrong or nearest(held["slips"], 0.0, slack)
    if wrong:
        return JudgedAnswer(False, wrong)
    if plain:
        return JudgedAnswer(False, _size(found[0], right[1][0]))
    if not held["told"]:
        return JudgedAnswer(False, said("case"))
    return JudgedAnswer(False, said("point", held["told"], _shown(right[1][-1]), _shown(found[-1])))


def _holds(row: Sequence[Any], found: Sequence[float], held: Key, slack: float) -> bool:
    """Whether values are those of a row, up to what a rounded number may be off."""

    def near(mine: float, other: float | None) -> bool:
        if other is None:
            return False
        size = abs(other)
        return abs(mine - other) <= max(held["within"] * size, min(slack, _COARSE * size))

    return any(all(map(near, found, values)) for values in row[1:])


def _factor(found: Sequence[float], wanted: Sequence[float]) -> str:
    """What to say where a formula is the right one times a number."""
    first, *others = [mine / theirs for mine, theirs in zip(found, wanted, strict=True)]
    if not first or any(abs(ratio - first) > _SAME * abs(first) for ratio in others):
        return ""
    if abs(first + 1) < _SAME:
        return said("sign")
    if abs(first - 1) < _ROUNDED:
        return said("rounded")
    for below in range(1, 101):
        above = round(first * below)
        if abs(above) <= 1000 and abs(first * below - above) < _SAME * abs(first * below):
            return said("factor", f"{above}/{below}" if below > 1 else f"{above}")
    return said("odd")


def _size(found: float, wanted: float) -> str:
    if found * wanted < 0:
        return said("opposite")
    much = said("large" if abs(found) > abs(wanted) else "small")
    ratio = max(abs(found), abs(wanted)) / (min(abs(found), abs(wanted)) or 1e-300)
    return said(
        "near" if ratio < 1.1 else "less" if ratio < 2 else "ten" if ratio < 10 else "far", much
    )


def _shown(number: float) -> str:
    """Four digits of a number, as the pages write them."""
    mantissa, _, power = f"{number:.3e}".partition("e")
    exponent = int(power)
    if -5 < exponent < 6:
        return _short(f"{number:.{max(0, 3 - exponent)}f}")
    return rf"{_short(mantissa)}\cdot 10^{{{exponent}}}"


def _short(decimal: str) -> str:
    return decimal.rstrip("0").rstrip(".") if "." in decimal else decimal


# ------------------------------------------------------------------ functions


@cache
def functions(asked: Question) -> tuple[_Function, dict[str, _Function]]:
    """Return the function that the solution of an exercise shows, and the known wrong ones.

    Args:
        asked: a question of the kind "function"; its ``known`` are Python expressions in the
            arguments, which may call the right function.

    Returns:
        The right function, and wrong ones by their text.
    """
    shown = _CODE.search(asked.solution)
    assert shown is not None, asked.id
    names: dict[str, Any] = {"np": np}
    lazy = __future__.annotations.compiler_flag  # nobody needs the names in its annotations
    exec(compile(shown[1], f"exercise {asked.id}", "exec", lazy), names)
    *_, right = filter(inspect.isfunction, names.values())
    arguments = ", ".join(inspect.signature(right).parameters)
    return right, {text: eval(f"lambda {arguments}: {text}", names) for text in asked.known}


def _tried(asked: Question, answer: _Function) -> str:
    """What is wrong with a function; nothing where it is right."""
    right, wrong = functions(asked)
    inputs = [eval(f"[{text}]", {"np": np}) for text in asked.inputs]
    found = []
    for text, given in zip(asked.inputs, inputs, strict=True):
        try:
            returned = answer(*given)
            if returned is None:
                return f"With `{text}` it returns nothing: does it end with `return`?"
            found.append(np.asarray(returned, dtype=float))
        except Exception as error:  # whatever a reader's function raises is told to her
            return f"With `{text}` it raises {type(error).__name__}: {error}."
    wanted = _results(right, inputs)
    same = [_near(*pair) for pair in zip(found, wanted, strict=True)]
    if all(same):
        return ""
    for text, function in wrong.items():
        if all(map(_near, found, _results(function, inputs))):
            return asked.known[text]
    first = same.index(False)
    return (f"With `{asked.inputs[first]}` it gives {_written(found[first])}, not "
            f"{_written(wanted[first])}.")  # fmt: skip


def _results(function: _Function, inputs: Sequence[Sequence[Any]]) -> list[Any]:
    with np.errstate(all="ignore"):  # a wrong function may divide by zero
        return [np.asarray(function(*given), dtype=float) for given in inputs]


def _near(found: Any, wanted: Any) -> bool:
    return found.shape == wanted.shape and np.allclose(found, wanted, rtol=1e-6, atol=1e-9)


def _written(array: Any) -> str:
    if array.size > 12:
        return f"an array of shape {array.shape}"
    return str(np.round(array, 4).tolist())


# ------------------------------------------------------------------ what a notebook calls


class Exercise:
    """A question that shows itself, checks an answer, and keeps its solution folded."""

    def __init__(self, asked: Question, solution: bool = True) -> None:
        self._asked, self._solved = asked, solution

    @property
    def id(self) -> str:
        """Section and number."""
        return self._asked.id

    def answer(self, given: Any = "") -> JudgedAnswer | Exercise:
        """Check an answer.

        Args:
            given: what the question asks for: a formula as one types it (``"2 d sigma^4"``) or as
                a SymPy expression, a number (``0.05``, ``"5 %"``), the letter of a choice or its
                words, or a function.

        Returns:
            Whether it is right; if not, what to look at; what cannot be read is told so. The
            exercise itself where nothing was given.

        Example:
            >>> from verifiedbook import exercise
            >>> exercise("3.3.1").answer("d sigma^4")
            not yet: Only a constant factor is wrong: you have $1/2$ times the answer.
            >>> exercise("3.3.1").answer("dunno")  # doctest: +ELLIPSIS
            not yet: I do not know “dunno” here. Write a formula in d, sigma, such as ...
        """
        if given is None or (isinstance(given, str) and not given.strip()):
            return self
        return replace(judge_answer(self._asked, given), above=self.markdown())

    def markdown(self) -> str:
        """Return question, hint and solution as Markdown, the last two folded."""
        asked = self._asked
        parts = [
            f'<div class="vt-exercise" id="exercise-{asked.id.replace(".", "-")}">',
            f"**Exercise {asked.id}** {'★' * asked.stars} **{asked.title}**",
            asked.ask.strip(),
            *(f"({letter}) {text}" for letter, text in asked.choices.items()),
        ]
        if asked.nudge:
            parts.append(_folded("Hint", asked.nudge))
        solution = asked.solution
        if asked.kind in ("formula", "number"):
            solution = solution.replace("{answer}", latex(asked.answer))
        parts += [_folded("Solution", solution)] if self._solved else []
        return "\n\n".join([*parts, "</div>"])

    def __repr__(self) -> str:
        return f"Exercise {self.id} {'★' * self._asked.stars} {self._asked.title}"

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, Any]]:
        shown = {"text/markdown": self.markdown(), "text/plain": repr(self)}
        return shown, {EXERCISE_KEY: key_in_a_line(key(self._asked))}


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text.strip()}\n\n</details>"


def exercise(id: str, *, solution: bool = True) -> Exercise:
    """Return an exercise of the book.

    Args:
        id: section and number, such as ``"3.4.1"``.
        solution: whether it shows its solution, folded; a course may withhold it.

    Raises:
        KeyError: there is none; the message lists those of its section.

    Example:
        >>> exercise("3.3.1")
        Exercise 3.3.1 ★ The spread of a squared length
    """
    return Exercise(question(id), solution)
