"""The heads of GPT-2, BERT and mT5 made wider, with what may be done wrongly as arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ...models.growth.axes import repeated, unchanged
from ...models.heads import TiedHead
from ...seeds import generator
from ..arrays.comparing import largest_error
from ..real_models.hugging_face import transformers
from ..real_models.tiny import randomised, tiny
from .linear import widened

WORDS, WIDTH = 40, 12
Activation = Callable[[torch.Tensor], torch.Tensor]


def gpt2(*, width: int = WIDTH, eps: float = 1e-5) -> Any:
    """GPT-2 with one layer and 40 words, every parameter at random."""
    model = tiny("gpt2", vocab_size=WORDS, n_embd=width, n_head=2, layer_norm_epsilon=eps)
    return randomised(model, "gpt2").requires_grad_(False)


def wider_gpt2(small: Any, k: int, *, embedding: float, eps: float) -> Any:
    """GPT-2's tied head and last norm grown; the rest of the model is not.

    Args:
        small: from `gpt2`.
        k: factor of growth.
        embedding: what the repeated embedding is divided by.
        eps: of the grown norm.
    """
    large = gpt2(width=k * WIDTH, eps=eps)
    table = repeated(WIDTH, k, scale=1 / embedding)
    large.transformer.wte.weight.copy_(table.write(small.transformer.wte.weight, 1))
    for leaf, value in small.transformer.ln_f.named_parameters():
        getattr(large.transformer.ln_f, leaf).copy_(stream(k).write(value, 0))
    return large


def gpt2_logits(model: Any, states: torch.Tensor) -> torch.Tensor:
    """Logits from states before the last norm.

    Raises:
        ValueError: the head is not the embedding.
    """
    if model.lm_head.weight is not model.transformer.wte.weight:
        raise ValueError("model: its head is not tied; accepted: a tied one")
    return model.lm_head(model.transformer.ln_f(states))


def stream(k: int) -> Any:
    """The axis of the states that the layers hand on: repeated and divided by √k."""
    return repeated(WIDTH, k, scale=k**-0.5)


def bert_head(
    *, activation: str = "gelu", eps: float = 1e-12, norm: bool = True, width: int = WIDTH
) -> Any:
    """BERT's head of the library: dense layer, activation, norm, last matrix and bias, at random.

    Args:
        activation: its name in the configuration.
        eps: of the norm.
        norm: without it the norm is left out.
        width: of the states.
    """
    config = transformers.BertConfig(
        vocab_size=WORDS, hidden_size=width, hidden_act=activation, layer_norm_eps=eps,
        pad_token_id=0,
    )  # fmt: skip
    head = transformers.models.bert.modeling_bert.BertLMPredictionHead(config)
    if not norm:
        head.transform.LayerNorm = nn.Identity()
    return randomised(head, "bert head", scale=0.6).requires_grad_(False)


def wider_bert_head(
    small: Any, k: int, *, norm: float, dense: float = 1.0, eps: float | None = None
) -> Any:
    """BERT's head for states that are repeated and divided by √k.

    Args:
        small: from `bert_head`.
        k: factor of growth.
        norm: what the repeated gain and bias of the norm are divided by; √k is right.
        dense: what the dense layer's repeated output is divided by: 1 by eq. 9, √k by eq. 6.
        eps: of the grown norm; the small one's where none is given.
    """
    old = small.transform.LayerNorm
    with_norm = isinstance(old, nn.LayerNorm)
    eps = (old.eps if with_norm else 1e-12) if eps is None else eps
    large = bert_head(eps=eps, norm=with_norm, width=k * WIDTH)
    large.transform.transform_act_fn = small.transform.transform_act_fn
    large.transform.dense = widened(
        small.transform.dense, repeated(WIDTH, k, scale=1 / dense), stream(k)
    )
    for leaf, value in old.named_parameters():
        grown = repeated(WIDTH, k, scale=1 / norm).write(value, 0)
        getattr(large.transform.LayerNorm, leaf).copy_(grown)
    large.decoder = widened(small.decoder, unchanged(WORDS), stream(k))
    return large.requires_grad_(False)


def least_error(activation: Activation, factor: float) -> float:
    """How near act(a u + b) comes to factor · act(u), over a grid of scales a and shifts b.

    Returns:
        The smallest, over a and b, of the largest errors over u from -60 to 60.
    """
    u = torch.linspace(-60, 60, 2401, dtype=torch.float64)
    scales = [factor, *torch.linspace(-2, 2, 41).double().tolist()]
    shifts = torch.tensor([0.0, *torch.linspace(-0.5, 0.5, 101).double().tolist()])[:, None]
    target = factor * activation(u)
    return min(
        (activation(a * u + shifts) - target).abs().amax(1).min().item()
        for a in scales
        if abs(a) > 1e-9
    )


def least_value(activation: Activation) -> float:
    """The least value of an activation between -3 and 0."""
    return activation(torch.linspace(-3, 0, 30001, dtype=torch.float64)).min().item()


# ------------------------------------------------------------------------------ errors


def states(count: int = 64) -> torch.Tensor:
    """Standard normal states, (count, width), in float64."""
    source = generator(f"{count} states")
    return torch.randn(count, WIDTH, generator=source, dtype=torch.float64)


def gpt2_error(
    k: int, embedding: float, *, size: float = 1.0, eps_by: float | None = None
) -> float:
    """Largest error of the logits of `wider_gpt2`.

    Args:
        k: factor of growth.
        embedding: what the repeated embedding is divided by.
        size: of the states.
        eps_by: what the norm's ε is divided by; k where none is given, as is right.
    """
    small, x = gpt2(), size * states()
    large = wider_gpt2(small, k, embedding=embedding, eps=1e-5 / (eps_by or k))
    return largest_error(gpt2_logits(large, stream(k).write(x, 1)), gpt2_logits(small, x))


def output_bias_error(k: int, division: float) -> float:
    """Largest error of the logits of a tied head whose output bias is divided."""
    head = randomised(TiedHead(nn.Embedding(WORDS, WIDTH), bias=True), "tied head")
    large = TiedHead(nn.Embedding(WORDS, WIDTH * k), bias=True).double()
    with torch.no_grad():
        large.weight.copy_(stream(k).write(head.weight, 1))
        large.get_parameter("bias").copy_(head.get_parameter("bias") / division)
        return largest_error(large(stream(k).write(states(), 1)), head(states()))


def dense_error(activation: Activation, k: int, division: float) -> float:
    """Error of a dense layer and its activation, whose repeated output is to be divided."""
    dense = randomised(nn.Linear(WIDTH, WIDTH), "dense").requires_grad_(False)
    output = repeated(WIDTH, k, scale=1 / division)
    with torch.no_grad():
        found = activation(widened(dense, output, stream(k))(stream(k).write(states(), 1)))
        return largest_error(found, output.write(activation(dense(states())), 1))


def bert_head_error(
    activation: str,
    k: int,
    *,
    dense: float = 1.0,
    eps: float = 1e-12,
    eps_by: float = 1.0,
    size: float = 1.0,
) -> float:
    """Largest error of the logits of `wider_bert_head` with the usual norm.

    Args:
        activation: its name.
        k: factor of growth.
        dense: what the dense layer's repeated output is divided by.
        eps: of the small norm.
        eps_by: what the grown norm's is divided by.
        size: of the states, and factor on the dense layer's bias.
    """
    small, x = bert_head(activation=activation, eps=eps), size * states()
    small.transform.dense.bias.mul_(size)
    large = wider_bert_head(small, k, norm=k**0.5, dense=dense, eps=eps / eps_by)
    return largest_error(large(stream(k).write(x, 1)), small(x))


def transform_error(k: int, *, norm: bool) -> float:
    """How far BERT's last states are from repeated and divided by √k, with its norm or without."""
    small = bert_head(norm=norm)
    large = wider_bert_head(small, k, norm=k**0.5)
    found = large.transform(stream(k).write(states(), 1))
    return largest_error(found, stream(k).write(small.transform(states()), 1))


def own_head_error(head: nn.Linear, k: int, division: float, *, factor: float = 1.0) -> float:
    """Error of a head with a matrix of its own, divided by a number, for states times a factor."""
    large = widened(head, unchanged(WORDS), stream(k), weight=k**0.5 / division)
    with torch.no_grad():
        return largest_error(large(factor * stream(k).write(states(), 1)), head(states()))
