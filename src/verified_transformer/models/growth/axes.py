"""Axes: how one coordinate axis of a small model becomes k times as long.

A small vector x becomes x̃ = E x. Here every row of E has at most one entry: a new coordinate is a
copy of an old one, times a scale s, or it is zero. The columns of E are orthogonal, and its left
inverse is E⁺ = (EᵀE)⁻¹Eᵀ; with c copies of scale s that is Eᵀ / (c s²), the mean of the copies over
s. A linear map then grows by

    W̃ = E_out W E_in⁺,    b̃ = E_out b,    so that    W̃ x̃ + b̃ = E_out (W x + b).

What a nonlinear part of a Transformer needs of its axes decides which E they may have:

- an activation or a gate acts on coordinates alone: plain repetition (s = 1), for any activation;
- a norm sees mean and variance over the stream: under plain repetition they are unchanged, so it is
  exact with the same ε whatever ε is (with s = 1/√k, ε would have to be divided by k);
- attention splits its axis into heads: copies stay inside their head, `heads`;
- rotary embeddings turn pairs, each with a frequency of its own: a pair moves to the slot of the
  grown head that has the same frequency, and the other slots are zero, `rotary`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Axis:
    """The embedding E of one axis: E[i, source[i]] = factor[i], and zero elsewhere.

    Args:
        source: (new size,), for each new coordinate the old one that it copies.
        factor: (new size,), what the copy is multiplied by; zero where nothing is copied.
        size: number of old coordinates; each must have a copy.
    """

    source: torch.Tensor
    factor: torch.Tensor
    size: int

    def write(self, value: torch.Tensor, dim: int) -> torch.Tensor:
        """E applied along ``dim``: what a weight's output axis, a bias or a gain needs."""
        return self._spread(value, dim, self.factor)

    def read(self, value: torch.Tensor, dim: int) -> torch.Tensor:
        """E⁺ applied from the right along ``dim``: what a weight's input axis needs."""
        squares = torch.zeros(self.size).double().index_add(0, self.source, self.factor.square())
        return self._spread(value, dim, self.factor / squares[self.source])

    def matrix(self) -> torch.Tensor:
        """E itself, (new size, old size), in float64."""
        return self.write(torch.eye(self.size, dtype=torch.float64), 0)

    def left_inverse(self) -> torch.Tensor:
        """E⁺ itself, (old size, new size), in float64."""
        return self.read(torch.eye(self.size, dtype=torch.float64), 1)

    def _spread(self, value: torch.Tensor, dim: int, factor: torch.Tensor) -> torch.Tensor:
        shape = [1] * value.ndim
        shape[dim] = -1
        chosen = value.index_select(dim, self.source.to(value.device))
        return chosen * factor.to(value).view(shape)


def unchanged(size: int) -> Axis:
    """An axis that does not grow, as the vocabulary's: E = 1."""
    return repeated(size, 1)


def repeated(size: int, k: int, *, scale: float = 1.0) -> Axis:
    """Every coordinate k times in a row: (x₁, x₂) becomes s (x₁, x₁, x₂, x₂) for k = 2."""
    return heads(1, size, k, scale=scale)


def heads(count: int, size: int, k: int, *, scale: float = 1.0) -> Axis:
    """Repetition inside each of ``count`` heads of ``size`` coordinates.

    Head h of the grown model holds copies of head h alone. Tiling the whole axis would mix heads;
    repeating each coordinate where it stands keeps them apart.
    """
    source = torch.arange(count * size).repeat_interleave(k)
    return Axis(source, torch.full((len(source),), scale, dtype=torch.float64), count * size)


def rotary(count: int, size: int, k: int, *, layout: str, scale: float = 1.0) -> Axis:
    """Each rotary pair to the slot of the grown head that turns at the same speed.

    Pair i of a head of ``size`` coordinates turns by θ^(-2i / size) at each position. The grown
    head has k times as many pairs; its pair j turns by θ^(-2j / (k size)). So pair i goes to slot
    j = k i, and the slots between stay zero.

    Args:
        count: number of heads.
        size: coordinates of a head; even.
        k: factor of growth.
        layout: "halves" where pair i is (i, i + size/2), as in Llama; "interleaved" where it is
            (2i, 2i + 1), as in RoFormer.
        scale: the factor on every coordinate.

    Raises:
        ValueError: ``size`` is odd, or ``layout`` is unknown.
    """
    if size % 2:
        raise ValueError(f"size: got {size}; accepted: an even number of coordinates")
    if layout not in ("halves", "interleaved"):
        raise ValueError(f"layout: got {layout!r}; accepted: 'halves', 'interleaved'")
    old = torch.arange(count * size)
    # the second half of a head goes to k·size/2 + k (i - size/2), which is k i as well
    slot = k * old if layout == "halves" else 2 * k * (old // 2) + old % 2
    source = torch.zeros(k * len(old), dtype=torch.long).index_copy(0, slot, old)
    factor = torch.zeros(k * len(old), dtype=torch.float64).index_fill(0, slot, scale)
    return Axis(source, factor, len(old))


def concatenated(*parts: Axis) -> Axis:
    """Axes one after the other, as GPT-2's query, key and value, which share a weight."""
    starts = torch.tensor([0, *(part.size for part in parts)]).cumsum(0)
    sources = [part.source + start for part, start in zip(parts, starts[:-1], strict=True)]
    return Axis(torch.cat(sources), torch.cat([part.factor for part in parts]), int(starts[-1]))
