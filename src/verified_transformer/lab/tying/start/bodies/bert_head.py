"""BERT's head: a dense layer, an activation and a norm between the trunk and the tied table."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import nn

from .....models.first_loss import first_loss
from .....seeds import generator
from .identity_bodies import draw_weights, states_and_features


def modules_before_the_table(model: Any) -> list[str]:
    """Return the classes of the modules that run after the trunk's last norm, before the table.

    Args:
        model: a ``BertForMaskedLM``.

    Raises:
        ValueError: no module after the trunk holds the embedding's own weight.
    """
    seen: list[nn.Module] = []
    trunk = model.bert.encoder.layer[-1].output.LayerNorm
    leaves = [m for m in model.modules() if not list(m.children())]
    hooks = [m.register_forward_hook(lambda m, *_: seen.append(m)) for m in leaves]
    with torch.no_grad():
        model(input_ids=torch.arange(5)[None])
    for hook in hooks:
        hook.remove()
    after = seen[seen.index(trunk) + 1 :]
    table = model.bert.embeddings.word_embeddings.weight
    stop = [place for place, m in enumerate(after) if getattr(m, "weight", None) is table]
    if not stop:
        raise ValueError("model: no module after the trunk holds the embedding's weight")
    return [type(m).__name__ for m in after[: stop[0]]]


def without_transform(model: Any) -> Any:
    """Return a copy of a ``BertForMaskedLM`` whose trunk meets the tied table at once."""
    bare = deepcopy(model)
    bare.cls.predictions.transform = nn.Identity()
    bare.cls.predictions.decoder.weight = bare.bert.embeddings.word_embeddings.weight
    return bare


def first_losses(model: Any, name: str, tokens: int = 32) -> tuple[float, float, float]:
    """Return a BERT's first loss, that without its transform, and the own logit without it.

    The label is another token than the input, and averaged out.

    Args:
        model: a ``BertForMaskedLM``.
        name: what the choice of tokens is derived from.
        tokens: how many, all different.
    """
    table = model.get_input_embeddings().weight.detach()
    shown = torch.randperm(len(table) - 1, generator=generator(name))[:tokens] + 1
    states, features = states_and_features(model, shown)
    found, bare = (first_loss(x, table, own=shown) for x in (features, states[-1]))
    assert bare.own_logit is not None
    return found.loss.mean().item(), bare.loss.mean().item(), bare.own_logit.mean().item()


def put_branches_to_zero(model: Any) -> None:
    """Set what attention and feed-forward layers of a BERT add to the stream to zero, in place."""
    with torch.no_grad():
        for layer in model.bert.encoder.layer:
            for part in (layer.attention.output.dense, layer.output.dense):
                part.weight.zero_()
                part.bias.zero_()


def losses_over_draws(model: Any, draws: int = 6) -> dict[str, np.ndarray]:
    """Return `first_losses` of a BERT as initialised, and with its branches at zero.

    Args:
        model: a ``BertForMaskedLM``; its weights are drawn anew.
        draws: how many times.

    Returns:
        By what was done, (draws, 3): first loss with the layer and without, own logit without.
    """
    seen: dict[str, list[tuple[float, float, float]]] = {
        "as initialised": [], "branches at zero": [],
    }  # fmt: skip
    for draw in range(draws):
        draw_weights(model, f"BERT base {draw}")
        seen["as initialised"].append(first_losses(model, f"tokens {draw}"))
        put_branches_to_zero(model)
        seen["branches at zero"].append(first_losses(model, f"tokens {draw}"))
    return {name: np.array(rows) for name, rows in seen.items()}
