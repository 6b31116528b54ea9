"""The loss of a language model at step 0, streamed over the vocabulary.

At step 0 the label knows nothing of the logits. So it is averaged out exactly: the loss of a token
is its logsumexp minus the mean logit over the labels, which has a standard error up to a thousand
times smaller than the loss of a drawn label. The vocabulary passes in blocks of rows with an online
logsumexp, so that neither the logits nor a drawn vocabulary ever exist as a whole: a model of
152 064 tokens and width 4096 fits a laptop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch

from ..accepted import (
    require_floating,
    require_positive,
    require_real,
    require_tokens,
    require_whole,
)
from ..normalisation import normalised as normalised
from ..seeds import seed_of

_CHUNK = 256  # rows of a drawn vocabulary that share a generator


class Rows(Protocol):
    """Anything that gives the rows of an (n, d) matrix in blocks."""

    shape: tuple[int, int]

    def rows(self, start: int, stop: int) -> torch.Tensor:
        """Rows start to stop, (stop - start, d)."""


@dataclass(frozen=True)
class FirstLoss:
    """What `first_loss` found, one entry per token, in float64.

    ``loss`` is ``logsumexp - mean_logit``; ``own_logit`` is the token's own, None without ``own``.
    """

    loss: torch.Tensor
    logsumexp: torch.Tensor
    mean_logit: torch.Tensor
    own_logit: torch.Tensor | None


class DrawnVocabulary:
    """A matrix of iid normal entries that is drawn row by row and never stored.

    Args:
        n: number of rows (tokens).
        d: number of columns.
        σ: standard deviation of an entry.
        seed: seed of the draw; a block of rows is the same whenever it is asked for.
        device: where rows are drawn.
    """

    def __init__(
        self, n: int, d: int, *, σ: float, seed: int, device: torch.device | str = "cpu"
    ) -> None:
        require_positive(n=n, d=d)
        require_whole(seed=seed)
        require_real(σ=σ)
        if not σ > 0:
            raise ValueError(f"σ: got {σ}; accepted: a positive number")
        self.shape = (n, d)
        self.σ, self.seed, self.device = σ, seed, torch.device(device)

    def rows(self, start: int, stop: int) -> torch.Tensor:
        """Rows start to stop."""
        if not 0 <= start < stop <= self.shape[0]:
            reach = f"0 <= start < stop <= {self.shape[0]}"
            raise ValueError(f"start, stop: got {start}, {stop}; accepted: {reach}")
        first, last = start // _CHUNK, -(-stop // _CHUNK)
        chunks = [self._chunk(index) for index in range(first, last)]
        parts = chunks[0] if len(chunks) == 1 else torch.cat(chunks)
        return parts[start - first * _CHUNK : stop - first * _CHUNK]

    def at(self, tokens: torch.Tensor) -> torch.Tensor:
        """The rows of some tokens, (…, d)."""
        require_tokens(tokens=tokens)
        flat = tokens.flatten()
        if bool(((flat < 0) | (flat >= self.shape[0])).any()):
            raise ValueError(f"tokens: accepted: 0 to {self.shape[0] - 1}")
        found = torch.empty(len(flat), self.shape[1], dtype=torch.float32, device=self.device)
        for index in (flat // _CHUNK).unique().tolist():
            here = flat // _CHUNK == index
            found[here] = self._chunk(index)[flat[here] % _CHUNK]
        return found.view(*tokens.shape, self.shape[1])

    def _chunk(self, index: int) -> torch.Tensor:
        generator = torch.Generator(self.device).manual_seed(seed_of(f"{self.seed} {index}"))
        count = min(_CHUNK, self.shape[0] - index * _CHUNK)
        drawn = torch.empty(count, self.shape[1], dtype=torch.float32, device=self.device)
        return drawn.normal_(0.0, self.σ, generator=generator)


def first_loss(
    features: torch.Tensor,
    vocabulary: torch.Tensor | Rows,
    *,
    bias: torch.Tensor | None = None,
    own: torch.Tensor | None = None,
    label_law: torch.Tensor | None = None,
    cap: float | None = None,
    block: int = 2048,
) -> FirstLoss:
    """Return the cross-entropy of every token at step 0, its label averaged out.

    Args:
        features: (…, d), what the head makes of the hidden states; see `heads.Head.features`.
        vocabulary: (n, d), the head's weight, or rows that are drawn as they are needed.
        bias: (n,), the head's output bias.
        own: (…), the input token at each place, where the label is known to be another one; its
            logit is left out of the mean over the labels (not out of the logsumexp).
        label_law: (n,), probabilities of the labels; uniform by default.
        cap: soft-cap of the logits, which become cap * tanh(logit / cap).
        block: rows that are in memory at a time.

    Returns:
        Loss, logsumexp, mean logit and own logit per token; natural logarithms.

    Raises:
        ValueError: shapes do not fit, or a law is none.

    Example:
        >>> first_loss(torch.zeros(2, 4), torch.zeros(10, 4)).loss
        tensor([2.3026, 2.3026], dtype=torch.float64)
    """
    require_floating(features=features)
    if len(getattr(vocabulary, "shape", ())) != 2:
        stacked = isinstance(vocabulary, torch.Tensor)
        got = tuple(vocabulary.shape) if stacked else type(vocabulary).__name__
        raise ValueError(f"vocabulary: got {got}; accepted: (n, d), or rows that are drawn")
    if isinstance(vocabulary, torch.Tensor) and vocabulary.dtype != features.dtype:
        raise TypeError(f"vocabulary: got {vocabulary.dtype}; accepted: {features.dtype}")
    n, d = vocabulary.shape
    if features.shape[-1:] != (d,):
        raise ValueError(f"features: got shape {tuple(features.shape)}; accepted: (…, {d})")
    require_tokens(**({} if own is None else {"own": own}))
    if own is not None and own.shape != features.shape[:-1]:
        raise ValueError(f"own: got shape {(*own.shape,)}; accepted: {(*features.shape[:-1],)}")
    require_floating(**({} if bias is None else {"bias": bias}))
    if bias is not None and bias.shape != (n,):
        raise ValueError(f"bias: got shape {tuple(bias.shape)}; accepted: ({n},)")
    if own is not None and bool(((own < 0) | (own >= n)).any()):
        raise ValueError(f"own: got a token outside the vocabulary; accepted: 0 to {n - 1}")
    require_positive(block=block)
    require_real(cap=1.0 if cap is None else cap)
    if cap is not None and not cap > 0:
        raise ValueError(f"cap: got {cap}; accepted: a positive number")
    flat, law = features.detach().reshape(-1, d), uniform_or(label_law, n, features.device)
    state = _Stream(flat, law, None if own is None else own.flatten(), cap)
    with torch.no_grad():
        for start in range(0, n, block):
            if isinstance(vocabulary, torch.Tensor):
                rows = vocabulary[start : start + block]
            else:
                rows = vocabulary.rows(start, min(start + block, n))
            state.add(start, rows, None if bias is None else bias[start : start + block])
    return state.result(features.shape[:-1])


class _Stream:
    """Running logsumexp, mean logit and own logit over blocks of the vocabulary."""

    def __init__(
        self,
        features: torch.Tensor,
        law: torch.Tensor,
        own: torch.Tensor | None,
        cap: float | None,
    ) -> None:
        count, where = len(features), features.device
        self.cap, self.mean_capped = cap, torch.zeros(count, dtype=torch.float64, device=where)
        self.features, self.law, self.own = features, law, own
        least = torch.finfo(features.dtype).min  # finite, so that a bias of -inf is no NaN
        self.top = torch.full((count,), least, dtype=torch.float64, device=where)
        self.total = torch.zeros(count, dtype=torch.float64, device=where)
        self.mean_row = torch.zeros(features.shape[1], dtype=torch.float64, device=where)
        self.mean_bias = torch.zeros((), dtype=torch.float64, device=where)
        self.own_logit = torch.zeros(count, dtype=torch.float64, device=where)
        self.own_share = torch.zeros(count, dtype=torch.float64, device=where)

    def add(self, start: int, rows: torch.Tensor, bias: torch.Tensor | None) -> None:
        """Take in the rows from ``start`` on."""
        logits = self.features @ rows.T
        law = self.law[start : start + len(rows)]
        if bias is not None:
            logits += bias
            self.mean_bias += torch.where(law > 0, law * bias.double(), 0.0).sum()
        if self.cap is not None:
            logits = self.cap * torch.tanh(logits / self.cap)
            self.mean_capped += (logits @ law.to(logits.dtype)).double()
        self.mean_row += law.to(rows.dtype) @ rows
        if self.own is not None:
            here = (self.own >= start) & (self.own < start + len(rows))
            column = (self.own[here] - start).unsqueeze(1)
            self.own_logit[here] = logits[here].gather(1, column).squeeze(1).double()
            self.own_share[here] = law[column.squeeze(1)]
        top = torch.maximum(self.top, logits.amax(1).double())
        logits -= top.unsqueeze(1).to(logits.dtype)
        # the shift was rounded to the logits' dtype; what it lost is put back
        lost = top - top.to(logits.dtype).double()
        added = logits.exp_().sum(1, dtype=torch.float64) * torch.exp(-lost)
        self.total = self.total * torch.exp(self.top - top) + added
        self.top = top

    def result(self, shape: torch.Size) -> FirstLoss:
        """What was found, in the tokens' shape."""
        if bool((self.own_share >= 1).any()):
            raise ValueError("label_law: all of it lies on an own token; accepted: another label")
        logsumexp = self.top + self.total.log()
        mean = torch.cat([part.double() @ self.mean_row for part in self.features.split(256)])
        mean = mean + self.mean_bias if self.cap is None else self.mean_capped
        mean = (mean - self.own_share * self.own_logit) / (1 - self.own_share)
        own = None if self.own is None else self.own_logit.view(shape)
        return FirstLoss(
            (logsumexp - mean).view(shape), logsumexp.view(shape), mean.view(shape), own
        )


def two_gram_loss(
    vocabulary: torch.Tensor | DrawnVocabulary,
    tokens: torch.Tensor,
    *,
    features: Callable[[torch.Tensor], torch.Tensor] | None = None,
    output: torch.Tensor | Rows | None = None,
    kind: str = "rms",
    ε: float = 0.0,
    exclude_own: bool = True,
    block: int = 2048,
) -> FirstLoss:
    """Return the first loss of a model whose body is the identity (kexue 9698, eqs. 6 to 8).

    The final state of a token is its normalised embedding, and nothing else.

    Args:
        vocabulary: (n, d), the input embedding.
        tokens: (…), the input tokens, integers.
        features: what the head does before it scores, such as ``ShuffledHead(…).features``.
        output: (n, d), the head's matrix where it is not tied; by default the embedding itself.
        kind, ε: the final normalisation; see `normalised`.
        exclude_own: whether the label is another token than the input (no repeated tokens).
        block: rows of the vocabulary in memory at a time.
    """
    require_tokens(tokens=tokens)
    if bool(((tokens < 0) | (tokens >= vocabulary.shape[0])).any()):
        raise ValueError(f"tokens: got one outside; accepted: 0 to {vocabulary.shape[0] - 1}")
    rows = vocabulary.at(tokens) if isinstance(vocabulary, DrawnVocabulary) else vocabulary[tokens]
    hidden = normalised(rows, kind, ε=ε)
    return first_loss(
        hidden if features is None else features(hidden),
        vocabulary if output is None else output,
        own=tokens if exclude_own else None,
        block=block,
    )


def uniform_or(law: torch.Tensor | None, n: int, where: torch.device | str = "cpu") -> torch.Tensor:
    """Return a law of n labels in float64, uniform where none is given; refuse what is none."""
    if law is None:
        return torch.full((n,), 1 / n, dtype=torch.float64, device=where)
    require_floating(label_law=law)
    total = law.double().sum().item()
    if law.shape != (n,) or not bool((law >= 0).all()) or not abs(total - 1) <= 1e-6:
        got = f"shape {tuple(law.shape)} with sum {total:g}"
        raise ValueError(f"label_law: got {got}; accepted: {n} probabilities that add up to 1")
    return law.double().to(where)
