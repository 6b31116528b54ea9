"""T5's heads: the first shares the table and scales the state, version 1.1 does neither."""

from __future__ import annotations

from typing import Any

import torch

_WORDS = torch.tensor([[5, 3, 8]])


@torch.no_grad()
def _last_state_and_logits(model: Any) -> tuple[torch.Tensor, torch.Tensor]:
    read = model.encoder(input_ids=_WORDS).last_hidden_state
    state = model.decoder(input_ids=_WORDS, encoder_hidden_states=read).last_hidden_state
    return state, model(input_ids=_WORDS, decoder_input_ids=_WORDS).logits


def shares_and_scales(model: Any) -> bool:
    """Whether a T5's logits are its last state over the root of the width, times its table.

    Args:
        model: a T5 of transformers.
    """
    state, logits = _last_state_and_logits(model)
    scaled = state / model.config.d_model**0.5
    return torch.allclose(logits, scaled @ model.shared.weight.T, atol=1e-12)


def own_head_unscaled(model: Any) -> bool:
    """Whether a T5's logits are its last state, not scaled, times the weight of its head.

    Args:
        model: a T5 of transformers.
    """
    state, logits = _last_state_and_logits(model)
    return torch.allclose(logits, model.lm_head(state), atol=1e-12)
