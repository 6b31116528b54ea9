"""Gradients of the first loss: where they arrive, how large, and what float16 stores of them."""

from __future__ import annotations

import torch
from torch import nn

from .....models.normalisation import normalised
from .....seeds import generator


def mean_square_by_autograd(w: torch.Tensor) -> torch.Tensor:
    """Return the squared gradient at a feature of size 0, averaged over the labels.

    Args:
        w: one column of the table, (draws, n).

    Returns:
        (draws,).
    """
    n = w.shape[-1]
    squares = torch.zeros(len(w), dtype=w.dtype, device=w.device)
    for label in range(n):
        with torch.enable_grad():
            x = torch.zeros(len(w), 1, dtype=w.dtype, device=w.device, requires_grad=True)
            loss = torch.logsumexp(x * w, -1) - x[:, 0] * w[:, label]
            (g,) = torch.autograd.grad(loss.sum(), x)
        squares = squares + g[:, 0] ** 2 / n
    return squares


def of_the_first_loss(σ: float, n: int = 64, d: int = 32) -> dict[str, float]:
    """Return the root mean square gradients of a tied model's first loss, by place of arrival.

    Args:
        σ: standard deviation of the table's entries.
        n: number of tokens, each of which is read once but for the last.
        d: length of an embedding.
    """
    table = σ * torch.randn(n, d, generator=generator("gradients"), dtype=torch.float64)
    source, target = table[:-1].clone().requires_grad_(), table.clone().requires_grad_()
    plain, normed, after = (torch.zeros_like(source, requires_grad=True) for _ in range(3))
    stream = normalised(normalised(source) + normed) + 0 * plain
    stream = stream + normalised(source + plain) - normalised(source)
    logits = (stream + after) @ target.T
    nn.functional.cross_entropy(logits, torch.arange(1, n), reduction="sum").backward()
    leaves = {
        "features": after,
        "body on a normed stream": normed,
        "body on the raw stream": plain,
        "table as input": source,
        "table as output": target,
    }
    return {
        name: leaf.grad.square().mean().sqrt().item()
        for name, leaf in leaves.items()
        if leaf.grad is not None
    }


def vanished_at_the_output(σ: float, n: int = 5000, d: int = 256, tokens: int = 64) -> float:
    """Return the share of the entries of the table's output gradient that float16 stores as zero.

    Args:
        σ: standard deviation of the table's entries.
        n: number of tokens.
        d: length of an embedding.
        tokens: how many of them are read.
    """
    table = σ * torch.randn(n, d, generator=generator("saturated"))
    target = table.clone().requires_grad_()
    logits = normalised(table[:tokens]) @ target.T
    nn.functional.cross_entropy(logits, torch.arange(1, tokens + 1)).backward()
    assert target.grad is not None
    return (target.grad.half() == 0).double().mean().item()


def vanished_at_the_features(
    σ: float, dtype: torch.dtype = torch.float16, tokens: int = 16_384, name: str = "f16"
) -> float:
    """Return the share of the entries of the features' gradient that are stored as zero.

    Args:
        σ: standard deviation of the table's entries (n = 2048, d = 256).
        dtype: in which the gradient is stored.
        tokens: over how many the loss is averaged; 1024 of them are computed.
        name: what the table's seed is derived from.
    """
    table = σ * torch.randn(2048, 256, generator=generator(name))
    x = torch.zeros(1024, 256, requires_grad=True)
    labels = torch.arange(1024)
    (nn.functional.cross_entropy(x @ table.T, labels, reduction="sum") / tokens).backward()
    assert x.grad is not None
    return (x.grad.to(dtype) == 0).double().mean().item()


def through_the_norm(n: int, d: int, σ: float) -> float:
    """Return the mean square of an entry of an embedding's gradient, through the norm.

    Args:
        n: number of tokens.
        d: length of an embedding.
        σ: standard deviation of an entry; small, so that the logits are near 0.
    """
    made = generator("through the norm")
    table = σ * torch.randn(4096, n, d, generator=made, dtype=torch.float64)
    source = table[:, 0].clone().requires_grad_()
    logits = torch.einsum("bd,bnd->bn", normalised(source), table)
    (torch.logsumexp(logits, -1) - logits[:, 1]).sum().backward()
    assert source.grad is not None
    return source.grad.square().mean().item()


def at_the_features(n: int, d: int, σ: float) -> float:
    """Return the mean square of an entry of the features' gradient, behind the final norm.

    Args:
        n: number of tokens.
        d: length of an embedding.
        σ: standard deviation of an entry; small, so that the logits are near 0.
    """
    table = σ * torch.randn(4096, n, d, generator=generator("at the features")).double()
    features = normalised(table[:, 0]).requires_grad_()
    logits = torch.einsum("bd,bnd->bn", features, table)
    (torch.logsumexp(logits, -1) - logits[:, 1]).sum().backward()
    assert features.grad is not None
    return features.grad.square().mean().item()
