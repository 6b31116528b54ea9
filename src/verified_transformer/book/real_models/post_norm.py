r"""Post Norm as people run it: what each sublayer adds, and what comes back through it.

A Post Norm stack is read at its norms. Each takes the sum of the state before and a branch, and its
output is the next state; so what a branch adds, how much of the first state is left on the identity
path, and the gradients between are had from any class, by hooks, without knowing what is inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import nn

from verifiedbook.seeds import generator, seed_of

from ..layers import standard_normal


@dataclass(frozen=True)
class PostNorm:
    """What a Post Norm stack does at its start.

    Attributes:
        gains: variance of each branch over that of the state to which it is added.
        share: what the first state brings along the identity path, as a part of the variance of
            the last.
        gradients: length of the gradient at each state over that at the last, each in units of one
            over the size of its state, so that a larger first state counts as no smaller gradient.
        likeness: mean product of the same entry of two different tokens, over the mean square, at
            each state, of states from which a norm has taken their mean.
    """

    gains: tuple[float, ...]
    share: float
    gradients: tuple[float, ...]
    likeness: tuple[float, ...]

    @property
    def predicted_share(self) -> float:
        r"""The share that follows from the gains, $\prod_k1/(1+\tau_k^2)$."""
        return float((1 / (1 + torch.tensor(self.gains, dtype=torch.float64))).prod())


def observed(
    norms: Iterable[nn.LayerNorm], run: Callable[[torch.Tensor], object], x: torch.Tensor
) -> PostNorm:
    """Run a stack on a first state and read its norms.

    Args:
        norms: of the sublayers, in the order in which they are reached; gain 1, shift 0.
        run: the stack, from the first state.
        x: first state, (batch, n, d); it must require a gradient.

    Raises:
        ValueError: no norms, or a state that requires no gradient.
    """
    norms = list(norms)
    if not norms or not x.requires_grad:
        raise ValueError(
            f"norms, x: got {len(norms)} norms, requires_grad={x.requires_grad}; accepted: at "
            "least one norm, and a state that requires a gradient"
        )
    sums: list[torch.Tensor] = []
    states = [x]

    def keep(_: nn.Module, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        sums.append(inputs[0])
        states.append(output)

    hooks = [norm.register_forward_hook(keep) for norm in norms]
    try:
        run(x)
    finally:
        for hook in hooks:
            hook.remove()
    arriving = standard_normal("gradient at the last state", *x.shape).to(x)
    back = torch.stack(torch.autograd.grad(states[-1], states, arriving))
    with torch.no_grad():
        at, added = torch.stack(states), torch.stack(sums)
        own, total = _variances(at), _variances(added)
        spread = own.mean((1, 2))
        gains = _variances(added - at[:-1]).mean((1, 2)) / spread[:-1]
        sizes = (back.pow(2).mean((1, 2, 3)) * spread).sqrt()
        share = (own[0] / total.prod(0)).mean()
    return PostNorm(
        tuple(gains.tolist()), share.item(), tuple((sizes / sizes[-1]).tolist()),
        tuple(_likeness(at).tolist()),
    )  # fmt: skip


def _variances(u: torch.Tensor) -> torch.Tensor:
    return (u - u.mean(-1, keepdim=True)).pow(2).mean(-1)


def _likeness(states: torch.Tensor) -> torch.Tensor:
    """Return the likeness of the tokens of each of several states, (states, batch, n, d)."""
    centred = states - states.mean(-1, keepdim=True)
    every = centred.sum(2).pow(2).sum((1, 2))  # products of all pairs, a token with itself too
    own = centred.pow(2).sum((1, 2, 3))
    return (every - own) / (own * (states.shape[2] - 1))


def first_state(name: str, *shape: int) -> torch.Tensor:
    """Draw independent tokens and normalise them, as a model's first norm does.

    Args:
        name: what the seed is derived from.
        shape: (batch, n, d).
    """
    x = standard_normal(name, *shape).float()
    return nn.functional.layer_norm(x, x.shape[-1:], eps=0.0).requires_grad_()


def bert_at_start(name: str, *, tokens: int = 64, common: bool = True) -> PostNorm:
    """Observe BERT's class at the size of BERT-base, as the class initialises it.

    The first state is that of its own embeddings, at random tokens of a small vocabulary.

    Args:
        name: what the seed is derived from.
        tokens: how many.
        common: whether the embedding of the token type, which all tokens share, is added.
    """
    from .hugging_face import drawn_again

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(name) % 2**63)
        bert = drawn_again(_bert())
        ids = torch.randint(1000, (1, tokens))
    if not common:
        torch.nn.init.zeros_(bert.embeddings.token_type_embeddings.weight)
    x = bert.embeddings(ids).detach().requires_grad_()
    norms = [n for each in bert.encoder.layer
             for n in (each.attention.output.LayerNorm, each.output.LayerNorm)]  # fmt: skip
    return observed(norms, bert.encoder, x)


@cache
def _bert() -> Any:
    """The class at the size of BERT-base, into whose memory every call draws weights of its own."""
    from .hugging_face import transformers, undrawn

    config = transformers.BertConfig(vocab_size=1000, attn_implementation="eager")
    return undrawn(transformers.BertModel, config, add_pooling_layer=False).requires_grad_(False)


def torch_at_start(
    name: str,
    *,
    layers: int = 6,
    d: int = 512,
    tokens: int = 64,
    activation: Callable[[torch.Tensor], torch.Tensor] = torch.nn.functional.relu,
) -> PostNorm:
    """Observe the encoder of `torch.nn.Transformer`, as that class starts, on independent tokens.

    It is like the original Transformer, and is not it: without embeddings and positions.

    Args:
        name: what the seed is derived from.
        layers, d, tokens: sizes.
        activation: of the feed-forward branches; `torch.zeros_like` takes these branches out.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(name) % 2**63)
        net = nn.Transformer(d, d // 64, layers, 0, 4 * d, dropout=0.0, batch_first=True)
    for each in net.encoder.layers:
        each.activation = activation
    net.encoder.norm = None  # a further norm after the stack, which the paper has not
    norms = [n for each in net.encoder.layers for n in (each.norm1, each.norm2)]
    return observed(norms, net.encoder, first_state(f"tokens of {name}", 1, tokens, d))


@dataclass(frozen=True)
class Original:
    """Both stacks of the original Transformer at its start."""

    encoder: PostNorm
    decoder: PostNorm


def original_at_start(
    name: str, *, tokens: int = 32, apart: bool = False, looks_back: bool = True
) -> Original:
    """Observe the original Transformer at its published size, as its authors' code starts it.

    PyTorch's class carries it: six layers of width 512 each, eight heads. Inputs and weights are
    those of tensor2tensor 1.0.3 (June 2017, ``transformer_base``): words of a shared table, times
    the root of 512, and sinusoids; in the encoder the embedding of the language to be made; in the
    decoder a causal mask. Weights are uniform with the variance 2 / (inputs + outputs), and biases
    are zero. That code draws the queries, keys and values of a layer as one matrix, and those that
    look at the encoder as one for queries and one for the rest; so their variance is smaller than
    that of square matrices. From version 1.3.0 (November 2017) on all are drawn apart.

    Args:
        name: what the seed is derived from.
        tokens: of a source and of a target sentence; their words follow Zipf's law.
        apart: whether queries, keys and values are drawn apart.
        looks_back: whether the decoder looks at the encoder; else those branches are zero.
    """
    source, d, net = generator(name), 512, _original()
    _as_in_2017(net, source, apart)
    for each in net.decoder.layers if not looks_back else ():
        each.multihead_attn.out_proj.weight.zero_()
    said, answer = (_embedded(source, tokens, d) for _ in range(2))
    language = nn.init.xavier_uniform_(torch.empty(32, d), generator=source)[0]
    answer = torch.cat([torch.zeros(1, d), answer[:-1]])  # each place is given the word before
    x, y = ((s + sinusoids(tokens, d))[None].requires_grad_() for s in (said + language, answer))
    future = torch.full((tokens, tokens), -math.inf).triu(1)
    memory = net.encoder(x).detach()
    first = [n for each in net.encoder.layers for n in (each.norm1, each.norm2)]
    then = [n for each in net.decoder.layers for n in (each.norm1, each.norm2, each.norm3)]
    return Original(
        observed(first, net.encoder, x),
        observed(then, lambda state: net.decoder(state, memory, tgt_mask=future), y),
    )


@cache
def _original() -> nn.Transformer:
    """The class at the published size, into whose memory every call draws weights of its own."""
    with torch.device("meta"):
        net = nn.Transformer(512, 8, 6, 6, 2048, dropout=0.0, batch_first=True, layer_norm_eps=1e-6)
    net.encoder.norm = net.decoder.norm = None  # after the stacks, which the paper has not
    return net.to_empty(device="cpu").requires_grad_(False)


def _as_in_2017(net: nn.Transformer, source: torch.Generator, apart: bool) -> None:
    """Draw all weights as `original_at_start` says."""
    for name, part in net.named_parameters():
        if part.dim() < 2:
            nn.init.constant_(part, float("norm" in name and name.endswith("weight")))
            continue
        blocks = [part]
        if name.endswith("in_proj_weight"):
            looks_back = "multihead" in name
            blocks = list(part.split(3 * [512] if apart else [512, 1024] if looks_back else 1536))
        for block in blocks:
            nn.init.xavier_uniform_(block, generator=source)


def _embedded(source: torch.Generator, tokens: int, d: int) -> torch.Tensor:
    """Draw a sentence, and those rows of the table that it uses, times the root of d."""
    frequency = 1 / torch.arange(1.0, 37001.0)
    words = torch.multinomial(frequency, tokens, replacement=True, generator=source)
    _, place = words.unique(return_inverse=True)
    return torch.randn(tokens, d, generator=source)[place]


def sinusoids(tokens: int, d: int) -> torch.Tensor:
    """Return the positions of the original Transformer, (tokens, d), sines before cosines.

    Args:
        tokens, d: how many positions, and how many numbers for each.

    Example:
        >>> sinusoids(3, 4)[0]
        tensor([0., 0., 1., 1.])
    """
    scales = 1e4 ** -torch.linspace(0, 1, d // 2)
    angles = torch.arange(tokens)[:, None] * scales
    return torch.cat([angles.sin(), angles.cos()], 1)
