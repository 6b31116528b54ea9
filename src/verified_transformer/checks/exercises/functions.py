"""Exercises whose answer is a function: inputs, the right one, and wrong ones that people write."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["PROBLEMS", "Problem", "source", "tried"]

_INTS = np.arange(1.0, 13.0)


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


# ------------------------------------------------------------------ 1.3


def gain(f: Callable[[np.ndarray], np.ndarray]) -> float:
    """The factor that makes the second moment of f of a standard normal number one."""
    x, w = np.polynomial.hermite_e.hermegauss(60)
    return 1 / np.sqrt((w @ f(x) ** 2) / w.sum())


def _from_mean(f: Any) -> Any:
    x, w = np.polynomial.hermite_e.hermegauss(60)
    return 1 / np.abs((w @ f(x)) / w.sum())


def _without_root(f: Any) -> Any:
    return gain(f) ** 2


def _upside_down(f: Any) -> Any:
    return 1 / gain(f)


def _smooth_sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


# ------------------------------------------------------------------ 2.1


def head_gradient(table: np.ndarray, h: np.ndarray, label: int) -> np.ndarray:
    """The gradient of the cross-entropy by the head's rows, for one state and its label."""
    z = table @ h
    p = np.exp(z - z.max())
    p /= p.sum()
    p[label] -= 1
    return np.outer(p, h)


def _label_forgotten(table: Any, h: Any, label: Any) -> Any:
    gradient = head_gradient(table, h, label)
    gradient[label] += h
    return gradient


def _uphill(table: Any, h: Any, label: Any) -> Any:
    return -head_gradient(table, h, label)


def _turned(table: Any, h: Any, label: Any) -> Any:
    return head_gradient(table, h, label).T


# ------------------------------------------------------------------ 3.4


def first_loss(logits: np.ndarray, label: int) -> float:
    """The cross-entropy of a label, computed so that no exponential overflows."""
    top = np.max(logits)
    return top + np.log(np.exp(logits - top).sum()) - logits[label]


def _without_top(logits: Any, label: Any) -> Any:
    top = np.max(logits)
    return np.log(np.exp(logits - top).sum()) - logits[label]


def _mean_instead(logits: Any, label: Any) -> Any:
    top = np.max(logits)
    return top + np.log(np.exp(logits - top).mean()) - logits[label]


def _probability(logits: Any, label: Any) -> Any:
    return np.exp(-first_loss(logits, label))


# ------------------------------------------------------------------ 4.5


def repeat_pairs(x: np.ndarray, k: int) -> np.ndarray:
    """Each pair of neighbours k times in a row, divided so that inner products stay."""
    pairs = x.reshape(-1, 1, 2)
    return np.repeat(pairs, k, axis=1).reshape(-1) / np.sqrt(k)


def _each_coordinate(x: Any, k: int) -> Any:
    return np.repeat(x, k) / np.sqrt(k)


def _tiled(x: Any, k: int) -> Any:
    return np.tile(x, k) / np.sqrt(k)


def _divided_by_k(x: Any, k: int) -> Any:
    return repeat_pairs(x, k) / np.sqrt(k)


def _undivided(x: Any, k: int) -> Any:
    return repeat_pairs(x, k) * np.sqrt(k)


# ------------------------------------------------------------------ 5.5


def multiply_out(vectors: Sequence[np.ndarray]) -> np.ndarray:
    """The tensor product of several vectors, one after the other."""
    product = np.ones(1)
    for vector in vectors:
        product = np.multiply.outer(product, vector).reshape(-1)
    return product


def _from_the_end(vectors: Any) -> Any:
    return multiply_out(list(vectors)[::-1])


def _joined(vectors: Any) -> Any:
    return np.concatenate(list(vectors))


_SHORT = (np.array([2.0, 3.0]), np.array([1.0, -1.0]), np.array([5.0, 7.0]))


def shared_by(s: np.ndarray) -> float:
    """The number of keys that share the attention of a row of logits."""
    p = np.exp(s - np.max(s))
    return p.sum() ** 2 / (p**2).sum()


def _by_the_winner(s: Any) -> Any:
    p = np.exp(s - np.max(s))
    return p.sum()


def _by_entropy(s: Any) -> Any:
    p = np.exp(s - np.max(s))
    p = p[p > 0] / p.sum()
    return np.exp(-(p * np.log(p)).sum())


def _sum_of_squares(s: Any) -> Any:
    return 1 / shared_by(s)


PROBLEMS = {
    "gain": Problem(
        gain, ((np.tanh,), (_smooth_sigmoid,)),
        ((_from_mean, "The next sum needs no mean of $f$: take the mean of its square."),
         (_without_root, "A factor $c$ in front of $f$ multiplies the second moment by $c^2$."),
         (_upside_down, "That is what the function does; you want what undoes it.")),
    ),
    "head_gradient": Problem(
        head_gradient,
        ((_INTS.reshape(4, 3) / 10, np.array([1.0, -2.0, 0.5]), 2),
         (_INTS.reshape(6, 2) / 10 - 0.4, np.array([0.3, 1.5]), 0)),
        ((_label_forgotten, "That is the slope of $\\log\\sum_k e^{z_k}$; there is $-z_y$, too."),
         (_uphill, "The sign: a gradient points to where the loss rises. The label's row must have "
          "$p_y-1$, which is negative."),
         (_turned, "The rows are those of the table: one for each token, as long as the state.")),
    ),
    "shared_by": Problem(
        shared_by, ((np.array([1.0, 2.0, 0.5]),), (np.array([990.0, 1000.0, 3.0, 999.0]),)),
        ((_by_the_winner, "That is one over the *largest* weight."),
         (_by_entropy, "That is the exponential of the entropy, another good measure. Asked is one "
          "over the sum of squares."),
         (_sum_of_squares, "That is $S$ itself.")),
    ),
    "first_loss": Problem(
        first_loss, ((np.array([1.0, 2.0, 0.5]), 0), (np.array([900.0, 0.0, 3.0, 1.0]), 1)),
        ((_without_top, "You took the largest logit out of the exponentials, and forgot to put it "
          "back."),
         (_mean_instead, "The sum of the exponentials, not their mean: you are off by $\\log n$."),
         (_probability, "That is the probability of the label; its loss is minus the logarithm.")),
    ),
    "repeat_pairs": Problem(
        repeat_pairs, ((_INTS[:4], 2), (_INTS[:6], 3)),
        ((_each_coordinate, "You repeat coordinates. RoPE would turn two copies of one number as a "
          "pair: keep neighbours together."),
         (_tiled, "You repeat the whole head. The copies of a pair must stand next to each other, "
          "or their angles are far from the pair's own."),
         (_divided_by_k, "Query and key are both divided: so a score is divided twice."),
         (_undivided, "Without a division each score is $k$ times the old one.")),
    ),
    "multiply_out": Problem(
        multiply_out, ((_SHORT[:2],), (_SHORT,), ((np.array([1.0, 2.0, 3.0]), _SHORT[0]),)),
        ((_from_the_end, "All products are there, in another order: the last index must run "
          "fastest."),
         (_joined, "That lays the vectors side by side; the product multiplies them.")),
    ),
}  # fmt: skip
