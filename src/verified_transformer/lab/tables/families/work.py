"""A look-up and a head in each family of factorised tables, one factor at a time.

A family is "dense", "low-rank", "product", "kronecker" or "train"; its factors have the shapes of
`families`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from .shapes import row_of

Factors = Sequence[torch.Tensor]
FAMILIES = ("dense", "low-rank", "product", "kronecker", "train")
OWN_ROWS = FAMILIES[:3]  # families in which each token has rows of its own


def _refuse(family: str) -> None:
    if family not in FAMILIES:
        raise ValueError(f"family: got {family!r}; accepted: {', '.join(FAMILIES)}")


def indices_of(family: str, factors: Factors, tokens: torch.Tensor) -> list[torch.Tensor]:
    """Return, for each factor that is indexed, which of its rows belong to the tokens.

    Args:
        family: see the module's text.
        factors: of the table.
        tokens: (T,); in "kronecker" and "train" their digits index the factors.
    """
    _refuse(family)
    if family in OWN_ROWS:
        return [tokens] * len(factors)
    m, count = len(factors[0]), len(factors)
    return [tokens // m**place % m for place in reversed(range(count))]


def looked_up(family: str, factors: Factors, indices: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return rows of a table, (T, d).

    Args:
        family: see the module's text.
        factors: of the table.
        indices: of `indices_of`.
    """
    _refuse(family)
    if family == "low-rank":
        return F.embedding(indices[0], factors[0]) @ factors[1]
    rows = [x.index_select(0, index) for x, index in zip(factors, indices, strict=True)]
    if family == "dense":
        return rows[0]
    if family in ("product", "kronecker"):
        return row_of(rows)
    chain = rows[0].flatten(1, 2)  # (T, q, r)
    for core in rows[1:]:
        chain = chain @ core.flatten(2)  # (T, Q, q r)
        chain = chain.reshape(len(chain), -1, core.shape[-1])
    return chain.flatten(1)


def whole_table(family: str, factors: Factors) -> torch.Tensor:
    """Return the table, (n, d)."""
    m = len(factors[0])
    tokens = torch.arange(m if family in OWN_ROWS else m ** len(factors))
    return looked_up(family, factors, indices_of(family, factors, tokens))


def logits(family: str, factors: Factors, hidden: torch.Tensor) -> torch.Tensor:
    """Return the logits of one hidden state, contracted one factor at a time, (n,).

    Args:
        family: see the module's text.
        factors: of the table.
        hidden: (d,).
    """
    _refuse(family)
    if family == "dense":
        return factors[0] @ hidden
    if family == "low-rank":
        return factors[0] @ (factors[1] @ hidden)
    contract = {"product": _by_product, "kronecker": _by_kronecker, "train": _by_train}
    return contract[family](factors, hidden)


def _by_product(factors: Factors, hidden: torch.Tensor) -> torch.Tensor:
    *others, last = factors  # the last factor first, then the others, for each token and rank
    state = (hidden.reshape(-1, last.shape[-1]) @ last.flatten(0, 1).T).T  # (n r, q^(k-1))
    for factor in reversed(others):
        state = state.reshape(len(state), -1, factor.shape[-1])
        state = (state @ factor.flatten(0, 1)[..., None])[..., 0]
    return state.reshape(last.shape[:2]).sum(-1)


def _by_kronecker(factors: Factors, hidden: torch.Tensor) -> torch.Tensor:
    state = hidden.reshape(1, 1, -1).expand(factors[0].shape[1], 1, -1)  # (r, tokens, rest)
    for factor in factors:
        state = state.unflatten(-1, (factor.shape[-1], -1))
        state = torch.einsum("rtqx,mrq->rtmx", state, factor).flatten(1, 2)
    return state.sum(0)[:, 0]


def _by_train(factors: Factors, hidden: torch.Tensor) -> torch.Tensor:
    state = hidden.reshape(1, 1, -1)  # (tokens, rank, rest)
    for core in factors:
        state = state.unflatten(-1, (core.shape[2], -1))
        state = torch.einsum("taqx,maqs->tmsx", state, core).flatten(0, 1)
    return state[:, 0, 0]
