"""The attention of BERT and T5 made wider by eq. 6, with further factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from ...models.growth.axes import heads
from ..real_models.hugging_face import transformers
from ..real_models.tiny import randomised
from .attention import states, stream
from .layers import Layout, widened

Factors = tuple[float, float]  # on weight and bias
_ONE = (1.0, 1.0)


class Attended(NamedTuple):
    """What an attention layer makes of some states.

    ``logits`` are less their row's mean; ``matrix`` and ``output`` are those without a mask, with a
    causal one and with padding, behind each other.
    """

    logits: torch.Tensor
    matrix: torch.Tensor
    output: torch.Tensor


def bert_attention(count: int, size: int, name: str = "bert") -> Any:
    """BERT's self-attention, in float64, all its parameters drawn from a name."""
    config = transformers.BertConfig(hidden_size=count * size, num_attention_heads=count)
    config._attn_implementation = "eager"
    layer = transformers.models.bert.modeling_bert.BertSelfAttention(config)
    return randomised(layer, f"{name} {count} {size}", scale=0.4).requires_grad_(False)


def t5_attention(count: int, size: int, width: int, name: str = "t5") -> Any:
    """T5's self-attention with position biases, in float64, all parameters drawn from a name."""
    config = transformers.T5Config(
        d_model=width, d_kv=size, num_heads=count, relative_attention_num_buckets=8
    )
    config._attn_implementation = "eager"
    layer = transformers.models.t5.modeling_t5.T5Attention(config, has_relative_attention_bias=True)
    return randomised(layer, f"{name} {count} {size} {width}", scale=0.4).requires_grad_(False)


def wider_bert_attention(
    layer: Any,
    k: int,
    *,
    query: Factors = _ONE,
    key: Factors = _ONE,
    value: Factors = _ONE,
    layout: Layout = heads,
) -> Any:
    """BERT's attention grown by eq. 6, with further factors on weights and biases of each part."""
    count, size = layer.num_attention_heads, layer.attention_head_size
    large, outer = bert_attention(count, k * size), stream(count * size, k)
    inner = layout(count, size, k, scale=k**-0.5)
    for name, (weight, bias) in (("query", query), ("key", key), ("value", value)):
        wide = widened(getattr(layer, name), inner, outer, weight=weight, bias=bias)
        setattr(large, name, wide.requires_grad_(False))
    return large


def wider_t5_attention(layer: Any, k: int) -> Any:
    """T5's attention grown by eq. 6; the position biases stay."""
    count, size, width = layer.n_heads, layer.key_value_proj_dim, layer.d_model
    large = t5_attention(count, k * size, k * width)
    inner, outer = heads(count, size, k, scale=k**-0.5), stream(width, k)
    for name in "qkv":
        setattr(large, name, widened(getattr(layer, name), inner, outer).requires_grad_(False))
    large.o = widened(layer.o, outer, inner).requires_grad_(False)
    large.relative_attention_bias = layer.relative_attention_bias
    return large


def by_row(logits: torch.Tensor) -> torch.Tensor:
    """Logits less the mean of their row: the softmax does not see that mean."""
    return logits - logits.mean(-1, keepdim=True)


def bert_pair(
    name: str,
    k: int,
    *,
    query: Factors = _ONE,
    key: Factors = _ONE,
    value: Factors = _ONE,
    layout: Layout = heads,
    biases: float = 1.0,
) -> tuple[Attended, Attended]:
    """What a grown BERT attention makes of grown states, and what it should.

    Args:
        name: what the small layer's parameters are drawn from.
        k: factor of growth.
        query, key, value: factors on weight and bias on top of eq. 6.
        layout: of the heads.
        biases: what the small layer's biases of query and key are multiplied by.
    """
    small, x, axis = bert_attention(4, 3, name), states(12), stream(12, k)
    small.query.bias *= biases
    small.key.bias *= biases
    large = wider_bert_attention(small, k, query=query, key=key, value=value, layout=layout)
    causal = torch.full((5, 5), -1e9, dtype=torch.float64).triu(1)
    padding = torch.zeros(2, 1, 1, 5, dtype=torch.float64)
    padding[1, ..., -2:] = -1e9

    def of(layer: Any, inputs: torch.Tensor, outputs: Callable[[Any], torch.Tensor]) -> Attended:
        found = [layer(inputs, mask) for mask in (None, causal, padding)]
        matrices = [matrix for _, matrix in found]
        out = torch.stack([outputs(output) for output, _ in found])
        return Attended(by_row(matrices[0].log()), torch.stack(matrices), out)

    return of(large, axis.write(x, -1), torch.clone), of(small, x, lambda out: axis.write(out, -1))


def t5_pair(name: str, k: int, *, scaled: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """Matrices and outputs of a T5 attention grown by eq. 6, joined, and what they should be.

    Args:
        name: what the small layer's parameters are drawn from.
        k: factor of growth.
        scaled: whether both layers divide by the root of their head size, as T5 does not.
    """
    small, x, axis = t5_attention(4, 3, 10, name), states(10), stream(10, k)
    large = wider_t5_attention(small, k)
    if scaled:
        small.scaling, large.scaling = 3**-0.5, (3 * k) ** -0.5
    (out, _, matrix), (out_new, _, matrix_new) = small(x), large(axis.write(x, -1))
    wanted = axis.write(out, -1)
    return torch.cat([matrix_new.flatten(), out_new.flatten()]), torch.cat(
        [matrix.flatten(), wanted.flatten()]
    )
