"""Functions that the exercises of chapter four ask for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem import Problem

_INTS = np.arange(1.0, 13.0)


def grown_layer(W: np.ndarray, k: int) -> np.ndarray:
    """Each entry a block of k times k, divided by k."""
    return np.kron(W, np.ones((k, k))) / k


def _grown_undivided(W: Any, k: int) -> Any:
    return k * grown_layer(W, k)


def _grown_by_k_squared(W: Any, k: int) -> Any:
    return grown_layer(W, k) / k


def _tiled_layer(W: Any, k: int) -> Any:
    return np.tile(W, (k, k)) / k


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


def grown_head(W: np.ndarray, k: int) -> np.ndarray:
    """Each entry of a row k times, divided by k; as many rows as before."""
    return np.repeat(W, k, axis=1) / k


def _head_undivided(W: Any, k: int) -> Any:
    return k * grown_head(W, k)


def _head_by_root(W: Any, k: int) -> Any:
    return np.sqrt(k) * grown_head(W, k)


def _head_tiled(W: Any, k: int) -> Any:
    return np.tile(W, (1, k)) / k


def _head_both_ways(W: Any, k: int) -> Any:
    return grown_layer(W, k)


def unseen_noise(N: np.ndarray, k: int) -> np.ndarray:
    """What is left of N when each entry loses the mean over the copies that it reads."""
    means = N.reshape(len(N), -1, k).mean(axis=2)
    return N - np.repeat(means, k, axis=1)


def _mean_of_rows(N: Any, k: int) -> Any:
    return N - N.mean(axis=1, keepdims=True)


def _over_outputs(N: Any, k: int) -> Any:
    return N - N.mean(axis=0, keepdims=True)


def _tiled_copies(N: Any, k: int) -> Any:
    return N - np.tile(N.reshape(len(N), k, -1).mean(axis=1), (1, k))


def _the_mean(N: Any, k: int) -> Any:
    return N - unseen_noise(N, k)


PROBLEMS = {
    "grown_layer": Problem(
        grown_layer, ((_INTS[:6].reshape(2, 3), 2), (_INTS[:4].reshape(2, 2), 3)),
        ((_grown_undivided, "Each sum now has $k$ equal terms for one, and nothing is divided."),
         (_grown_by_k_squared, "Once too often: with $s=1/\\sqrt k$ twice it is $1/k$."),
         (_tiled_layer, "The whole matrix is tiled. Here the copies of a coordinate stand side by "
          "side.")),
    ),
    "grown_head": Problem(
        grown_head, ((_INTS[:6].reshape(3, 2), 2), (_INTS[:4].reshape(2, 2), 3)),
        ((_head_undivided, "So is a tied head, and its logits are $k$ times too large."),
         (_head_by_root, "That serves a state which is divided by $\\sqrt k$. Here it holds plain "
          "copies."),
         (_head_tiled, "The state has the copies of a number side by side."),
         (_head_both_ways, "Tokens do not grow: there must be one row for each, as before.")),
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
    "unseen_noise": Problem(
        unseen_noise,
        ((np.sqrt(_INTS).reshape(2, 6), 2), (np.sqrt(_INTS).reshape(2, 6), 3)),
        ((_mean_of_rows, "That makes the sum of a whole row zero. It must be zero for the copies "
          "of *each* number."),
         (_over_outputs, "The copies that a weight reads stand along a row."),
         (_tiled_copies, "Copies stand side by side, and not a whole vector behind another."),
         (_the_mean, "That is the part that a state sees. Take it away.")),
    ),
}  # fmt: skip
