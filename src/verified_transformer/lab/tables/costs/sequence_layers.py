"""Layers for sequences: which positions see which, and how long the chain of products is."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from ....seeds import generator, seed_of

WIDTH = 8
Layer = Callable[[torch.Tensor], torch.Tensor]


def random(*shape: int, name: str = "background") -> torch.Tensor:
    """Draw standard normal numbers in double precision, with the seed of a name."""
    return torch.randn(*shape, dtype=torch.float64, generator=generator(name))


def seeded(build: Callable[[], Any]) -> Any:
    """Build a module with a fixed seed, in double precision and evaluation mode."""
    return seeded_as("layer", build)


def seeded_as(name: str, build: Callable[[], Any]) -> Any:
    """Build a module with the seed of a name, in double precision and evaluation mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(name) % 2**63)
        return build().double().eval()


def causal_mask(length: int) -> torch.Tensor:
    """Return the mask that hides later positions, (length, length)."""
    return nn.Transformer.generate_square_subsequent_mask(length, dtype=torch.float64)


def sees(function: Layer, positions: int) -> torch.Tensor:
    """Return which output positions depend on which input positions, by their derivatives.

    Args:
        function: (1, positions, 8) to (1, outputs, 8).
        positions: of the input.

    Returns:
        (outputs, positions), booleans.
    """
    x = random(1, positions, WIDTH, name="input").requires_grad_()
    out = function(x) @ random(WIDTH, name="direction")
    found = [torch.autograd.grad(y, x, retain_graph=True, allow_unused=True)[0] for y in out[0]]
    slopes = [torch.zeros_like(x) if slope is None else slope for slope in found]
    return torch.stack([(slope[0].abs() > 1e-12).any(-1) for slope in slopes])


def chain(output: torch.Tensor) -> int:
    """Return how many matrix products the longest path of calls holds that wait for each other."""
    longest: dict[Any, int] = {None: 0}
    stack: list[Any] = [output.grad_fn]
    while stack:
        node = stack[-1]
        before = [parent for parent, _ in node.next_functions]
        missing = [parent for parent in before if parent not in longest]
        if missing:
            stack += missing
            continue
        product = re.search(r"mm|Linear|Convolution|Attention", node.name())
        longest[stack.pop()] = bool(product) + max((longest[p] for p in before), default=0)
    return longest[output.grad_fn]


def chain_growth(layer: Layer, few: int = 5, many: int = 13) -> Fraction:
    """Return how many products each further token adds to the chain.

    Args:
        layer: of (1, tokens, 8).
        few, many: two lengths that are compared.
    """
    lengths = (few, many)
    chains = [chain(layer(random(1, tokens, WIDTH).requires_grad_())) for tokens in lengths]
    return Fraction(chains[1] - chains[0], many - few)


def chain_over(layer: Layer, tokens: int) -> int:
    """Return how many products of a layer wait for each other when a text is given.

    Args:
        layer: of (1, tokens, 8).
        tokens: length of the text.
    """
    return chain(layer(random(1, tokens, WIDTH).requires_grad_()))


def added_by_next(layer: Any, tokens: int, *, given: bool) -> int:
    """Return by how many products one more token lengthens the chain.

    Args:
        layer: an encoder layer.
        tokens: that there are already.
        given: whether the text is there beforehand, or each token is the output for the last.
    """
    lengths = (tokens + 1, tokens)
    longer, before = (
        chain_over(layer, T) if given else chain(generated(layer, T)) for T in lengths
    )
    return longer - before


class ReadsNeighbour(nn.Linear):
    """A dense layer that adds what it makes of the position before."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(…, T, d) to (…, T, n)."""
        return super().forward(x) + super().forward(x.roll(1, dims=1))


def recurrent(cell: nn.Module) -> Layer:
    """Return the recurrence of a cell of torch over (1, T, 8); it gives the last state."""

    def run(x: torch.Tensor) -> torch.Tensor:
        state = None
        for token in x[0]:
            state = cell(token[None], state)
        assert state is not None, "an empty sequence"
        return state[0]

    return run


def entry_by_entry(x: torch.Tensor) -> torch.Tensor:
    """A recurrence in which the state meets no matrix, over (1, T, 8)."""
    gates = torch.sigmoid(x[0] @ random(WIDTH, WIDTH))
    state = torch.zeros(WIDTH, dtype=torch.float64)
    for gate, new in zip(gates, x[0] @ random(WIDTH, WIDTH, name="new"), strict=True):
        state = gate * state + (1 - gate) * new
    return state


def convolution(x: torch.Tensor, reach: int = 1) -> torch.Tensor:
    """A convolution with windows of three: a position, and those at a distance of ``reach``.

    Args:
        x: (1, T, 8).
        reach: the distance.

    Returns:
        (1, 8, T).
    """
    window = seeded(lambda: nn.Conv1d(WIDTH, WIDTH, 3, padding=1))
    return F.conv1d(x.mT, window.weight, window.bias, padding=reach, dilation=reach)


def wide_window(x: torch.Tensor) -> torch.Tensor:
    """One convolution whose window holds the whole sequence from every position.

    Args:
        x: (1, T, 8).

    Returns:
        (1, T, 8).
    """
    tokens = x.shape[1]
    window = seeded(lambda: nn.Conv1d(WIDTH, WIDTH, 2 * tokens - 1, padding=tokens - 1))
    return window(x.mT).mT


def layers_until_connected(tokens: int, *, doubling: bool = False) -> int:
    """Return after how many convolutions the last position depends on the first.

    Args:
        tokens: length of the sequence.
        doubling: whether each layer's windows reach twice as far as the last one's.
    """
    x = y = random(1, tokens, WIDTH, name="input").requires_grad_()
    for layers in range(tokens + 1):
        y = torch.tanh(convolution(y, reach=2**layers if doubling else 1).mT)
        slope = torch.autograd.grad(y[0, -1].sum(), x, retain_graph=True)[0]
        if bool((slope[0, 0] != 0).any()):
            return layers + 1
    raise ArithmeticError(f"tokens: {tokens} positions are not connected by as many layers")


def generated(layer: nn.Module, tokens: int) -> torch.Tensor:
    """Return (1, tokens, 8) in which a causal layer's last state is the next token's input."""
    text = random(1, 1, WIDTH).requires_grad_()
    for length in range(1, tokens):
        text = torch.cat([text, layer(text, src_mask=causal_mask(length))[:, -1:]], dim=1)
    return text
