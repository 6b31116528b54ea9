"""Entries of composed tables, drawn: their second and fourth powers, and how they answer a step."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ....exact.formulas.notation import symbols
from ....exact.laws import Uniform
from ....exact.moments import Tensor
from ....sampling.quantities import Sampled
from ....seeds import generator
from .shapes import row_of, train_entry

_n, _d, _k, _q, _r, _σ, _τ = symbols("n d k q r sigma tau")
_DRAWN: dict[str, dict[str, tuple[Any, ...]]] = {
    "low-rank": {"codes": (_n, _r), "basis": (_r, _d)},
    "product": {"w": (_k, _r, _q)},
}


def _low_rank_square(codes: torch.Tensor, basis: torch.Tensor) -> torch.Tensor:
    return (codes @ basis).square().mean((-2, -1))


def _row_square(w: torch.Tensor) -> torch.Tensor:
    return row_of(w).square().mean(-1)


_SQUARES: dict[str, Callable[..., torch.Tensor]] = {
    "low-rank": _low_rank_square, "product": _row_square,
}  # fmt: skip


def squared_entry(family: str) -> Sampled:
    """Return the mean square of a composed table's entries, from uniform factors.

    Args:
        family: ``"low-rank"`` or ``"product"`` (own factors or shared ones).

    Raises:
        ValueError: another family.

    Example:
        >>> squared_entry("product").quantity
        'mean square of the entries, product'
    """
    if family not in _DRAWN:
        raise ValueError(f"family: got {family!r}; accepted: {', '.join(_DRAWN)}")
    tensors = {
        name: Tensor(name, Uniform.of_variance((_τ if name == "basis" else _σ) ** 2), *shape)
        for name, shape in _DRAWN[family].items()
    }
    return Sampled(f"mean square of the entries, {family}", tensors, _SQUARES[family])


def standardised_product(w: torch.Tensor, point: Mapping[Any, Any]) -> torch.Tensor:
    """Return entries of sums of r products of k factors (…, k, r), in standard deviations.

    Args:
        w: the factors.
        point: gives r and the factors' σ.
    """
    return w.prod(-2).sum(-1) / (point[_r] ** 0.5 * point[_σ] ** w.shape[-2])


def standardised_train(w: torch.Tensor, point: Mapping[Any, Any]) -> torch.Tensor:
    """Return entries of trains of k slices (…, k, r, r), in standard deviations.

    Args:
        w: the slices.
        point: gives r and the cores' σ.
    """
    count = w.shape[-3]
    return train_entry(w) / (point[_r] ** ((count - 1) / 2) * point[_σ] ** count)


def fourth_power(family: str, law: Any, count: Any) -> Sampled:
    """Return the fourth power of an entry in standard deviations, whose mean is the kurtosis.

    Args:
        family: ``"product"`` or ``"train"``.
        law: of the entries of the factors.
        count: of factors; a number or a symbol.

    Raises:
        ValueError: another family.

    Example:
        >>> from verified_transformer import Normal
        >>> fourth_power("product", Normal(0, 1), 2).quantity
        'fourth power of an entry, product'
    """
    if family not in ("product", "train"):
        raise ValueError(f"family: got {family!r}; accepted: 'product', 'train'")
    shape: tuple[Any, ...] = (count, _r) if family == "product" else (count, _r, _r)
    entry = standardised_product if family == "product" else standardised_train

    def power(w: torch.Tensor, point: Mapping[Any, Any]) -> torch.Tensor:
        return entry(w, point) ** 4

    tensors = {"w": Tensor("w", law, *shape)}
    return Sampled(f"fourth power of an entry, {family}", tensors, power, replicates=1 << 14)


def squared_gradients(table: torch.nn.Module, entries: int) -> tuple[float, float]:
    """Return the mean square of a table's entries, and that of their gradients by all parameters.

    Args:
        table: a module that maps tokens to rows, and has `num_embeddings`.
        entries: how many are taken, each from another token, in turn from all places.

    Returns:
        Mean of W², mean of the sum of squares of W's derivatives.
    """
    parameters = list(table.parameters())
    count: int = table.num_embeddings  # type: ignore[assignment]  # as `nn.Embedding` has it
    squares = gradients = 0.0
    for number in range(entries):
        row = table(torch.tensor([number * 7919 % count]))[0]
        entry = row[number % len(row)]
        squares += entry.item() ** 2
        found = torch.autograd.grad(entry, parameters)
        gradients += sum(slope.square().sum().item() for slope in found)
    return squares / entries, gradients / entries


def drawn_kurtosis(
    family: str, count: int, ranks: Sequence[int], numbers: int = 6_000_000
) -> list[tuple[int, float, float]]:
    """Return the kurtosis of drawn entries, of normal factors, with its standard error.

    Args:
        family: ``"product"`` or ``"train"``.
        count: of factors.
        ranks: at which entries are drawn.
        numbers: drawn at each rank.

    Returns:
        Rank, mean fourth power and standard error, for each rank.

    Example:
        >>> [(rank, error < 1) for rank, _, error in drawn_kurtosis("product", 2, [3], 60_000)]
        [(3, True)]
    """
    source, found = generator(f"tails of composed entries, {family}"), []
    for rank in ranks:
        shape = (count, rank) if family == "product" else (count, rank, rank)
        draws = numbers // math.prod(shape)
        w = torch.randn(draws, *shape, generator=source, dtype=torch.float64)
        entry = standardised_product if family == "product" else standardised_train
        values = entry(w, {_r: float(rank), _σ: 1.0}) ** 4
        found.append((rank, values.mean().item(), values.std().item() / draws**0.5))
    return found
