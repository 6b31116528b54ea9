"""Rules by module role: how the parameters of one kind of module grow.

A description gives each module a `Row`: its rule, the axis it reads and the axis it writes. Every
rule keeps one promise, which `compare` tests: if the input is E_reads x, the output is E_writes y.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import torch

from .axes import Axis, Gathered

Axes = Mapping[str, Axis]


class Row(NamedTuple):
    """What a description says of one module.

    ``rule`` is a key of `RULES`; ``writes`` and ``reads`` name axes. A table reads none.
    """

    rule: str
    writes: str
    reads: str | None = None


class Part(NamedTuple):
    """One parameter or table of a small model, with what a rule may need.

    ``leaf`` is its name in its module; ``value``, a tensor or, so that nothing large is computed
    yet, a `Gathered`; ``own``, what the grown class made in its place.
    """

    leaf: str
    value: Any
    writes: Axis
    reads: Axis | None
    own: torch.Tensor


def linear(part: Part) -> Any:
    """nn.Linear: W̃ = E_out W E_in⁺, b̃ = E_out b. Experts side by side are one dimension more."""
    if part.leaf.endswith("bias"):
        return part.writes.write(part.value, -1)
    assert part.reads is not None  # the Row of a linear map names what it reads
    return part.reads.read(part.writes.write(part.value, -2), -1)


def transposed(part: Part) -> Any:
    """GPT-2's Conv1D: a linear map whose weight is stored (in, out)."""
    if part.leaf.endswith("bias"):
        return linear(part)
    return linear(part._replace(value=part.value.t())).t()


def convolution(part: Part) -> Any:
    """A convolution whose inputs, the channels of a picture, do not grow."""
    return part.writes.write(part.value, 0)


def embedding(part: Part) -> Any:
    """A table of vectors, one in a row: each becomes E of itself."""
    return part.writes.write(part.value, -1)


def norm(part: Part) -> Any:
    """LayerNorm or RMSNorm, the same ε: γ̃ = E_out γ / E_in coordinate by coordinate, β̃ = E_out β.

    What comes in must have the small vector's mean square: a plainly repeated axis, or rotary slots
    with the scale √k. (A LayerNorm needs its mean too: repetition alone.)
    """
    if part.leaf == "bias" or part.reads is None:
        return part.writes.write(part.value, 0)
    return part.writes.over(part.reads).write(part.value, 0)


def shifted_norm(part: Part) -> Any:
    """Gemma's RMSNorm, whose gain is 1 + w: what grows is 1 + w."""
    return norm(part._replace(value=replace(part.value, shift=1.0)))


def kept(part: Part) -> Any:
    """What belongs to tokens or to whole heads: unchanged."""
    return part.value


def frequencies(part: Part) -> Gathered:
    """A table over rotary slots: the class's own, which holds the small one at the slots k i.

    Raises:
        ValueError: it does not, because these frequencies are no function of 2i / head size alone.
    """
    value = part.value.value
    k = part.own.shape[-1] // value.shape[-1]
    placed = part.own.to(value.dtype).clone()
    if not (placed.is_meta or value.is_meta):
        if not torch.allclose(placed[..., ::k], value, rtol=1e-5, atol=1e-6):
            raise ValueError(
                "the grown head has no slots that turn at the small one's frequencies (section 4.5)"
            )
        placed[..., ::k] = value
    return Gathered(placed)


def own(part: Part) -> Gathered:
    """A number that the class computes from its width, and that the axes take into account."""
    return Gathered(part.own)


RULES: dict[str, Callable[[Part], Any]] = {
    "linear": linear,
    "transposed": transposed,
    "convolution": convolution,
    "embedding": embedding,
    "norm": norm,
    "shifted norm": shifted_norm,
    "kept": kept,
    "frequencies": frequencies,
    "own": own,
}


def unseen(change: torch.Tensor, row: Row, axes: Axes) -> torch.Tensor:
    """The share of a change of a linear map's weight that leaves the model's function alone.

    What comes in is E x for some x, so that N (1 - E E⁺) adds nothing, whatever N is. In the empty
    slots of a rotary key any N does: the query is zero there. N is ``change``.
    """
    if row.rule == "transposed":
        return unseen(change.mT, row._replace(rule="linear"), axes).mT
    assert row.reads is not None  # as the Row of every linear map
    reads = axes[row.reads]
    left = change - reads.read(change @ reads.matrix(), -1)
    empty = (axes[row.writes].factor == 0) & (row.writes == "key")
    return torch.where(empty[:, None], change, left)


def score_scale(k: int, copies: int, *, scaled: bool) -> float:
    """The factor on query and key that leaves the attention scores unchanged.

    With a factor c on both, q̃·k̃ = copies c² q·k. Where scores are divided by the root of the head
    size, that root grows by √k.

    Args:
        k: factor of growth.
        copies: k for repeated heads; 1 for rotary ones, where a pair stands in one slot only.
        scaled: whether the class divides scores by √(head size); T5 does not.

    Returns:
        k^(-1/4) for repeated and k^(1/4) for rotary heads; k^(-1/2) and 1 without the division.
    """
    return ((k**0.5 if scaled else 1.0) / copies) ** 0.5


def scored_scale(k: int, *, tied: bool) -> float:
    """The scale on what meets the head's rows.

    A head of its own takes any: W̃ = W E⁺. A tied head has the rows of the embedding, which are
    plainly repeated: W̃ = W Eᵀ with s = 1. Both are one matrix only if what meets them has the
    scale 1/k.
    """
    return 1 / k if tied else 1.0


def features_scale(k: int, *, tied: bool, scaled: bool) -> float:
    """The scale that the final norm's gain and bias take, so that the head meets `scored_scale`.

    Exact, since nothing but the head follows that norm. A class may have ``scaled`` the state by
    d^(-1/2), which shrinks by √k.
    """
    return scored_scale(k, tied=tied) * (k**0.5 if scaled else 1.0)
