"""What a notebook calls: ``exercise("3.4.1")`` shows a question, ``.answer(…)`` checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...account.questions import Question, question
from ...account.rendering.formulas import latex
from .answers import JudgedAnswer, judge_answer
from .key import EXERCISE_KEY, key, key_in_a_line


class Exercise:
    """A question that shows itself, checks an answer, and keeps its solution folded.

    Args:
        asked: the question as data.
    """

    def __init__(self, asked: Question) -> None:
        self._asked = asked

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
            >>> from verified_transformer import exercise
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
        parts += [_folded("Solution", solution), "</div>"]
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return f"Exercise {self.id} {'★' * self._asked.stars} {self._asked.title}"

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, Any]]:
        shown = {"text/markdown": self.markdown(), "text/plain": repr(self)}
        return shown, {EXERCISE_KEY: key_in_a_line(key(self._asked))}


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text.strip()}\n\n</details>"


def exercise(id: str) -> Exercise:
    """Return an exercise of the book.

    Args:
        id: section and number, such as ``"3.4.1"``.

    Raises:
        KeyError: there is none; the message lists those of its section.

    Example:
        >>> exercise("3.3.1")
        Exercise 3.3.1 ★ The spread of a squared length
    """
    return Exercise(question(id))
