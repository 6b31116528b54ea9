"""Training tables of tensor products on synthetic languages, several at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ...engine.sampling.zipf_markov import ZipfMarkov
from ...models.factorised import TensorProductEmbedding
from ...seeds import generator
from ..training import train

_SPREAD = 0.3  # standard deviation of the entries of table and head at the start


def losses_in_languages(
    languages: Sequence[ZipfMarkov],
    lengths: Sequence[int],
    *,
    steps: int,
    head_learns: bool = True,
    rate: float = 0.02,
) -> torch.Tensor:
    """Train a table of tensor products and a linear head by Adam, for each language its own.

    The loss is the exact mean over all pairs of neighbours, so that runs in one language differ in
    nothing but the table. Runs share no parameter.

    Args:
        languages: of the same number of tokens n.
        lengths: of the factors; one length is a plain table.
        steps: of Adam.
        head_learns: whether the head is trained too.
        rate: Adam's learning rate.

    Returns:
        Losses in nats before each step and after the last, (steps + 1, languages).

    Raises:
        ValueError: there are no languages, or their numbers of tokens differ.
    """
    return _trained(languages, lengths, steps=steps, head_learns=head_learns, rate=rate)[0]


def _trained(
    languages: Sequence[ZipfMarkov],
    lengths: Sequence[int],
    *,
    steps: int,
    head_learns: bool = True,
    rate: float = 0.02,
    start: str = "",
) -> tuple[torch.Tensor, TensorProductEmbedding]:
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
    return train(learning, loss, steps=steps + 1, rate=rate), table


@dataclass(frozen=True)
class Trained:
    """Tables after training, and what they lose.

    Attributes:
        rows: the tables (n, d), one for each language.
        losses: in nats, (languages,).
    """

    rows: list[torch.Tensor]
    losses: torch.Tensor


def trained_tables(
    languages: Sequence[ZipfMarkov], lengths: Sequence[int], *, steps: int = 300, start: str = ""
) -> Trained:
    """Train tables as `losses_in_languages` does, heads too, and return them.

    Args:
        languages: of the same number of tokens n.
        lengths: of the factors; one length is a plain table.
        steps: of Adam.
        start: what else table and head are drawn from, for a second start.
    """
    losses, table = _trained(languages, lengths, steps=steps, start=start)
    with torch.no_grad():
        return Trained(list(table.dense().unflatten(0, (len(languages), -1))), losses[-1])
