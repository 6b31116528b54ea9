"""Axes: how one coordinate axis of a small model becomes k times as long.

A small vector x becomes x̃ = E x. Here every row of E has at most one entry: a new coordinate is a
copy of an old one, times a scale s, or it is zero. The columns of E are orthogonal, and its left
inverse is E⁺ = (EᵀE)⁻¹Eᵀ; with c copies of scale s that is Eᵀ / (c s²), the mean of the copies over
s. A linear map then grows by

    W̃ = E_out W E_in⁺,    b̃ = E_out b,    so that    W̃ x̃ + b̃ = E_out (W x + b).

What a nonlinear part of a Transformer needs of its axes decides which E they may have:

- an activation or a gate acts on coordinates alone: plain repetition (s = 1), for any activation;
- a norm sees mean and variance over the stream: under plain repetition they are unchanged, so it is
  exact with the same ε whatever ε is (with s = 1/√k, ε would have to be divided by k); an RMSNorm
  sees the mean square alone, and lets a stream grow to any width, `isometric`;
- attention splits its axis into heads: copies stay inside their head, `heads`;
- rotary embeddings turn pairs, each with a frequency of its own: a pair moves to the slot of the
  grown head that has the same frequency, and the other slots are zero, `rotary`.

What an axis does to a `Gathered` is noted down and computed later, one dimension at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import torch

_ENTRIES = 2**20  # of a large tensor, written at a time: they stay in a processor's cache


@dataclass(frozen=True)
class Gathered:
    """A large tensor W̃ = G W, gathered from a small one along some dimensions; not computed yet.

    Each entry of W̃ is one entry of W times a factor, or zero. So the factors are multiplied into
    the small tensor, in float64, rounded once, and copied: no large tensor in float64 is needed.

    Args:
        value: the small tensor, W.
        along: by dimension, counted from the front, the axis whose source and factor it takes.
        shift: a number added to W before, and taken away after: 1 for a gain stored as 1 + w.
    """

    value: torch.Tensor
    along: tuple[tuple[int, Axis], ...] = ()
    shift: float = 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the large tensor."""
        sizes = list(self.value.shape)
        for dim, axis in self.along:
            sizes[dim] = axis.source.shape[0]
        return tuple(sizes)

    def spread(self, dim: int, axis: Axis) -> Gathered:
        """The same, gathered along a further dimension."""
        return replace(self, along=(*self.along, (dim % self.value.ndim, axis)))

    def rows(self, index: torch.Tensor) -> Gathered:
        """The same, of some of the large tensor's rows alone; no others are read or made."""
        at = dict(self.along)
        if 0 in at:
            read, place = at[0].source[index].unique(return_inverse=True)
            index, at[0] = read, Axis(place, at[0].factor[index], len(read))
        value = self.value.index_select(0, index.to(self.value.device))
        return replace(self, value=value, along=tuple(at.items()))

    def block(self, number: int, part: int, parts: int, value: torch.Tensor) -> Gathered:
        """The same, of one matrix in a row of them; or of one of equal parts of its rows.

        Args:
            number: of the matrix; the row of them has not grown.
            part, parts: which part, and of how many.
            value: the small matrix, or its part.
        """
        at = dict(self.along)
        alone = float(at.pop(0).factor[number]) if 0 in at else 1.0
        new, size = self.shape[1] // parts, len(value)
        if 1 in at or alone != 1:
            axis = at.get(1) or unchanged(self.shape[1])
            rows = slice(new * part, new * (part + 1))
            at[1] = Axis(axis.source[rows] - size * part, alone * axis.factor[rows], size)
        return Gathered(value, tuple((dim - 1, axis) for dim, axis in at.items()), self.shift)

    def silent(self) -> Gathered:
        """The same with all factors zero."""
        along = self.along or ((0, unchanged(self.value.shape[0])),)
        return replace(self, along=along)._with_factors(lambda axis: torch.zeros_like(axis.factor))

    def t(self) -> Gathered:
        """The transpose of a matrix, or of each in a row of them."""
        last = self.value.ndim - 1
        swapped = {last: last - 1, last - 1: last}
        along = tuple((swapped.get(dim, dim), axis) for dim, axis in self.along)
        return replace(self, value=self.value.mT, along=along)

    def adjoint(self) -> Gathered:
        """(G⁺)ᵀ instead of G: how gradients grow where every copy counts alike."""
        along = tuple((dim, axis._adjoint) for dim, axis in self.along)
        return replace(self, along=along, shift=0.0)

    def squared(self) -> Gathered:
        """The same with squared factors: how squares of entries grow."""
        return self._with_factors(lambda axis: axis.factor.square())

    def factors(self) -> set[tuple[float, float]]:
        """By what entries are multiplied, zeros left out, here and in the adjoint; 12 digits."""
        found = {(1.0, 1.0)}
        for _, axis in self.along:
            here, there = axis.factor, axis._adjoint.factor
            kept = torch.stack([here, there], 1)[here != 0].unique(dim=0).tolist()
            found = {(_short(a * x), _short(b * y)) for a, b in found for x, y in kept}
        return found

    def rounds(self) -> bool:
        """Whether there is a shift, or a dimension with a factor that is no power of two.

        In float16 any factor but 1 counts: below 6e-5 its numbers have fewer digits, and a weight
        may well be there.
        """
        kept = [axis.factor[axis.factor != 0] for _, axis in self.along]
        if self.value.dtype == torch.float16:
            return bool(self.shift) or any(bool((factor != 1).any()) for factor in kept)
        mantissas = (torch.frexp(factor).mantissa.abs() for factor in kept)
        return bool(self.shift) or any(bool(((m - 0.5).abs() > 1e-12).any()) for m in mantissas)

    def like(self, other: Gathered) -> bool:
        """Whether another gathers in the same way."""
        one, two = dict(self.along), dict(other.along)
        return (
            self.shift == other.shift
            and one.keys() == two.keys()
            and all(
                torch.equal(one[dim].source, two[dim].source)
                and torch.allclose(one[dim].factor, two[dim].factor, rtol=1e-12, atol=0.0)
                for dim in one
            )
        )

    def of(self, value: torch.Tensor) -> Gathered:
        """The same gathering of another tensor, such as a moment of an optimiser."""
        return replace(self, value=value)

    def into(self, target: torch.Tensor) -> torch.Tensor:
        """Write the large tensor into one of its shape, each entry rounded once; return that."""
        if not self.shape:
            return target.copy_(self.value)
        device, count = self.value.device, self.shape[0]
        given = dict(self.along)
        rows_axis = given.get(0) or unchanged(count)
        at = {dim: axis for dim, axis in given.items() if dim} | {0: rows_axis}
        alike = all(axis._is_alike for axis in given.values())
        scale = self._scale(given, target.dtype) if alike else None
        few = max(1, _ENTRIES * count // max(1, target.numel()))
        for rows in torch.arange(count).split(few):
            read, place = rows_axis.source[rows].unique(return_inverse=True)
            found = self.value.index_select(0, read.to(device))
            if scale is None:
                found = found.double() + self.shift
            elif scale != 1:
                found *= scale
            if scale is None and alike:
                for dim, axis in at.items():
                    own = axis._last if dim else axis._last[read]
                    found *= _beside(own.to(device), dim, found.ndim)
                found = found if self.shift else found.to(target.dtype)
            part = target[rows[0] : rows[-1] + 1]
            for dim, axis in sorted(at.items(), reverse=True):
                source, factor = (axis.source, axis.factor) if dim else (place, axis.factor[rows])
                straight = part if not dim and found.dtype == part.dtype else None
                found = torch.index_select(found, dim, source.to(device), out=straight)
                if not alike:  # copies of one number have different factors
                    found *= _beside(factor.to(device), dim, found.ndim)
                elif axis._has_zeros:
                    found.index_fill_(dim, (factor == 0).nonzero()[:, 0].to(device), 0)
            if self.shift:
                found -= self.shift
            if found is not part:
                part.copy_(found)
        return target

    def _scale(self, given: Mapping[int, Axis], dtype: torch.dtype) -> float | None:
        """The one factor of all entries, if multiplying by it rounds no more than once."""
        numbers = [axis._numbers for axis in given.values()]
        if self.shift or self.value.dtype != dtype or any(len(each) > 1 for each in numbers):
            return None
        factors = [each[0] for each in numbers if each]
        scale, rounding = math.prod(factors), [it for it in factors if math.frexp(it)[0] != 0.5]
        fits = len(rounding) < 2 and torch.tensor(scale, dtype=dtype).item() == scale
        return scale if fits else None

    def rounded(self) -> torch.Tensor:
        """The small tensor that the large one stands for once it is rounded, in float64.

        Each entry is its last copy, rounded to the dtype it has, over the factor of that copy.
        """
        along = tuple(
            (dim, unchanged(axis.size)._with_factor(axis._last)) for dim, axis in self.along
        )
        found = replace(self, along=along).into(torch.empty_like(self.value)).double() + self.shift
        for dim, axis in along:
            found /= _beside(axis.factor.to(found), dim, found.ndim)
        return found - self.shift

    def dense(self) -> torch.Tensor:
        """The large tensor, in float64."""
        empty = torch.empty(self.shape, dtype=torch.float64, device=self.value.device)
        return self.into(empty)

    def _with_factors(self, change: Callable[[Axis], torch.Tensor]) -> Gathered:
        """The same, the factors of each dimension changed."""
        along = tuple((dim, axis._with_factor(change(axis))) for dim, axis in self.along)
        return replace(self, along=along)


T = TypeVar("T", torch.Tensor, Gathered)


@dataclass(frozen=True)
class Axis:
    """The embedding E of one axis: E[i, source[i]] = factor[i], and zero elsewhere.

    What follows from source and factor is computed once, so write to neither after the first use.

    Args:
        source: (new size,), for each new coordinate the old one that it copies.
        factor: (new size,), what the copy is multiplied by; zero where nothing is copied.
        size: number of old coordinates; each must have a copy.
    """

    source: torch.Tensor
    factor: torch.Tensor
    size: int

    def write(self, value: T, dim: int) -> T:
        """E applied along ``dim``: what a weight's output axis, a bias or a gain needs."""
        if self.size != value.shape[dim]:
            raise ValueError(f"the axis has {self.size} coordinates, the tensor {value.shape[dim]}")
        if isinstance(value, Gathered):
            return value if self._is_one else value.spread(dim, self)
        chosen = value.index_select(dim, self.source.to(value.device))
        return chosen * _beside(self.factor.to(value), dim, value.ndim)

    def read(self, value: T, dim: int) -> T:
        """E⁺ applied from the right along ``dim``: what a weight's input axis needs."""
        return self._adjoint.write(value, dim)

    def _with_factor(self, factor: torch.Tensor) -> Axis:
        """The axis of the same copies with other factors."""
        return Axis(self.source, factor, self.size)

    @cached_property
    def _adjoint(self) -> Axis:
        """The axis of (E⁺)ᵀ: the same copies, each factor over the sum of the copies' squares."""
        return self._with_factor(self.factor / self._squares[self.source])

    def over(self, other: Axis) -> Axis:
        """The axis of a gain that reads ``other`` and writes this: the quotient of the factors."""
        return self._with_factor(torch.where(other.factor == 0, 0, self.factor / other.factor))

    def keeps_means(self) -> bool:
        """Whether centring Ex is E of x centred, and the variance that of x, but for one factor."""
        share = self.size / len(self.source)
        means = share * torch.zeros(self.size, dtype=torch.float64).index_add(
            0, self.source, self.factor
        )
        squares = share * self._squares
        return torch.allclose(means, means[:1]) and torch.allclose(means.square(), squares)

    def in_blocks(self, count: int, times: int) -> Axis:
        """The same with each of ``count`` blocks, such as a head, several times in a row."""
        source, factor = (
            each.view(count, -1).repeat_interleave(times, 0).flatten()
            for each in (self.source, self.factor)
        )
        return Axis(source, factor, self.size)

    def matrix(self) -> torch.Tensor:
        """E itself, (new size, old size), in float64."""
        return self.write(torch.eye(self.size, dtype=torch.float64), 0)

    def left_inverse(self) -> torch.Tensor:
        """E⁺ itself, (old size, new size), in float64."""
        return self.read(torch.eye(self.size, dtype=torch.float64), 1)

    @cached_property
    def _last(self) -> torch.Tensor:
        """For each old coordinate the factor of its last copy; 1 where there is none."""
        kept, ones = self.factor != 0, torch.ones(self.size, dtype=torch.float64)
        return ones.index_copy(0, self.source[kept], self.factor[kept])

    @cached_property
    def _is_alike(self) -> bool:
        """Whether all copies of an old coordinate have one factor, empty ones left out."""
        same = self._last[self.source] == self.factor
        return bool((same | (self.factor == 0)).all())

    @cached_property
    def _has_zeros(self) -> bool:
        """Whether there are new coordinates that copy nothing."""
        return not bool(self.factor.all())

    @cached_property
    def _numbers(self) -> list[float]:
        """The different factors of the last copies."""
        found: list[float] = self._last.unique().tolist()
        return found

    @cached_property
    def _squares(self) -> torch.Tensor:
        """The diagonal of EᵀE: for each old coordinate the sum of the squared factors."""
        return torch.zeros(self.size, dtype=torch.float64).index_add(
            0, self.source, self.factor.square()
        )

    @cached_property
    def _is_one(self) -> bool:
        """Whether E is the identity."""
        other = len(self.source) != self.size or bool((self.factor != 1).any())
        return not other and torch.equal(self.source, torch.arange(self.size))


def _short(number: float) -> float:
    return float(f"{number:.12g}")


def _beside(vector: torch.Tensor, dim: int, ndim: int) -> torch.Tensor:
    """A vector as a tensor of some dimensions, along one of them."""
    return vector.view([-1 if place == dim % ndim else 1 for place in range(ndim)])


def unchanged(size: int) -> Axis:
    """An axis that does not grow, as the vocabulary's: E = 1."""
    return repeated(size, 1)


def repeated(size: int, k: int, *, scale: float = 1.0) -> Axis:
    """Every coordinate k times in a row: (x₁, x₂) becomes s (x₁, x₁, x₂, x₂) for k = 2."""
    return heads(1, size, k, scale=scale)


def stretched(size: int, new: int) -> Axis:
    """Every coordinate some times in a row, as evenly as ``new`` allows: for activations alone."""
    return Axis(torch.arange(new) * size // new, torch.ones(new, dtype=torch.float64), size)


def isometric(size: int, new: int, *, scale: float = 1.0) -> Axis:
    """The same, each copy by a factor that keeps every mean square: plain where all have k copies.

    Coordinate i has c copies times √(new / (c size)), so that |Ex|² / new = |x|² / size.
    """
    source = stretched(size, new).source
    copies = source.bincount()[source].double()
    return Axis(source, scale * (new / (size * copies)).sqrt(), size)


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


def by_turns(axis: Axis, count: int) -> Axis:
    """Axes that are alike, one coordinate of each in turn, as GPT-OSS's gate and up."""
    turn = torch.arange(count)
    source = (count * axis.source[:, None] + turn).flatten()
    return Axis(source, axis.factor.repeat_interleave(count), count * axis.size)


def concatenated(*parts: Axis) -> Axis:
    """Axes one after the other, as GPT-2's query, key and value, which share a weight."""
    starts = torch.tensor([0, *(part.size for part in parts)]).cumsum(0)
    sources = [part.source + start for part, start in zip(parts, starts[:-1], strict=True)]
    return Axis(torch.cat(sources), torch.cat([part.factor for part in parts]), int(starts[-1]))
