"""Output heads: what turns a final hidden state into a score for every token.

Every head here is a linear map of some features of the hidden state,

    logits = features(hidden) @ weight.T (+ bias),

so that heads differ in two things only: which matrix scores the tokens (the embedding's own, or
another), and what is done to the hidden state before. `first_loss` takes the two parts.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from .accepted import require_floating, require_real, require_tokens, require_whole


class Head(nn.Module):
    """A head whose features are the hidden state itself; the base of the others.

    Args:
        weight: (n, d), one row for each token. A parameter is shared, not copied.
        bias: whether an output bias of length n, starting at zero, is added.
    """

    def __init__(self, weight: torch.Tensor, *, bias: bool = False) -> None:
        super().__init__()
        self.weight = weight
        self.bias = nn.Parameter(weight.new_zeros(len(weight))) if bias else None

    def features(self, hidden: torch.Tensor) -> torch.Tensor:
        """What meets the rows of ``weight``: (…, d) to (…, d)."""
        return hidden

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Logits (…, n) of hidden states (…, d)."""
        require_floating(hidden=hidden)
        if hidden.shape[-1:] != self.weight.shape[-1:]:
            d = self.weight.shape[-1]
            raise ValueError(f"hidden: got shape {tuple(hidden.shape)}; accepted: (…, {d})")
        return F.linear(self.features(hidden), self.weight, self.bias)


class TiedHead(Head):
    """The embedding's own weight scores the tokens (Press and Wolf 2017).

    Args:
        embedding: the input embedding; its parameter is shared.
        scale: factor on the hidden state; the first T5 takes ``d**-0.5``.
        bias: whether an output bias is added.

    Raises:
        TypeError: the embedding is none, or the scale is no number.
    """

    def __init__(self, embedding: nn.Embedding, *, scale: float = 1.0, bias: bool = False) -> None:
        require_real(scale=scale)
        super().__init__(_weight_of(embedding), bias=bias)
        self.scale = scale

    def features(self, hidden: torch.Tensor) -> torch.Tensor:
        """The scaled hidden state."""
        return hidden * self.scale


class UntiedHead(Head):
    """A matrix of its own, with independent normal entries.

    Args:
        n: number of tokens.
        d: length of a hidden state.
        σ: standard deviation of an entry.
        bias: whether an output bias is added.
        generator: source of the entries.

    Raises:
        TypeError, ValueError: an argument is out of range.
    """

    def __init__(
        self,
        n: int,
        d: int,
        *,
        σ: float,
        bias: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        require_whole(n=n, d=d)
        require_real(σ=σ)
        if n < 1 or d < 1 or not σ >= 0:
            raise ValueError(f"n, d, σ: got {n}, {d}, {σ}; accepted: n >= 1, d >= 1, σ >= 0")
        super().__init__(nn.Parameter(torch.empty(n, d)), bias=bias)
        nn.init.normal_(self.weight, std=σ, generator=generator)


class ProjectedHead(Head):
    """Tied, behind a square projection that starts orthogonal (kexue 9698, "Some countermeasures").

    BERT's head is such a layer with a bias and an activation; the normalisation that follows there
    is not part of this class.

    Args:
        embedding: the input embedding; its parameter is shared.
        bias: whether the projection has a bias, starting at zero.
        activation: applied to the projected state; none by default.
        output_bias: whether an output bias is added.
        generator: source of the projection.
    """

    def __init__(
        self,
        embedding: nn.Embedding,
        *,
        bias: bool = False,
        activation: Callable[[torch.Tensor], torch.Tensor] | None = None,
        output_bias: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(_weight_of(embedding), bias=output_bias)
        d = embedding.embedding_dim
        self.projection = nn.Linear(d, d, bias=bias)
        nn.init.orthogonal_(self.projection.weight, generator=generator)
        if bias:
            nn.init.zeros_(self.projection.bias)
        self.activation = activation

    def features(self, hidden: torch.Tensor) -> torch.Tensor:
        """The projected, activated hidden state."""
        projected = self.projection(hidden)
        return projected if self.activation is None else self.activation(projected)


class ShuffledHead(Head):
    """Tied, with the coordinates of the hidden state in another order (kexue 9698, eq. 10).

    Args:
        embedding: the input embedding; its parameter is shared.
        order: a permutation of ``range(d)``, such as `half_swap` or `channel_shuffle` return.
        bias: whether an output bias is added.

    Raises:
        ValueError: ``order`` is not a permutation of ``range(d)``.
    """

    order: torch.Tensor

    def __init__(self, embedding: nn.Embedding, order: torch.Tensor, *, bias: bool = False) -> None:
        super().__init__(_weight_of(embedding), bias=bias)
        d = embedding.embedding_dim
        require_tokens(order=order)
        if sorted(order.tolist()) != list(range(d)):
            raise ValueError(
                f"order: got {_short(order.tolist())}; accepted: a permutation of range({d})"
            )
        self.register_buffer("order", order)

    def features(self, hidden: torch.Tensor) -> torch.Tensor:
        """The shuffled hidden state."""
        return hidden[..., self.order]


def half_swap(d: int) -> torch.Tensor:
    """Return the order that puts the second half of d coordinates before the first.

    Args:
        d: length of a hidden state; even.

    Returns:
        ``[d/2, …, d-1, 0, …, d/2-1]`` (kexue 9698, eq. 10). It fixes no coordinate, and is its own
        inverse.

    Raises:
        ValueError: ``d`` is odd or not positive.
    """
    require_whole(d=d)
    if d < 2 or d % 2:
        raise ValueError(f"d: got {d}; accepted: a positive even number")
    return torch.arange(d).roll(d // 2)


def channel_shuffle(d: int, groups: int) -> torch.Tensor:
    """Return ShuffleNet's order: reshape to (groups, d / groups), transpose, flatten.

    The first and the last coordinate keep their places, and so does each coordinate i for which
    i (groups - 1) is a multiple of d - 1.

    Args:
        d: length of a hidden state.
        groups: number of groups; divides d.

    Raises:
        ValueError: ``groups`` does not divide ``d``.
    """
    require_whole(d=d, groups=groups)
    if d < 1 or groups < 1 or d % groups:
        raise ValueError(f"groups: got {groups} for d = {d}; accepted: a divisor of d")
    return torch.arange(d).view(groups, d // groups).T.reshape(-1)


def _weight_of(embedding: nn.Embedding) -> torch.Tensor:
    if not isinstance(embedding, nn.Embedding):
        raise TypeError(
            f"embedding: got {type(embedding).__name__}; accepted: nn.Embedding, whose parameter "
            "is shared"
        )
    return embedding.weight


def _short(order: list[int]) -> str:
    return str(order) if len(order) < 9 else f"{str(order[:8])[:-1]}, …]"
