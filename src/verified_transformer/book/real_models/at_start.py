"""Layers of real classes at the sizes in which they were released, as their classes initialise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch
from torch import nn

from verifiedbook.seeds import seed_of

from ..layers import standard_normal

# --------------------------------------------------------------------- attention of the first layer

_FIRST: Mapping[str, dict[str, Any]] = MappingProxyType(
    {  # one layer, without what its attention does not need
        "BertModel": {"num_hidden_layers": 1, "intermediate_size": 8},
        "GPT2Model": {"n_layer": 1, "n_inner": 8},
        "LlamaModel": {"num_hidden_layers": 1, "intermediate_size": 8},
        "T5EncoderModel": {"num_layers": 1, "d_ff": 8},
    }
)

_AFTER = {  # square matrices that the attention does not see, drawn after those that it does
    "BertModel": ("encoder.layer.0.attention.self.value", "encoder.layer.0.attention.output.dense"),
    "LlamaModel": ("layers.0.self_attn.v_proj", "layers.0.self_attn.o_proj"),
}


def one_layer(kind: str, name: str, *, tokens: int = 512) -> tuple[Any, torch.Tensor]:
    """Return the first layer of a class of transformers at its default size, and what to give it.

    The defaults of the classes are BERT-base, GPT-2, Llama 7B and T5-small. The layer comes with
    the class's own embeddings, positions, norms and masks, and returns its attention if asked. Of
    its embeddings only those of the words in the sequence are made, and that of padding; of what
    comes after the attention, values and outputs that are square matrices are left out.

    Args:
        kind: ``"BertModel"``, ``"GPT2Model"``, ``"LlamaModel"`` or ``"T5EncoderModel"``.
        name: what the seed is derived from.
        tokens: of a sequence of random words.

    Returns:
        The model, and a sequence, (1, tokens).

    Raises:
        ValueError: another class.
    """
    from .hugging_face import drawn_again, transformers, undrawn

    if kind not in _FIRST:
        raise ValueError(f"kind: got {kind!r}; accepted: {', '.join(_FIRST)}")
    cls = getattr(transformers, kind)
    config = cls.config_class(attn_implementation="eager", **_FIRST[kind])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(name) % 2**63)
        words, ids = torch.randint(config.vocab_size, (1, tokens)).unique(return_inverse=True)
        config.vocab_size = 1 + len(words)  # no numbers that nothing would read
        model = undrawn(cls, config)
        for path in _AFTER.get(kind, ()):
            model.set_submodule(path, nn.Identity())
        return drawn_again(model).requires_grad_(False), 1 + ids


@dataclass(frozen=True)
class FirstAttention:
    """Attention in the first layer of a real class at its start, of its last queries.

    Attributes:
        model: the class, with one layer.
        logits: what the softmax would see without the class's division, (heads, queries, keys);
            minus infinity where a query may not look.
        keys: as they meet the queries, (heads, keys, size of a head).
    """

    model: nn.Module
    logits: torch.Tensor
    keys: torch.Tensor

    @property
    def divided(self) -> float:
        """What the class multiplies its logits by."""
        return float(self.keys.shape[-1] ** -0.5)

    @property
    def spread(self) -> float:
        """Root mean square over rows of the standard deviation of a row of undivided logits."""
        rows = [row[row.isfinite()].var() for row in self.logits.flatten(0, 1)]
        return torch.stack(rows).mean().sqrt().item()

    def sum_of_squares(self, factor: float) -> float:
        r"""Return the mean of $\sum_jp_j^2$ if the logits were multiplied by a factor."""
        return torch.softmax(factor * self.logits, -1).square().sum(-1).mean().item()

    def gradients(self, factor: float, name: str) -> tuple[torch.Tensor, torch.Tensor]:
        """Return lengths of the gradient at the logits and at the queries of each row.

        Independent gradients of variance 1 arrive at the attention weights.

        Args:
            factor: what the logits are multiplied by.
            name: what the seed of those gradients is derived from.
        """
        p = torch.softmax(factor * self.logits, -1)
        g = standard_normal(name, *p.shape)
        u = p * (g - (p * g).sum(-1, keepdim=True))
        return u.norm(dim=-1).flatten(), (factor * u @ self.keys).norm(dim=-1).flatten()


def first_attention(
    kind: str, name: str, *, tokens: int = 512, queries: int = 64
) -> FirstAttention:
    """Run the first layer of a class of transformers, and read its attention.

    Args:
        kind: ``"BertModel"``, ``"GPT2Model"`` or ``"LlamaModel"``, at the sizes of `one_layer`.
        name: what the seed is derived from.
        tokens: of the sequence.
        queries: of its last tokens, that are read.

    Example:
        >>> seen = first_attention("BertModel", "an example", tokens=64)
        >>> seen.divided, round(seen.spread)
        (0.125, 2)
    """
    model, ids = one_layer(kind, name, tokens=tokens)
    causal = kind != "BertModel"
    kept: list[torch.Tensor] = []  # BERT's keys, which it does not return
    if not causal:
        layer = model.encoder.layer[0].attention.self.key
        layer.register_forward_hook(lambda *seen: kept.append(seen[-1]))
    found = model(ids, output_attentions=True, use_cache=causal)
    keys = (
        found.past_key_values.layers[0].keys[0]
        if causal
        else kept[0][0].unflatten(-1, (12, 64)).movedim(1, 0)
    )
    seen = found.attentions[0][0, :, -queries:].double().log() * keys.shape[-1] ** 0.5
    return FirstAttention(model, seen, keys.double())
