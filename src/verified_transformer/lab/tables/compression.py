"""A small table to compress, and other ways to compress it: distil, prune, round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from ...models.factorised import LowRankEmbedding
from ...models.factorised.products import tensor_product
from ...seeds import seed_of
from .costs.sequence_layers import random


def decaying_table(n: int = 60, d: int = 24, name: str = "trained") -> torch.Tensor:
    """Draw a table whose singular values fall off as those of trained ones do, (n, d), float64."""
    spread = torch.arange(1, d + 1, dtype=torch.float64) ** -1.5
    rotation: torch.Tensor = torch.linalg.qr(random(d, d))[0]
    return random(n, d, name=name) * spread @ rotation


def thin(codes: torch.Tensor, basis: torch.Tensor) -> LowRankEmbedding:
    """Return the layer of two thin matrices, (n, r) and (r, d)."""
    (n, r), d = codes.shape, basis.shape[1]
    layer = LowRankEmbedding(n, d, r, dtype=codes.dtype)
    with torch.no_grad():
        layer.codes.copy_(codes)
        layer.basis.copy_(basis)
    return layer


def cut(table: torch.Tensor, rank: int) -> LowRankEmbedding:
    """Return the nearest layer of two thin matrices (Eckart and Young 1936)."""
    return LowRankEmbedding.from_dense(table, rank)[0]


def distilled(rows: torch.Tensor, rank: int = 6, rounds: int = 200) -> LowRankEmbedding:
    """Fit two thin matrices to the rows that a teacher gives out, by alternating least squares.

    Args:
        rows: (n, d).
        rank: r.
        rounds: how often each matrix is solved for.
    """
    B = random(rank, rows.shape[1], name="start")
    for _ in range(rounds):
        A = torch.linalg.lstsq(B.T, rows.T).solution.T
        B = torch.linalg.lstsq(A, rows).solution
    return thin(A, B)


def nearest_products(table: torch.Tensor, length: int) -> torch.Tensor:
    """Return each row's nearest tensor product of two vectors, the first of that length."""
    U, S, Vh = torch.linalg.svd(table.reshape(len(table), length, -1))
    return S[:, :1] * tensor_product([U[:, :, 0], Vh[:, 0]])


def highest_unfolding_rank(vector: torch.Tensor, length: int, count: int) -> int:
    """Return the highest rank among the unfoldings of a vector folded into a cube.

    Args:
        vector: (length**count,).
        length: side of the cube.
        count: how many sides.
    """
    tensor = vector.reshape((length,) * count)
    unfolded = (tensor.movedim(side, 0).reshape(length, -1) for side in range(count))
    return max(int(torch.linalg.matrix_rank(matrix)) for matrix in unfolded)


def relative_distance(table: torch.Tensor, other: torch.Tensor) -> float:
    """Return |table - other| / |table|, in the Frobenius norm."""
    return (torch.linalg.norm(table - other) / torch.linalg.norm(table)).item()


class TinyModel(nn.Module):
    """A table, a layer and a head: the smallest language model, width 24, 60 tokens.

    Args:
        table: an embedding layer of width 24.
    """

    def __init__(self, table: nn.Module) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_of("tiny") % 2**63)
            self.table = table
            self.layer, self.head = nn.Linear(24, 24), nn.Linear(24, 60, bias=False)
        self.double()

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Scores, (T, 60), of tokens, (T,)."""
        scores: torch.Tensor = self.head(torch.tanh(self.layer(self.table(tokens))))
        return scores


Network = tuple[torch.Tensor, torch.Tensor]


def drawn_network(hidden: int, name: str) -> Network:
    """Draw a network of one hidden layer, 4 inputs, 3 outputs, with the seed of a name."""
    first, last = random(4, hidden, name=f"{name} first"), random(hidden, 3, name=f"{name} last")
    return first / 4, last / hidden**0.5


def outputs(network: Network, x: torch.Tensor) -> torch.Tensor:
    """Return the outputs, (B, 3), of inputs, (B, 4)."""
    first, last = network
    return torch.tanh(x @ first) @ last


def student_of(teacher: Network, hidden: int = 12) -> Network:
    """Fit the last layer of a smaller network to a teacher's outputs."""
    first, x = random(4, hidden, name="student") / 4, random(400, 4, name="inputs")
    return first, torch.linalg.lstsq(torch.tanh(x @ first), outputs(teacher, x)).solution


def unexplained(student: Network, teacher: Network) -> float:
    """Return the share of the teacher's outputs that the student misses, on new inputs."""
    x = random(200, 4, name="new inputs")
    wanted = outputs(teacher, x)
    return ((outputs(student, x) - wanted).square().sum() / wanted.square().sum()).item()


def int8(table: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Round to whole numbers of a byte; returns them and the scale."""
    scale = table.abs().max() / 127
    return (table / scale).round().to(torch.int8), scale


def one_bit(table: torch.Tensor) -> tuple[np.ndarray, torch.Tensor]:
    """Keep the signs, eight in a byte; returns them and the mean size of an entry."""
    return np.packbits((table > 0).numpy()), table.abs().mean()


def bytes_of(arrays: Sequence[torch.Tensor | np.ndarray]) -> int:
    """Return the bytes that arrays take."""
    return sum(a.nbytes for a in arrays)
