"""An exercise that asks for a function: inputs, the right one, wrong ones that people write."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Problem", "source", "tried"]


@dataclass(frozen=True)
class Problem:
    """A function that is asked for.

    Attributes:
        right: the function, which is shown as the solution.
        inputs: the arguments with which an answer is tried.
        wrong: wrong functions that are known, with what to say to each.
    """

    right: Callable[..., Any]
    inputs: tuple[tuple[Any, ...], ...]
    wrong: tuple[tuple[Callable[..., Any], str], ...]


def tried(problem: Problem, answer: Callable[..., Any]) -> str:
    """Try an answer; say what is wrong with it, nothing where it is right.

    Args:
        problem: what is asked for.
        answer: a function of the same arguments.
    """
    outcomes = []
    for given in problem.inputs:
        try:
            outcomes.append(np.asarray(answer(*given), dtype=float))
        except Exception as error:  # whatever a reader's function raises is told to her
            return f"With {_shown(given)} it raises {type(error).__name__}: {error}."
    if _first_other(problem, outcomes, problem.right) is None:
        return ""
    for wrong, say in problem.wrong:
        if _first_other(problem, outcomes, wrong) is None:
            return say
    place = _first_other(problem, outcomes, problem.right)
    assert place is not None
    wanted = np.asarray(problem.right(*problem.inputs[place]), dtype=float)
    return (f"With {_shown(problem.inputs[place])} it gives {_written(outcomes[place])}, not "
            f"{_written(wanted)}.")  # fmt: skip


def source(problem: Problem) -> str:
    """Return the code of the right function, without its docstring."""
    code = textwrap.dedent(inspect.getsource(problem.right))
    head, _, rest = code.partition('"""')
    return head.rstrip() + rest.partition('"""')[2] if rest else code


def _first_other(problem: Problem, outcomes: list[Any], function: Callable[..., Any]) -> int | None:
    for place, (given, found) in enumerate(zip(problem.inputs, outcomes, strict=True)):
        wanted = np.asarray(function(*given), dtype=float)
        if found.shape != wanted.shape or not np.allclose(found, wanted, rtol=1e-6, atol=1e-9):
            return place
    return None


def _shown(given: tuple[Any, ...]) -> str:
    return ", ".join(_written(np.asarray(x, dtype=float)) if not callable(x) else x.__name__
                     for x in given)  # fmt: skip


def _written(array: Any) -> str:
    if array.size > 12:
        return f"an array of shape {array.shape}"
    return str(np.round(array, 4).tolist())
