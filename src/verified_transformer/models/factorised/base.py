"""What the factorised embeddings have in common: the interface of a drop-in `nn.Embedding`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Generic, NamedTuple, Self, TypeVar

import torch
from torch import nn

from ..accepted import require_floating, require_tokens, require_whole

Family = TypeVar("Family", bound="FactorisedEmbedding")


class FromDense(NamedTuple, Generic[Family]):
    """A table's factorisation.

    ``relative_error`` is $\\lVert W-\\hat W\\rVert_F/\\lVert W\\rVert_F$, measured on the table
    of the module as it is returned (rounding included), the padding row left out of both; 0 for a
    table of zeros that is met exactly.
    """

    module: Family
    relative_error: float


class FactorisedEmbedding(nn.Module):
    """A table of n rows of length d that exists only as factors.

    A family says in `_lookup`, `_scores` and `_table` what its factors make. In place of
    ``nn.Embedding`` it differs in one thing: the row of ``padding_idx`` is zero whatever the
    parameters are, where torch lets it be overwritten.

    Args:
        num_embeddings: number of tokens n.
        embedding_dim: length d of an embedding.
        padding_idx: the token whose row is zero and takes no gradient; from the end if negative.
        σ: standard deviation of every entry of the table at the start.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, *, padding_idx: int | None, σ: float
    ) -> None:
        super().__init__()
        require_whole(num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        for name, value in (("num_embeddings", num_embeddings), ("embedding_dim", embedding_dim)):
            if value < 1:
                raise ValueError(f"{name}: got {value}; accepted: a positive number")
        if not σ > 0:
            raise ValueError(f"σ: got {σ}; accepted: a positive number")
        self.num_embeddings, self.embedding_dim, self.σ = num_embeddings, embedding_dim, σ
        self.padding_idx = checked_padding(padding_idx, num_embeddings)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the embeddings of tokens.

        Args:
            tokens: any shape, int32 or int64.

        Returns:
            (\\*shape, d). Neither this nor its gradient ever makes the table: what they make is
            O(tokens · d) beside the parameters' own size. It can be differentiated once, by
            autograd: ``torch.func`` and ``torch.compile(fullgraph=True)`` refuse all families but
            the low-rank one; plain ``torch.compile`` runs them as they are.

        Raises:
            TypeError: tokens are of another dtype.
            IndexError: a token is not in 0 to n - 1; on CUDA, where a check would wait for the
                device, it is a device-side assertion instead, as with ``nn.Embedding``.
        """
        require_tokens(tokens=tokens)
        flat = tokens.reshape(-1)
        dropped = None if self.padding_idx is None else flat == self.padding_idx
        return self._lookup(flat, dropped).view(*tokens.shape, self.embedding_dim)

    def attend(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the logits of a tied head, ``hidden @ table.T``, without the table.

        Args:
            hidden: (…, d).

        Returns:
            (…, n); zero for ``padding_idx``, whose row is zero.

        Raises:
            ValueError: the last size of ``hidden`` is not d.
        """
        require_floating(hidden=hidden)
        d = self.embedding_dim
        if hidden.shape[-1:] != (d,):
            raise ValueError(f"hidden: got shape {tuple(hidden.shape)}; accepted: (…, {d})")
        logits = self._scores(hidden.reshape(hidden.shape[:-1].numel(), d))
        if self.padding_idx is not None:
            logits[:, self.padding_idx] = 0
        return logits.reshape(*hidden.shape[:-1], self.num_embeddings)

    def dense(self) -> torch.Tensor:
        """Return the whole table, (n, d): for small tables and for tests."""
        table = self._table()[: self.num_embeddings]
        if self.padding_idx is None:
            return table
        rows = torch.arange(self.num_embeddings, device=table.device)
        return table.masked_fill((rows == self.padding_idx)[:, None], 0)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw all factors afresh, so that every entry of the table has variance σ².

        Args:
            generator: source of the entries; torch's own by default.
        """
        for parameter in self.parameters():
            if not parameter.is_meta:  # there is nothing to draw, and torch would take a second
                nn.init.normal_(parameter, std=self._spread(), generator=generator)

    def extra_repr(self) -> str:
        """The sizes."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}, {self._sizes()}{padding}"

    def _filled(self, factors: Iterable[torch.Tensor], table: torch.Tensor) -> FromDense[Self]:
        """The module, off the meta device with these factors, and how far it is from a table."""
        # not `to_empty`, which on the meta device loads torch's symbolic shapes, hence SymPy
        pairs = zip(self.named_parameters(), factors, strict=True)
        found = {
            name: factor.detach().to(parameter.dtype).clone(memory_format=torch.contiguous_format)
            for (name, parameter), factor in pairs
        }
        self.load_state_dict(found, assign=True)
        with torch.no_grad():
            left = self.dense().to(table.dtype) - table
        largest = table.abs().max().item() or 1.0  # squares of entries may be out of range
        norm = torch.linalg.vector_norm(table / largest, dtype=torch.float64).item()
        missed = torch.linalg.vector_norm(left / largest, dtype=torch.float64).item()
        return FromDense(self, missed / norm if norm else missed and math.inf)

    def _lookup(self, tokens: torch.Tensor, dropped: torch.Tensor | None) -> torch.Tensor:
        """Embeddings (T, d) of tokens (T,); zero, without a gradient, where ``dropped``."""
        raise NotImplementedError

    def _scores(self, hidden: torch.Tensor) -> torch.Tensor:
        """Logits (T, n) of hidden states (T, d), a tensor that may be written to."""
        raise NotImplementedError

    def _table(self) -> torch.Tensor:
        """The table, and rows beyond it where the factors make more."""
        raise NotImplementedError

    def _spread(self) -> float:
        """Standard deviation of a factor's entry at the start."""
        raise NotImplementedError

    def _sizes(self) -> str:
        """The family's own sizes, for `repr`."""
        raise NotImplementedError


def prepared(weight: torch.Tensor, padding_idx: int | None) -> tuple[torch.Tensor, dict[str, Any]]:
    """Return a weight as it is to be factorised, and how to make the module for it.

    The module is made on the meta device, so that no random number is drawn for it.

    Args:
        weight: (n, d).
        padding_idx: the row that is set to zero.

    Returns:
        The table in float64 where the weight is float64, else in float32, and the arguments
        ``device`` and ``dtype``.

    Raises:
        ValueError: the weight is no matrix of finite floating point, or ``padding_idx`` is out of
            range.
    """
    if weight.ndim != 2 or not weight.is_floating_point():
        raise ValueError(
            f"weight: got {weight.dtype} of shape {tuple(weight.shape)}; accepted: floating "
            "point of shape (n, d)"
        )
    if not weight.isfinite().all():
        raise ValueError("weight: got entries that are infinite or no number; accepted: finite")
    table = weight.detach().to(torch.promote_types(weight.dtype, torch.float32), copy=True)
    padding_idx = checked_padding(padding_idx, len(weight))
    if padding_idx is not None:
        table[padding_idx] = 0
    return table.contiguous(), {"device": "meta", "dtype": weight.dtype}


def checked_padding(padding_idx: int | None, n: int) -> int | None:
    """Return ``padding_idx`` counted from the front.

    Raises:
        ValueError: it is not in -n to n - 1.
    """
    if padding_idx is None:
        return None
    if not -n <= padding_idx < n:
        raise ValueError(f"padding_idx: got {padding_idx}; accepted: {-n} to {n - 1}")
    return padding_idx % n
