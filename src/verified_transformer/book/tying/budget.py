"""What the vocabulary takes of a model: tables and the rest, counted in real classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..real_models.released import parameters


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
        >>> from verified_transformer.book import of_kind
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
