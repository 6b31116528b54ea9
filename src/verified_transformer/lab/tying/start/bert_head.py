"""BERT's head: a dense layer, an activation and a norm between the trunk and the tied table."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import nn


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


def own_and_other_logits(model: Any, length: int = 32) -> tuple[float, float]:
    """Return the mean logit of the input token itself, and of all others, over the vocabulary.

    Args:
        model: a masked or causal language model of transformers.
        length: of the sequences in which all tokens are shown once; divides their number.
    """
    n = model.config.vocab_size
    ids = torch.arange(n).view(-1, length)
    with torch.no_grad():
        logits = model(input_ids=ids).logits.flatten(0, 1).double()
    own = logits.gather(1, ids.view(-1, 1)).mean().item()
    return own, ((logits.sum() - own * n) / (n * (n - 1))).item()
