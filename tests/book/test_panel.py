"""The panel: that its classes differ where it says that they do."""

from __future__ import annotations

import pytest
import torch

from verified_transformer.book.real_models.panel import (
    PANEL,
    first_loss,
    last_norm,
    stock,
    table_of,
)


@pytest.mark.parametrize("name", PANEL)
def test_a_class_ties_as_it_is_told(name: str) -> None:
    for tied in (True, False):
        model = stock(name, tied=tied, width=64)
        is_tied = model.get_output_embeddings().weight is table_of(model)
        assert is_tied == (tied or name == "T5")
        assert "norm" in type(model.get_submodule(last_norm(model))).__name__.lower()


def test_it_is_drawn_the_same_and_by_another_scale_otherwise() -> None:
    ids = torch.arange(3, 19)[None]
    one, again, half = (first_loss(stock("BLOOM", width=64, scale=s), ids) for s in (1, 1, 0.5))
    assert one == again != half


def test_other_names_are_refused() -> None:
    with pytest.raises(ValueError, match="name: got 'GPT-9'; accepted: GPT-2, BERT"):
        stock("GPT-9")
