"""Real models without weights, weights drawn anew, and what such a model makes of tokens."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch

from verifiedbook.seeds import seed_of


def without_weights(kind: str, **settings: Any) -> Any:
    """Build a tied model of transformers whose weights are not drawn yet.

    Args:
        kind: name of a class, such as ``"GPT2LMHeadModel"``.
        settings: of its configuration.

    Raises:
        ValueError: its head is not its embedding.
    """
    from ..real_models.hugging_face import transformers

    no_init_weights = import_module("transformers.initialization").no_init_weights

    cls = getattr(transformers, kind)
    with no_init_weights():
        model = cls(cls.config_class(**settings)).eval()
    model.tie_weights()
    if model.get_output_embeddings().weight is not model.get_input_embeddings().weight:
        raise ValueError(f"kind: {kind} with {settings} is not tied; accepted: a tied model")
    return model


def draw_weights(model: Any, name: str) -> None:
    """Draw all weights of a model by its own initialiser, with the seed of a name."""
    tied = model.get_output_embeddings()
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed_of(name) % 2**63)
        for part in reversed(list(model.modules())):  # the parts before the whole
            if part is not tied:
                model._init_weights(part)


def states_and_features(model: Any, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the states after each layer and what meets the table.

    Args:
        model: of transformers.
        tokens: (T,); an encoder reads them backwards.

    Returns:
        States, (layers + 1, T, d), and features, (T, d).
    """
    given: dict[str, torch.Tensor] = {}
    head = model.get_output_embeddings()
    hook = head.register_forward_pre_hook(lambda part, inputs: given.update(features=inputs[0]))
    decoder = model.config.is_encoder_decoder
    more = {"decoder_input_ids": tokens[None]} if decoder else {}
    source = tokens.flip(0) if decoder else tokens
    with torch.no_grad():
        output = model(input_ids=source[None], output_hidden_states=True, **more)
    hook.remove()
    states = output.decoder_hidden_states if decoder else output.hidden_states
    return torch.cat(states), given["features"][0]
