"""An exercise that asks for a function: the solution's code is run, and wrong ones beside it."""

from __future__ import annotations
import __future__

import inspect
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ...account.questions import Question

__all__ = ["functions", "tried"]

Function = Callable[..., Any]
_CODE = re.compile(r"```python\n(.*?)```", re.S)


@cache
def functions(asked: Question) -> tuple[Function, dict[str, Function]]:
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


def tried(asked: Question, answer: Function) -> str:
    """Try an answer; say what is wrong with it, nothing where it is right.

    Args:
        asked: a question of the kind "function".
        answer: a function of the arguments that it asks for.
    """
    right, wrong = functions(asked)
    inputs = [eval(f"[{text}]", {"np": np}) for text in asked.inputs]
    found = []
    for text, given in zip(asked.inputs, inputs, strict=True):
        try:
            found.append(np.asarray(answer(*given), dtype=float))
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


def _results(function: Function, inputs: Sequence[Sequence[Any]]) -> list[Any]:
    with np.errstate(all="ignore"):  # a wrong function may divide by zero
        return [np.asarray(function(*given), dtype=float) for given in inputs]


def _near(found: Any, wanted: Any) -> bool:
    return found.shape == wanted.shape and np.allclose(found, wanted, rtol=1e-6, atol=1e-9)


def _written(array: Any) -> str:
    if array.size > 12:
        return f"an array of shape {array.shape}"
    return str(np.round(array, 4).tolist())
