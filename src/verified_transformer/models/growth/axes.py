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
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import torch

Along = tuple[torch.Tensor, torch.Tensor]  # source and factor, of one dimension
_ENTRIES = 2**20  # of a large tensor, written at a time: they stay in a processor's cache


@dataclass(frozen=True)
class Gathered:
    """A large tensor W̃ = G W, gathered from a small one along some dimensions; not computed yet.

    Each entry of W̃ is one entry of W times a factor, or zero. So the factors are multiplied into
    the small tensor, in float64, rounded once, and copied: no large tensor in float64 is needed.

    Args:
        value: the small tensor, W.
        along: by dimension, counted from the front, what `Axis` holds: source and factor.
        shift: a number added to W before, and taken away after: 1 for a gain stored as 1 + w.
    """

    value: torch.Tensor
    along: tuple[tuple[int, Along], ...] = ()
    shift: float = 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the large tensor."""
        sizes = list(self.value.shape)
        for dim, (source, _) in self.along:
            sizes[dim] = len(source)
        return tuple(sizes)

    def spread(self, dim: int, source: torch.Tensor, factor: torch.Tensor) -> Gathered:
        """The same, gathered along a further dimension."""
        return replace(self, along=(*self.along, (dim % self.value.ndim, (source, factor))))

    def rows(self, index: torch.Tensor) -> Gathered:
        """The same, of some of the large tensor's rows alone; no others are read or made."""
        at = dict(self.along)
        if 0 in at:
            source, factor = at[0]
            read, place = source[index].unique(return_inverse=True)
            index, at[0] = read, (place, factor[index])
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
        alone = float(at.pop(0)[1][number]) if 0 in at else 1.0
        new = self.shape[1] // parts
        if 1 in at or alone != 1:
            source, factor = at.get(1, (torch.arange(self.shape[1]), torch.ones(self.shape[1])))
            rows = slice(new * part, new * (part + 1))
            at[1] = source[rows] - len(value) * part, alone * factor[rows].double()
        return Gathered(value, tuple((dim - 1, told) for dim, told in at.items()), self.shift)

    def silent(self) -> Gathered:
        """The same with all factors zero."""
        one = (0, (torch.arange(self.value.shape[0]), torch.empty(self.value.shape[0]).double()))
        along = tuple(
            (dim, (source, torch.zeros_like(factor)))
            for dim, (source, factor) in self.along or (one,)
        )
        return replace(self, along=along)

    def t(self) -> Gathered:
        """The transpose of a matrix, or of each in a row of them."""
        last = self.value.ndim - 1
        swapped = {last: last - 1, last - 1: last}
        along = tuple((swapped.get(dim, dim), told) for dim, told in self.along)
        return replace(self, value=self.value.mT, along=along)

    def adjoint(self) -> Gathered:
        """(G⁺)ᵀ instead of G: how gradients grow where every copy counts alike."""
        along = tuple(
            (dim, (source, factor / _squares(source, factor, self.value.shape[dim])[source]))
            for dim, (source, factor) in self.along
        )
        return replace(self, along=along, shift=0.0)

    def squared(self) -> Gathered:
        """The same with squared factors: how squares of entries grow."""
        along = tuple((dim, (source, factor.square())) for dim, (source, factor) in self.along)
        return replace(self, along=along)

    def factors(self) -> set[tuple[float, float]]:
        """By what entries are multiplied, zeros left out, here and in the adjoint; 12 digits."""
        found = {(1.0, 1.0)}
        for (_, (_, here)), (_, (_, there)) in zip(self.along, self.adjoint().along, strict=True):
            kept = torch.stack([here, there], 1)[here != 0].unique(dim=0).tolist()
            found = {(_short(a * x), _short(b * y)) for a, b in found for x, y in kept}
        return found

    def rounds(self) -> bool:
        """Whether there is a shift, or a dimension with a factor that is no power of two.

        In float16 any factor but 1 counts: below 6e-5 its numbers have fewer digits, and a weight
        may well be there.
        """
        kept = [factor[factor != 0] for _, (_, factor) in self.along]
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
                torch.equal(one[dim][0], two[dim][0])
                and torch.allclose(one[dim][1], two[dim][1], rtol=1e-12, atol=0.0)
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
        every = torch.arange(count), torch.ones(count, dtype=torch.float64)
        given = dict(self.along)
        at = {dim: told for dim, told in given.items() if dim} | {0: given.get(0, every)}
        owns = {dim: _own(*at[dim], self.value.shape[dim]) for dim in at if dim in given}
        alike = {dim: own for dim, own in owns.items() if own is not None}
        scale = self._scale(alike, target.dtype) if len(alike) == len(owns) else None
        few = max(1, _ENTRIES * count // max(1, target.numel()))
        for rows in torch.arange(count).split(few):
            read, place = at[0][0][rows].unique(return_inverse=True)
            found = self.value.index_select(0, read.to(device))
            if scale is None:
                found = found.double() + self.shift
            elif scale != 1:
                found *= scale
            if scale is None and len(alike) == len(owns):
                for dim, own in alike.items():
                    found *= _beside((own if dim else own[read]).to(device), dim, found.ndim)
                found = found if self.shift else found.to(target.dtype)
            part = target[rows[0] : rows[-1] + 1]
            for dim, (source, factor) in sorted(at.items(), reverse=True):
                source, factor = (source, factor) if dim else (place, factor[rows])
                straight = part if not dim and found.dtype == part.dtype else None
                found = torch.index_select(found, dim, source.to(device), out=straight)
                if len(alike) < len(owns):  # copies of one number have different factors
                    found *= _beside(factor.to(device), dim, found.ndim)
                elif not bool(factor.all()):
                    found.index_fill_(dim, (factor == 0).nonzero()[:, 0].to(device), 0)
            if self.shift:
                found -= self.shift
            if found is not part:
                part.copy_(found)
        return target

    def _scale(self, owns: Mapping[int, torch.Tensor], dtype: torch.dtype) -> float | None:
        """The one factor of all entries, if multiplying by it rounds no more than once."""
        numbers = [own.unique().tolist() for own in owns.values()]
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
        sizes = self.value.shape
        last = [(dim, _last(*told, sizes[dim])) for dim, told in self.along]
        along = tuple((dim, (torch.arange(sizes[dim]), factor)) for dim, factor in last)
        found = replace(self, along=along).into(torch.empty_like(self.value)).double() + self.shift
        for dim, factor in last:
            found /= _beside(factor.to(found), dim, found.ndim)
        return found - self.shift

    def dense(self) -> torch.Tensor:
        """The large tensor, in float64."""
        empty = torch.empty(self.shape, dtype=torch.float64, device=self.value.device)
        return self.into(empty)


T = TypeVar("T", torch.Tensor, Gathered)


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

    def write(self, value: T, dim: int) -> T:
        """E applied along ``dim``: what a weight's output axis, a bias or a gain needs."""
        return self._spread(value, dim, self.factor)

    def read(self, value: T, dim: int) -> T:
        """E⁺ applied from the right along ``dim``: what a weight's input axis needs."""
        return self._spread(value, dim, self.factor / self._squares()[self.source])

    def over(self, other: Axis) -> Axis:
        """The axis of a gain that reads ``other`` and writes this: the quotient of the factors."""
        factor = torch.where(other.factor == 0, 0, self.factor / other.factor)
        return Axis(self.source, factor, self.size)

    def keeps_means(self) -> bool:
        """Whether centring Ex is E of x centred, and the variance that of x, but for one factor."""
        share = self.size / len(self.source)
        means = share * torch.zeros(self.size).double().index_add(0, self.source, self.factor)
        squares = share * self._squares()
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

    def _squares(self) -> torch.Tensor:
        return _squares(self.source, self.factor, self.size)

    def _spread(self, value: T, dim: int, factor: torch.Tensor) -> T:
        if self.size != value.shape[dim]:
            raise ValueError(f"the axis has {self.size} coordinates, the tensor {value.shape[dim]}")
        if isinstance(value, Gathered):
            same = len(self.source) == self.size and bool((factor == 1).all())
            same = same and torch.equal(self.source, torch.arange(self.size))
            return value if same else value.spread(dim, self.source, factor)
        chosen = value.index_select(dim, self.source.to(value.device))
        return chosen * _beside(factor.to(value), dim, value.ndim)


def _short(number: float) -> float:
    return float(f"{number:.12g}")


def _squares(source: torch.Tensor, factor: torch.Tensor, size: int) -> torch.Tensor:
    """The diagonal of EᵀE: for each old coordinate the sum of the squared factors."""
    return torch.zeros(size).double().index_add(0, source, factor.square())


def _own(source: torch.Tensor, factor: torch.Tensor, size: int) -> torch.Tensor | None:
    """For each old coordinate the factor of its copies; None where they have different ones."""
    kept = factor != 0
    source, factor = source[kept], factor[kept]
    own = torch.ones(size, dtype=torch.float64).index_copy(0, source, factor)
    return own if torch.equal(own[source], factor) else None


def _last(source: torch.Tensor, factor: torch.Tensor, size: int) -> torch.Tensor:
    """For each old coordinate the factor of its last copy; 1 where there is none."""
    kept = factor != 0
    return torch.ones(size, dtype=torch.float64).index_copy(0, source[kept], factor[kept])


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
