"""Attention at initialisation, drawn: logits, and gradients at a query and at its weights."""

from __future__ import annotations

import torch

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
    q, k, g = (
        torch.randn(s, generator=source) for s in ((n, 1, d), (n, T, 1 if at_logits else d), (n, T))
    )
    # a query's products with independent normal keys are independent normals of its length
    products = q.norm(dim=-1) * k[..., 0] if at_logits else (q * k).sum(-1)
    p = torch.softmax(factor * products.double(), -1)
    u = p * (g - (p * g).sum(-1, keepdim=True))
    if at_logits:
        return u.norm(dim=-1)
    return torch.einsum("nt,ntd->nd", (factor * u).float(), k).norm(dim=-1).double()
