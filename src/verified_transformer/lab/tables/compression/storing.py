"""What a table takes: bytes and multiplications, rounded, pruned, or with shared rows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from torch.nn.utils import prune

from ....models.counting import Count
from ..costs.sequence_layers import random
from .made import cut


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


def pruned(table: torch.Tensor, share: float = 0.5) -> nn.Embedding:
    """Prune a share of the entries by least magnitude, as PyTorch does.

    Args:
        table: (n, d).
        share: of the entries that are set to zero.

    Returns:
        A layer with the table and a mask.
    """
    layer = nn.Embedding.from_pretrained(table.clone(), freeze=False)
    prune.l1_unstructured(layer, "weight", amount=share)
    return layer


def changes_least(table: torch.Tensor, gone: Sequence[int]) -> bool:
    """Say whether no other choice of so many entries changes a table less when removed."""
    squares = table.flatten().square()
    choices = itertools.combinations(range(len(squares)), len(gone))
    least = min(squares[list(choice)].sum() for choice in choices)
    return bool(squares[list(gone)].sum() <= least)


def layers(d: int, l: int) -> list[torch.Tensor]:  # noqa: E741
    """Draw the weights of l Transformer layers of width d, without biases, float32."""
    shapes = [(d, d)] * 4 + [(4 * d, d), (d, 4 * d)]
    return [random(*shape, name="layers").float() for shape in shapes * l]


def bytes_stored(
    n: int, d: int, l: int, rank: int | None = None, *, quantised: bool = True,  # noqa: E741
) -> int:  # fmt: skip
    """Return the bytes of a model of a table and l layers.

    Args:
        n: tokens.
        d: width.
        l: layers.
        rank: of the two thin matrices in the table's place; None leaves the table.
        quantised: whether the layers are in INT8.
    """
    table = random(n, d, name="table")
    kept = [table] if rank is None else [w.detach() for w in cut(table, rank).parameters()]
    weights = [int8(w)[0] if quantised else w for w in layers(d, l)]
    return bytes_of([w.float() for w in kept]) + bytes_of(weights)


def work(rank: int | None = None, inner: int = 96, *, zeros: bool = False) -> int:
    """Count the multiplications for one token: a feed-forward layer, then the head.

    Args:
        rank: of two thin matrices that serve as the head of 600 tokens; None for a plain one.
        inner: units of the feed-forward layer, of width 24.
        zeros: whether the smaller half of its entries is set to zero.
    """
    x, up, down = random(1, 24), random(24, inner), random(inner, 24)
    if zeros:
        up, down = (w * (w.abs() > w.abs().median()) for w in (up, down))
    head = [random(600, 24)] if rank is None else [random(rank, 24), random(600, rank)]
    with Count() as count:
        x = torch.relu(x @ up) @ down
        for weight in head:
            x = x @ weight.T
    return count.multiplications
