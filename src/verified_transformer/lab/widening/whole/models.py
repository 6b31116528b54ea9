"""Whole models beside the grown ones: what they are, what they say, and a head of their own."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import nn

from ....models.architectures import is_tied
from ....models.growth.verify import clean_float64
from ....seeds import generator


def with_own_head(model: Any, name: str, *, scale: float = 0.5) -> Any:
    """Give a model an output matrix of its own, in place, with random entries.

    transformers 5 ties the head of T5 and mT5 to the embedding whatever the configuration says;
    the released T5 1.1 and mT5 have two matrices.

    Args:
        model: with an embedding and a head.
        name: what the entries are drawn from.
        scale: their standard deviation.

    Returns:
        The model, for which `is_tied` is now false.
    """
    head = model.get_output_embeddings()
    source = generator(f"{name}, a head of its own")
    drawn = torch.randn(head.weight.shape, generator=source, dtype=torch.float64)
    head.weight = nn.Parameter(scale * drawn, requires_grad=head.weight.requires_grad)
    return model


def spoken(model: Any, name: str, *, batch: int = 2, length: int = 9) -> torch.Tensor:
    """The logits for random tokens, (batch, length, vocabulary), in float64 without casts.

    Args:
        model: of transformers, with a head.
        name: what the tokens are drawn from.
        batch, length: of the tokens.
    """
    source, words = generator(f"tokens {name}"), model.config.vocab_size
    inputs = {"input_ids": torch.randint(words, (batch, length), generator=source)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = torch.randint(words, (batch, length), generator=source)
    with clean_float64():
        logits: torch.Tensor = model(**inputs).logits
    return logits


def self_portrait(model: Any) -> str:
    """What a model is, read off its modules and not off its name or configuration.

    Returns:
        A line: class, whether head and embedding are one parameter, the classes of its norms with
        their constants, its activations, and dtype.
    """
    norms, acts = set(), set()
    for module in model.modules():
        if re.search("Norm", type(module).__name__):
            eps = getattr(module, "eps", getattr(module, "variance_epsilon", None))
            norms.add(f"{type(module).__name__} {eps:g}")
        for attribute in ("act", "act_fn", "intermediate_act_fn"):
            found = module.__dict__.get(attribute, module._modules.get(attribute))
            if found is not None:
                acts.add(getattr(found, "__name__", type(found).__name__))
    dtypes = {str(p.dtype).removeprefix("torch.") for p in model.parameters()}
    tied = "tied" if is_tied(model) else "own head"
    return ", ".join([type(model).__name__, tied, *sorted(norms), *sorted(acts), *sorted(dtypes)])
