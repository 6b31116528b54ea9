r"""Layers at initialisation: dense and residual stacks, moments after activations, attention.

A residual stack takes $x_t$ to $x_{t+1}=x_t+F_t(x_t)$. Post Norm normalises the sum, Pre Norm what
enters the branch; Norm divides by the root mean square.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from scipy import special
from torch import nn

from verifiedbook.exact.formulas.evaluation import quadrature
from verifiedbook.seeds import generator, seed_of
from weightwise.normalisation import normalised


def standard_normal(name: str, *shape: int) -> torch.Tensor:
    """Draw standard normal entries in float64, the same for the same name and shape.

    Args:
        name: what is drawn, in words; the seed is derived from it.
        shape: sizes.
    """
    return torch.randn(*shape, generator=generator(name), dtype=torch.float64)


def dense_weights(name: str, *shape: int) -> torch.Tensor:
    """Draw normal weights of mean 0 and variance one over the last axis, in float64.

    Args:
        name: what is drawn, in words; the seed is derived from it.
        shape: sizes; a layer's inputs last, or both sizes alike.

    Raises:
        ValueError: no shape.

    Example:
        >>> dense_weights("a square layer", 5, 5).shape
        torch.Size([5, 5])
    """
    if not shape:
        raise ValueError("shape: got none; accepted: at least one size")
    return standard_normal(name, *shape) / shape[-1] ** 0.5


# ----------------------------------------------------------------------- activations, by quadrature
# The function is whatever torch can compute.

Function = Callable[[torch.Tensor], torch.Tensor]
_nodes, _heights = (torch.from_numpy(a) for a in np.polynomial.legendre.leggauss(256))
_grid = torch.cat([6 * _nodes - 6, 6 * _nodes + 6])  # two half lines: some functions have a kink
_mass = torch.cat([6 * _heights] * 2) * torch.exp(-(_grid**2) / 2) / (2 * torch.pi) ** 0.5


def gaussian_average(f: Function) -> float:
    r"""Return $\mathbb{E}f(z)$ for standard normal $z$.

    Args:
        f: of a float64 tensor, entry by entry; it may have a kink at 0 and nowhere else.

    Example:
        >>> round(gaussian_average(torch.square), 12)
        1.0
    """
    return float((_mass * f(_grid)).sum())


def gain(f: Function, scale: float) -> float:
    r"""Return the second moment after an activation over the one before, $\sigma^2$.

    Args:
        f: the activation.
        scale: standard deviation of the normal pre-activation, positive.
    """
    if not scale > 0:
        raise ValueError(f"scale: got {scale}; accepted: a positive number")
    return gaussian_average(lambda z: f(scale * z) ** 2) / scale**2


def deep_moment(f: Function, weights: float = 1.0, q: float = 1.0, layers: int = 60) -> float:
    """Return the second moment after many wide layers.

    Args:
        f: the activation.
        weights: the weights' variance, in units of one over the fan-in.
        q: second moment of the input.
        layers: how many.
    """
    for _ in range(layers):
        q = weights * q * gain(f, (weights * q) ** 0.5)
    return q


# ------------------------------------------------------------------------------ residual stacks

SCHEMES = ("plain", "post", "pre")
Branch = Callable[[torch.Tensor, Any], torch.Tensor]


def linear_branch(u: torch.Tensor, W: torch.Tensor) -> torch.Tensor:
    """Return the product of a matrix and a vector, for each replicate.

    Args:
        u: (…, d).
        W: (…, d, d), outputs first.
    """
    return torch.einsum("...ij,...j->...i", W, u)


def relu_branch(u: torch.Tensor, weights: Iterable[torch.Tensor]) -> torch.Tensor:
    r"""Return two dense layers with a relu between them, whose gain of $\sqrt2$ keeps the size.

    Args:
        u: (…, n, d).
        weights: the two matrices, (…, d, h) and (…, h, d).
    """
    first, second = weights
    return torch.relu(u @ first) * 2**0.5 @ second


def residual_states(
    x: torch.Tensor,
    weights: Iterable[Any],
    scheme: str = "plain",
    branch: Branch = linear_branch,
    *,
    factor: float | Iterable[Any] = 1.0,
) -> list[torch.Tensor]:
    """Return the states of a residual stack, the input first.

    Args:
        x: the input, (…, d).
        weights: what each branch is given, one sublayer after the other.
        scheme: ``"plain"``, ``"post"`` or ``"pre"``.
        branch: function of a state and a sublayer's weights.
        factor: what each branch is multiplied by: one number, or one for each sublayer.

    Raises:
        ValueError: another scheme.

    Example:
        >>> [s.item() for s in residual_states(torch.ones(1), torch.ones(3, 1, 1))]
        [1.0, 2.0, 4.0, 8.0]
    """
    if scheme not in SCHEMES:
        raise ValueError(f"scheme: got {scheme!r}; accepted: {', '.join(SCHEMES)}")
    weights = list(weights)
    factors = [factor] * len(weights) if isinstance(factor, int | float) else list(factor)
    states = [x]
    for w, each in zip(weights, factors, strict=True):
        x = x + each * branch(normalised(x) if scheme == "pre" else x, w)
        if scheme == "post":
            x = normalised(x)
        states.append(x)
    return states


def encoder_layer(norm_first: bool, width: int = 8) -> nn.TransformerEncoderLayer:
    """Return PyTorch's own layer, two heads, as it is initialised, in float64, without ε.

    Args:
        norm_first: PyTorch's switch between Post Norm and Pre Norm.
        width: of the states; even.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of("encoder layer") % 2**63)
        return nn.TransformerEncoderLayer(
            width, 2, 16, dropout=0.0, layer_norm_eps=0.0, batch_first=True, norm_first=norm_first
        ).double()


# ------------------------------------------------------------------------------ attention
# Given the query, of length r, the logits are independent normal numbers of standard deviation r;
# what is left is an integral over the law of r, a chi law of d degrees.

Number = TypeVar("Number", float, np.ndarray)


def length_density(r: Number, d: int) -> Number:
    """Return the density of the length of a standard normal vector.

    Args:
        r: lengths, positive.
        d: the vector's size.
    """
    _refuse_sizes(d=d)
    return np.exp((d - 1) * np.log(r) - r * r / 2 - (d / 2 - 1) * math.log(2) - math.lgamma(d / 2))


def mean_of_largest(T: int) -> float:
    """Return the mean of the largest of T independent standard normal numbers.

    Args:
        T: how many.

    Example:
        >>> round(mean_of_largest(2) * math.sqrt(math.pi), 12)
        1.0
    """
    _refuse_sizes(T=T)

    def beyond(x: np.ndarray) -> np.ndarray:  # the chance of a larger one, less that below -x
        return 1 - special.ndtr(x) ** T - special.ndtr(-x) ** T

    return quadrature(beyond, 0, 13).value


def _refuse_sizes(**sizes: float) -> None:
    for name, size in sizes.items():
        if not size > 0:
            raise ValueError(f"{name}: got {size}; accepted: a positive number")


def query_gradients(
    T: int,
    d: int,
    factor: float | Sequence[float],
    n: int,
    name: str = "query",
    *,
    at_logits: bool = False,
) -> torch.Tensor:
    """Draw the length of the gradient at a query or its logits, for variance 1 at the weights.

    Args:
        T: number of keys.
        d: size of query and keys.
        factor: what the logits are multiplied by, or several such numbers, for the same draws.
        n: independent draws.
        name: what the seed is derived from, with T and d.
        at_logits: before the factor, and before the keys, in place of at the query.

    Returns:
        Lengths, (n,), or (factors, n) for several factors, float64.
    """
    source = generator(f"{name} {T} {d}")
    q, k, g = (
        torch.randn(s, generator=source) for s in ((n, 1, d), (n, T, 1 if at_logits else d), (n, T))
    )
    # a query's products with independent normal keys are independent normals of its length
    products = q.norm(dim=-1) * k[..., 0] if at_logits else (q * k).sum(-1)
    c = torch.as_tensor(factor, dtype=torch.float64)[..., None, None]
    p = torch.softmax(c * products.double(), -1)
    u = p * (g - (p * g).sum(-1, keepdim=True))
    if at_logits:
        return u.norm(dim=-1)
    return torch.einsum("...nt,ntd->...nd", (c * u).float(), k).norm(dim=-1).double()
