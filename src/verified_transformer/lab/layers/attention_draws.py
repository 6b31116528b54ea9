"""Attention at initialisation, drawn: logits, and gradients at a query and at its weights."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from ...seeds import generator


def query_gradients(
    T: int, d: int, factor: float, n: int, name: str = "query", *, at_logits: bool = False
) -> torch.Tensor:
    """Draw the length of the gradient at a query or its logits, for variance 1 at the weights.

    Args:
        T: number of keys.
        d: size of query and keys.
        factor: what the logits are multiplied by; the draws do not depend on it.
        n: independent draws.
        name: what the seed is derived from, with T and d.
        at_logits: before the factor, and before the keys, in place of at the query.

    Returns:
        Lengths, (n,), float64.
    """
    source = generator(f"{name} {T} {d}")
    q, k, g = (torch.randn(s, generator=source) for s in ((n, 1, d), (n, T, d), (n, T)))
    p = torch.softmax(factor * (q * k).sum(-1).double(), -1)
    u = p * (g - (p * g).sum(-1, keepdim=True))
    if at_logits:
        return u.norm(dim=-1)
    return torch.einsum("nt,ntd->nd", (factor * u).float(), k).norm(dim=-1).double()


def gradients_undivided_over_divided(
    T: int, d: int, *, at_logits: bool = False
) -> tuple[float, float]:
    """Return the gradient at a query without the division over that with it.

    Args:
        T: number of keys.
        d: size of query and keys.
        at_logits: before the factor, and before the keys, in place of at the query.

    Returns:
        The ratio of the medians of the lengths, and that of their root mean squares, over as many
        draws as a moment allows, 4000 at most.
    """
    n = min(4000, 40_000_000 // (T * d))
    plain, divided = (
        query_gradients(T, d, factor, n, at_logits=at_logits) for factor in (1, d**-0.5)
    )
    square = (plain.square().mean() / divided.square().mean()).sqrt()
    return (plain.median() / divided.median()).item(), square.item()


def weight_gradients(
    T: int, d: int, factor: float, *, draws: int = 15, inputs: int = 64, name: str = "layer"
) -> torch.Tensor:
    """Draw the length of the gradient at the query's weight matrix, in PyTorch's attention.

    Args:
        T: tokens of a sequence.
        d: size of query and keys.
        factor: what the logits are multiplied by; the draws do not depend on it.
        draws: independent layers, each with inputs of its own.
        inputs: size of a token's state.
        name: what the seed is derived from, with T, d and the draw.

    Returns:
        Lengths, (draws,).
    """
    lengths = []
    for draw in range(draws):
        source = generator(f"{name} {T} {d} {draw}")
        x, up = (torch.randn(T, size, generator=source) for size in (inputs, d))
        w, v, u = (torch.randn(inputs, d, generator=source) / inputs**0.5 for _ in range(3))
        w.requires_grad_()
        q, k, values = ((x @ part)[None] for part in (w, v, u))
        out = F.scaled_dot_product_attention(q, k, values, scale=factor)
        lengths.append(torch.autograd.grad((out[0] * up).sum(), w)[0].norm())
    return torch.stack(lengths)


def median_ratio(
    T: int, d: int, factor: float, name: str = "query", *, n: int | None = None,
    at_logits: bool = False,
) -> float:  # fmt: skip
    r"""Return the median gradient at a query with a factor over that with $1/\sqrt d$.

    Args:
        T: number of keys.
        d: size of query and keys.
        factor: what the logits are multiplied by.
        name: what the seed is derived from.
        n: independent draws; by default as many as a moment allows, 3000 at most. Fewer keys need
            more: the median of 300 draws of two keys may be half or twice that of another 300.
        at_logits: before the factor, and before the keys, in place of at the query.
    """
    n = n or min(3000, 10_000_000 // (T * d))
    one, divided = (
        query_gradients(T, d, c, n, name, at_logits=at_logits).median() for c in (factor, d**-0.5)
    )
    return float(one / divided)
