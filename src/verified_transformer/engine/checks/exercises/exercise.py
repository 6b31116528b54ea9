"""What a notebook calls: ``exercise("3.4.1")`` shows a question, ``.answer(…)`` checks."""

from __future__ import annotations

from typing import Any

from ...account.rendering.formulas import latex
from .answers import Judgement, judge
from .asked import PROBLEMS
from .problem import source
from .questions import Question, question

__all__ = ["Exercise", "exercise"]


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

    def answer(self, given: Any) -> Judgement:
        """Check an answer.

        Args:
            given: what the question asks for: a formula as SymPy text or expression, a number, the
                letter of a choice, or a function.

        Returns:
            Whether it is right; if not, what to look at.

        Raises:
            TypeError: the answer is of another kind.
            ValueError: it is no formula, or uses other symbols than the question.

        Example:
            >>> from verified_transformer import exercise
            >>> exercise("3.3.1").answer("d*sigma**4")  # doctest: +ELLIPSIS
            not yet: Only a constant factor is wrong: you have $\\frac{1}{2}$ times the answer.
        """
        return judge(self._asked, given)

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
        parts += [_folded("Solution", self._solution()), f"{self._how()}</div>"]
        return "\n\n".join(parts)

    def _how(self) -> str:
        shown = {"formula": "&quot;…&quot;", "number": "…", "choice": "&quot;…&quot;",
                 "function": "your_function"}  # fmt: skip
        if self._asked.kind not in shown:
            return ""
        with_ = f" in {self._asked.symbols.replace(' ', ', ')}" if self._asked.symbols else ""
        call = f"exercise(&quot;{self.id}&quot;).answer({shown[self._asked.kind]})"
        return (f'<p class="vt-exercise-check">Your answer{with_}: '
                f'<code>{call}</code></p>\n')  # fmt: skip

    def _solution(self) -> str:
        asked, text = self._asked, self._asked.solution.strip()
        if asked.kind in ("formula", "number"):
            text = text.replace("{answer}", latex(asked.answer))
        if asked.kind == "function":
            text = text.replace("{code}", f"```python\n{source(PROBLEMS[asked.problem])}```")
        return text

    def __repr__(self) -> str:
        return f"Exercise {self.id} {'★' * self._asked.stars} {self._asked.title}"

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/markdown": self.markdown(), "text/plain": repr(self)}


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
