"""How near to the identity a body is at its start: residual techniques, and real models."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from ....models.first_loss import first_loss, two_gram_loss
from ....seeds import generator, seed_of

# place of the norm, factor on the stream, scales of a branch's inner and outer matrix
Technique = Callable[[int], tuple[str, float, float, float]]
TECHNIQUES: dict[str, Technique] = {
    "DeepNorm": lambda n: ("post", (2 * n) ** 0.25, (8 * n) ** -0.25, (8 * n) ** -0.25),
    "Fixup": lambda n: ("none", 1.0, n**-0.5, 0.0),
    "SkipInit, ReZero": lambda n: ("none", 1.0, 1.0, 0.0),
    "T-Fixup": lambda n: ("none", 1.0, 0.67 * n**-0.25, 0.67 * n**-0.25),
    "GPT-2's factor": lambda n: ("pre", 1.0, 1.0, (2 * n) ** -0.5),
    "none, Pre Norm": lambda n: ("pre", 1.0, 1.0, 1.0),
    "none, Post Norm": lambda n: ("post", 1.0, 1.0, 1.0),
}


def kept_cosine(
    technique: str, layers: int, draw: int | str, d: int = 256, tokens: int = 64
) -> float:
    """Return the mean cosine between the final state and the input of a drawn residual stack.

    Args:
        technique: a key of `TECHNIQUES`.
        layers: of two branches each.
        draw: which weights, a number or a name.
        d: width.
        tokens: inputs averaged over.

    Raises:
        ValueError: another technique.
    """
    if technique not in TECHNIQUES:
        raise ValueError(f"technique: got {technique!r}; accepted: {', '.join(TECHNIQUES)}")
    place, scale, inner, outer = TECHNIQUES[technique](layers)
    source = generator(f"{technique} {layers} {draw}")
    start = x = F.layer_norm(torch.randn(tokens, d, generator=source), (d,))
    for _ in range(2 * layers):
        first, second = torch.randn(2, d, d, generator=source) / d**0.5
        seen = F.layer_norm(x, (d,)) if place == "pre" else x
        x = scale * x + seen @ (inner * first) @ (outer * second)
        x = F.layer_norm(x, (d,)) if place == "post" else x
    return torch.cosine_similarity(x, start, dim=-1).mean().item()


def without_weights(kind: str, **settings: Any) -> Any:
    """Build a tied model of transformers whose weights are not drawn yet.

    Args:
        kind: name of a class, such as ``"GPT2LMHeadModel"``.
        settings: of its configuration.

    Raises:
        ValueError: its head is not its embedding.
    """
    from ...real_models.hugging_face import transformers

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


def observed(model: Any, tokens: torch.Tensor) -> dict[str, Any]:
    """Return how near to the identity a model's body is, and its first loss beside the two-gram's.

    Args:
        model: tied, of transformers.
        tokens: (T,), all different.

    Returns:
        Cosines with the token's embedding after each layer ("along"), of the last state ("last"),
        and of the last state with the first ("kept"); root mean squares of the states ("length");
        first loss less log n and own logit of the model ("excess", "own") and of its embeddings
        alone ("two_gram", "full").
    """
    states, features = states_and_features(model, tokens)
    table = model.get_input_embeddings().weight.detach()
    scale = table.shape[1] ** -0.5 if model.config.is_encoder_decoder else 1.0
    found = first_loss(features, table, own=tokens)
    alone = two_gram_loss(table, tokens, features=lambda h: scale * h)
    along = torch.cosine_similarity(states, table[tokens], dim=-1).mean(1)
    last_first = torch.cosine_similarity(states[-1], states[0], dim=-1)
    uniform = math.log(len(table))
    assert found.own_logit is not None and alone.own_logit is not None
    return {
        "along": along.numpy(), "last": along[-1].item(), "kept": last_first.mean().item(),
        "length": states.pow(2).mean((1, 2)).sqrt().numpy(),
        "excess": found.loss.mean().item() - uniform, "own": found.own_logit.mean().item(),
        "two_gram": alone.loss.mean().item() - uniform, "full": alone.own_logit.mean().item(),
    }  # fmt: skip


def observed_over_draws(model: Any, name: str, draws: int = 3) -> dict[str, np.ndarray]:
    """Return `observed`'s numbers for independent draws of a model's weights, stacked.

    Args:
        model: from `without_weights`; its weights are drawn anew.
        name: what the seeds are derived from.
        draws: how many.
    """
    rows = []
    for draw in range(draws):
        draw_weights(model, f"{name} {draw}")
        words = model.get_input_embeddings().weight.shape[0]
        tokens = torch.randperm(words - 1, generator=generator(f"{name} tokens {draw}"))[:8] + 1
        rows.append(observed(model, tokens))
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}
