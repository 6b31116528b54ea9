"""What the vocabulary takes of a model: tables and the rest, counted in real classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from ...real_models.released import of_kind, on_meta, parameters

__all__ = [
    "Budget", "already_tied", "budget", "entries_of_the_head", "entries_of_the_table",
    "gpt2_like", "llama_like", "saved_share", "share_of", "with_bias",
]  # fmt: skip


@dataclass(frozen=True)
class Budget:
    """The parameters of a model, as if its head were not tied.

    Attributes:
        tokens: rows of the table.
        width: its columns.
        layers: blocks, of encoder and decoder together.
        table: parameters of one table.
        rest: all others, without the head's matrix.
        tied: whether the model shares the two.
    """

    tokens: int
    width: int
    layers: int
    table: int
    rest: int
    tied: bool

    @property
    def share(self) -> float:
        """The share of the untied model that tying saves."""
        return self.table / (2 * self.table + self.rest)

    @property
    def worth(self) -> float:
        """How many of the model's layers have as many parameters as a table."""
        return self.table * self.layers / self.rest


def budget(model: Any) -> Budget:
    """Count a model of transformers.

    Args:
        model: with an embedding and a head, tied or not.

    Example:
        >>> found = budget(of_kind("gpt2"))
        >>> found.table, round(found.worth, 1)
        (38597376, 5.4)
    """
    table, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    tied, layers = head is table, model.config.num_hidden_layers
    if model.config.is_encoder_decoder:
        layers += model.config.num_decoder_layers
    rest = parameters(model) - table.numel() * (1 if tied else 2)
    tokens, width = table.shape
    return Budget(tokens, width, layers, table.numel(), rest, tied)


@cache
def llama_like(n: int, d: int, h: int, l: int) -> Any:  # noqa: E741
    """Return an untied Llama without memory, of ``n`` tokens, width, inner width and layers."""
    shape: dict[str, Any] = dict(
        vocab_size=n, hidden_size=d, intermediate_size=h, num_hidden_layers=l
    )
    return of_kind("llama", **shape, num_attention_heads=2, tie_word_embeddings=False)


@cache
def gpt2_like(n: int, d: int, l: int, T: int) -> Any:  # noqa: E741
    """Return an untied GPT-2 without memory, of ``n`` tokens, width, layers and positions."""
    shape: dict[str, Any] = dict(vocab_size=n, n_embd=d, n_layer=l, n_positions=T)
    return of_kind("gpt2", **shape, n_head=2, tie_word_embeddings=False)


def saved_share(model: Any) -> Fraction:
    """Return the head's share of a model's parameters."""
    return Fraction(model.get_output_embeddings().weight.numel(), parameters(model))


def with_bias(n: int, d: int, h: int, l: int) -> Fraction:  # noqa: E741
    """Return the share of a head with a bias in `llama_like`, more than tying can save."""
    model = llama_like.__wrapped__(n, d, h, l)
    model.lm_head = on_meta(lambda: nn.Linear(d, n))
    return Fraction(parameters(model.lm_head), parameters(model))


def already_tied(n: int, d: int, h: int, l: int) -> Fraction:  # noqa: E741
    """Return the share of the head in a `llama_like` that is tied already."""
    model = llama_like.__wrapped__(n, d, h, l)
    model.lm_head.weight = model.model.embed_tokens.weight
    return saved_share(model)


def _numbered(rows: int, width: int) -> torch.Tensor:
    return torch.arange(rows * width, dtype=torch.float64).view(rows, width) + 1


def entries_of_the_table(rows: int, width: int) -> set[float]:
    """Return the different numbers that look-ups of all tokens give; no entry is there twice."""
    return set(F.embedding(torch.arange(rows), _numbered(rows, width)).flatten().tolist())


def entries_of_the_head(rows: int, width: int) -> set[float]:
    """Return the different numbers in the scores of all basis states."""
    basis = torch.eye(width, dtype=torch.float64)
    return set(F.linear(basis, _numbered(rows, width)).flatten().tolist())


def share_of(holds: Callable[[Any], bool]) -> Callable[[Sequence[Any]], Fraction]:
    """Return a function that gives the share of values for which something holds."""
    return lambda values: Fraction(sum(map(holds, values)), len(values))
