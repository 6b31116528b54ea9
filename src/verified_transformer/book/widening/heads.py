"""The heads of GPT-2, BERT, T5 and mT5 made wider, with what may be done wrongly as arguments.

A pair is what a grown head says and what the small one said, both (states, words), for weights and
states that are drawn from a name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ...engine.exact.formulas.evaluation import Approximation
from ...models.growth.axes import repeated, unchanged
from ...models.heads import TiedHead
from ...seeds import generator
from ..arrays import largest_error
from ..real_models.hugging_face import transformers
from ..real_models.tiny import randomised, tiny
from .layers import widened
from .whole_models import by_roots, spoken, with_own_head

WORDS, WIDTH = 40, 12
Activation = Callable[[torch.Tensor], torch.Tensor]
Pair = tuple[torch.Tensor, torch.Tensor]


def stream(k: int) -> Any:
    """The axis of the states that the layers hand on: repeated and divided by √k."""
    return repeated(WIDTH, k, scale=k**-0.5)


def states(name: str = "states", count: int = 64) -> torch.Tensor:
    """Standard normal states, (count, width), in float64."""
    source = generator(f"{name}, {count} states")
    return torch.randn(count, WIDTH, generator=source, dtype=torch.float64)


def factor_between(found: torch.Tensor, wanted: torch.Tensor) -> Approximation:
    """The factor by which ``wanted`` comes closest to ``found``; its error is what is left over."""
    value = ((found * wanted).sum() / wanted.square().sum()).item()
    return Approximation(value, 2 * largest_error(found, value * wanted) + 1e-14)


# ------------------------------------------------------------------------------ GPT-2 and T5


def gpt2_pair(
    name: str,
    k: int,
    *,
    rows: float | None = None,
    last: float | None = None,
    size: float = 1.0,
    eps_by: float | None = None,
) -> Pair:
    """GPT-2's last norm and tied head, grown; the rest of the model is not.

    Args:
        name: what weights and states are drawn from.
        k: factor of growth.
        rows, last: the scales of the copies in the embedding and in the gain of the last norm; 1/√k
            where none is given, as is right.
        size: of the states.
        eps_by: what the norm's ε is divided by; k where none is given, as is right.
    """
    small, large = (
        randomised(tiny("gpt2", vocab_size=WORDS, n_embd=WIDTH * times), name).requires_grad_(False)
        for times in (1, k)
    )
    table = repeated(WIDTH, k, scale=k**-0.5 if rows is None else rows)
    large.transformer.wte.weight.copy_(table.write(small.transformer.wte.weight, 1))
    for leaf, value in small.transformer.ln_f.named_parameters():
        grown = repeated(WIDTH, k, scale=k**-0.5 if last is None else last).write(value, 0)
        getattr(large.transformer.ln_f, leaf).copy_(grown)
    large.transformer.ln_f.eps = small.transformer.ln_f.eps / (k if eps_by is None else eps_by)
    x = size * states(name)
    return gpt2_logits(large, stream(k).write(x, 1)), gpt2_logits(small, x)


def gpt2_logits(model: Any, states: torch.Tensor) -> torch.Tensor:
    """Logits from states before the last norm.

    Raises:
        ValueError: the head is not the embedding.
    """
    if model.lm_head.weight is not model.transformer.wte.weight:
        raise ValueError("model: its head is not tied; accepted: a tied one")
    return model.lm_head(model.transformer.ln_f(states))


def tied_pair(name: str, k: int, *, bias: float = 1.0) -> Pair:
    """A tied head with an output bias, grown; the bias takes a further factor."""
    head = randomised(TiedHead(nn.Embedding(WORDS, WIDTH), bias=True), name)
    large = TiedHead(nn.Embedding(WORDS, WIDTH * k), bias=True).double()
    with torch.no_grad():
        large.weight.copy_(stream(k).write(head.weight, 1))
        large.get_parameter("bias").copy_(bias * head.get_parameter("bias"))
        return large(stream(k).write(states(name), 1)), head(states(name))


def small_t5(name: str = "t5", **changes: Any) -> Any:
    """A T5 of the first kind, tied and with ReLU, every parameter drawn from a name."""
    sizes = {"d_model": WIDTH, "d_kv": WIDTH // 2, "d_ff": 2 * WIDTH, "num_heads": 2}
    model = tiny("t5", **{"vocab_size": WORDS, **sizes, **changes})
    return randomised(model, name).requires_grad_(False)


def t5_pair(name: str, k: int, *, plain: str | None = None) -> Pair:
    """A whole T5, every axis repeated and divided by √k.

    Args:
        name: what the weights are drawn from.
        k: factor of growth.
        plain: pattern of the parameters that are repeated only; its last gain is
            "decoder.final_layer_norm".
    """
    small = small_t5(name)
    return spoken(by_roots(small, k, plain=plain), name), spoken(small, name)


def t5_losses(leads: list[float], k: int, words: int) -> list[float]:
    """The losses of a grown T5 whose small one gives a token a lead over all others.

    The other rows of its table are one vector, so that all other tokens have one logit.

    Args:
        leads: of the small model's logit.
        k: factor of growth.
        words: size of the vocabulary.
    """
    small, losses = small_t5("a lead", vocab_size=words), []
    small.shared.weight[1:] = small.shared.weight[1]
    gain = small.decoder.final_layer_norm.weight
    for lead in leads:
        first, other = spoken(small, "a lead")[0, 0, :2].tolist()
        gain *= lead / (first - other)
        losses.append(-spoken(by_roots(small, k), "a lead").log_softmax(-1)[0, 0, 0].item())
    return losses


# ------------------------------------------------------------------------------ BERT


def bert_head(
    name: str = "bert head", *, act: str = "gelu", eps: float = 1e-12, norm: bool = True,
    width: int = WIDTH,
) -> Any:  # fmt: skip
    """BERT's head of the library: dense layer, activation, norm, last matrix and bias, at random.

    Args:
        name: what it is drawn from.
        act: name of the activation in the configuration.
        eps: of the norm.
        norm: without it the norm is left out.
        width: of the states.
    """
    config = transformers.BertConfig(
        vocab_size=WORDS, hidden_size=width, hidden_act=act, layer_norm_eps=eps, pad_token_id=0,
    )  # fmt: skip
    head = transformers.models.bert.modeling_bert.BertLMPredictionHead(config)
    if not norm:
        head.transform.LayerNorm = nn.Identity()
    return randomised(head, name, scale=0.6).requires_grad_(False)


def wider_bert_head(
    small: Any, k: int, *, norm: float, dense: float = 1.0, eps: float | None = None
) -> Any:
    """BERT's head for states that are repeated and divided by √k.

    Args:
        small: from `bert_head`.
        k: factor of growth.
        norm: the scale that gain and shift of the norm take; 1/√k is right.
        dense: the scale of the dense layer's copies: 1 by eq. 9, 1/√k by eq. 6.
        eps: of the grown norm; the small one's where none is given.
    """
    old = small.transform.LayerNorm
    with_norm = isinstance(old, nn.LayerNorm)
    eps = (old.eps if with_norm else 1e-12) if eps is None else eps
    large = bert_head(eps=eps, norm=with_norm, width=k * WIDTH)
    large.transform.transform_act_fn = small.transform.transform_act_fn
    large.transform.dense = widened(
        small.transform.dense, repeated(WIDTH, k, scale=dense), stream(k)
    )
    for leaf, value in old.named_parameters():
        grown = repeated(WIDTH, k, scale=norm).write(value, 0)
        getattr(large.transform.LayerNorm, leaf).copy_(grown)
    large.decoder = widened(small.decoder, unchanged(WORDS), stream(k))
    return large.requires_grad_(False)


def bert_pair(
    name: str,
    k: int,
    *,
    act: str = "gelu",
    dense: float = 1.0,
    norm: float | None = None,
    eps: float = 1e-12,
    eps_by: float = 1.0,
    size: float = 1.0,
) -> Pair:
    """BERT's head, grown.

    Args:
        name: what weights and states are drawn from.
        k: factor of growth.
        act: name of the activation.
        dense, norm: scales, as in `wider_bert_head`; the usual norm where none is given.
        eps: of the small norm.
        eps_by: what the grown norm's is divided by.
        size: of the states, and factor on the dense layer's bias.
    """
    small, x = bert_head(name, act=act, eps=eps), size * states(name)
    small.transform.dense.bias.mul_(size)
    scale = k**-0.5 if norm is None else norm
    large = wider_bert_head(small, k, norm=scale, dense=dense, eps=eps / eps_by)
    return large(stream(k).write(x, 1)), small(x)


def dense_pair(name: str, k: int, *, activation: Activation, scale: float) -> Pair:
    """A dense layer and its activation, grown, and its old output repeated with a scale."""
    dense = randomised(nn.Linear(WIDTH, WIDTH), name).requires_grad_(False)
    output, x = repeated(WIDTH, k, scale=scale), states(name)
    with torch.no_grad():
        found = activation(widened(dense, output, stream(k))(stream(k).write(x, 1)))
        return found, output.write(activation(dense(x)), 1)


def transform_pair(name: str, k: int, *, norm: bool) -> Pair:
    """BERT's last states, grown by eq. 9 and the usual norm or none, and those that are wanted."""
    small, x = bert_head(name, norm=norm), states(name)
    large = wider_bert_head(small, k, norm=k**-0.5)
    return large.transform(stream(k).write(x, 1)), stream(k).write(small.transform(x), 1)


# ------------------------------------------------------------------------------ mT5


def own_head_pair(name: str, k: int, *, scale: float, factor: float = 1.0) -> Pair:
    """mT5's head with a matrix of its own, grown, for states that carry a further factor.

    Args:
        name: what it is drawn from.
        k: factor of growth.
        scale: what the repeated matrix is multiplied by; 1/(√k times the factor) is right.
        factor: on the grown states.
    """
    sizes = {"d_model": WIDTH, "d_kv": WIDTH // 2, "d_ff": 2 * WIDTH, "num_heads": 2}
    head = with_own_head(tiny("mt5", vocab_size=WORDS, **sizes), name).lm_head
    large = widened(head, unchanged(WORDS), stream(k), weight=scale * k**0.5)
    with torch.no_grad():
        return large(factor * stream(k).write(states(name), 1)), head(states(name))
