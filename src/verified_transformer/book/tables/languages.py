"""Training tables of tensor products on synthetic languages, several at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from verifiedbook.sampling.zipf_markov import ZipfMarkov
from verifiedbook.seeds import generator
from weightwise.factorised import TensorProductEmbedding

from ..training import train

_SPREAD = 0.3  # standard deviation of the entries of table and head at the start


@dataclass(frozen=True)
class Trained:
    """Tables after training, and what they lost.

    Attributes:
        rows: the tables (n, d), one for each language.
        losses: in nats, before each step and after the last, (steps + 1, languages).
    """

    rows: list[torch.Tensor]
    losses: torch.Tensor


def trained_tables(
    languages: Sequence[ZipfMarkov],
    lengths: Sequence[int],
    *,
    steps: int = 300,
    head_learns: bool = True,
    start: str = "",
) -> Trained:
    """Train a table of tensor products and a linear head by Adam, for each language its own.

    The loss is the exact mean over all pairs of neighbours, so that runs in one language differ in
    nothing but the table. Runs share no parameter.

    Args:
        languages: of the same number of tokens n.
        lengths: of the factors; one length is a plain table.
        steps: of Adam.
        head_learns: whether the head is trained too.
        start: what else table and head are drawn from, for a second start.

    Raises:
        ValueError: there are no languages, or their numbers of tokens differ.

    Example:
        >>> trained_tables([ZipfMarkov(8)], (2, 2), steps=3).losses.shape
        torch.Size([4, 1])
    """
    sizes = {language.n for language in languages}
    if len(sizes) != 1:
        raise ValueError(f"languages: got {sorted(sizes)} tokens; accepted: one number for all")
    joint = torch.stack([language.joint for language in languages])
    rows = len(languages) * sizes.pop()
    table = TensorProductEmbedding(
        rows, lengths, σ=_SPREAD, dtype=joint.dtype,
        generator=generator(f"factors {len(lengths)}{start}"),
    )  # fmt: skip
    shape = len(languages), table.embedding_dim, joint.shape[-1]
    head = _SPREAD * torch.randn(shape, generator=generator(f"head{start}"), dtype=joint.dtype)

    def loss(_: int) -> torch.Tensor:
        logits = table(torch.arange(rows)).unflatten(0, joint.shape[:2]) @ head
        return -(joint * logits.log_softmax(-1)).sum((1, 2))

    learning = [*table.parameters(), head.requires_grad_(head_learns)]
    losses = train(learning, loss, steps=steps + 1, rate=0.02)
    with torch.no_grad():
        return Trained(list(table.dense().unflatten(0, (len(languages), -1))), losses)
