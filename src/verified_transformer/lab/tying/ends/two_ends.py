"""The two ends of a language model: looking a token up, scoring all tokens, and what comes back."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from ....seeds import generator

__all__ = [
    "looks_up", "mostly_linear", "nearest_to_identity", "of_the_head_only", "products_with_rows",
    "ranked_alike", "recovered_by_width", "recovered_shares", "reuses", "score_layers", "scores_by",
    "serves_both_ends", "share_expected", "share_of_a_ladder", "share_recovered",
    "slope_of_a_chance", "state_times_matrix", "table_and_states",
]  # fmt: skip

Layers = tuple[nn.Embedding, nn.Linear]


def of_the_head_only(model: Any) -> set[int]:
    """Return the ids of the parameters that only the head of a transformers model uses."""
    head = {id(w) for w in model.get_output_embeddings().parameters()}
    return head - {id(w) for w in model.base_model.parameters()}


def reuses(models: Sequence[Any]) -> bool:
    """Whether each head has nothing of its own, and agrees with the table after a step.

    Args:
        models: of transformers, with logits of the next token; they stay as they are.
    """
    ids = torch.arange(8).view(1, 8)
    for model in copy.deepcopy(models):
        before = model.get_input_embeddings().weight.detach().clone()
        model(input_ids=ids, labels=ids).loss.backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
        table, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
        moved = not torch.equal(table, before)
        if of_the_head_only(model) or not moved or not torch.equal(table, head):
            return False
    return True


# ------------------------------------------------------------------------------ the entrance


def looks_up(layer: nn.Embedding) -> bool:
    """Whether a layer gives the rows of its table, as indexing does and one-hot rows times it.

    Args:
        layer: of eleven tokens and six columns.
    """
    table = layer.weight.detach().clone()
    ids = torch.tensor([[3, 0, 7], [7, 10, 3]])
    found = layer(ids)
    by_product = F.one_hot(ids, 11).to(table) @ table
    dense = found.shape == (2, 3, 6) and bool((found != 0).all())
    right = torch.equal(found, table[ids]) and torch.equal(found, by_product)
    return table.shape == (11, 6) and dense and right


# ------------------------------------------------------------------------------ the exit


def slope_of_a_chance(chance: float) -> float:
    """Return the derivative of a token's probability by its own score, among ten tokens.

    Args:
        chance: the probability; the scores of the others are random.
    """
    others = torch.randn(9, dtype=torch.float64, generator=generator("competitors"))
    odds = torch.tensor(chance / (1 - chance), dtype=torch.float64)  # against all others together
    own = (odds.log() + others.logsumexp(0)).requires_grad_()
    probability = torch.softmax(torch.cat([own[None], others]), 0)[0]
    return float(torch.autograd.grad(probability, own)[0])


def ranked_alike(chances: Callable[[torch.Tensor], torch.Tensor]) -> bool:
    """Whether a head gives a score for each token, and probabilities in the order of the scores.

    Args:
        chances: makes probabilities, (4, 11), of scores, (4, 11).
    """
    torch.manual_seed(0)
    head, h = nn.Linear(6, 11, bias=False).double(), torch.randn(4, 6, dtype=torch.float64)
    scores = head(h)
    found = chances(scores)
    return scores.shape == (4, 11) and torch.equal(scores.argsort(-1), found.argsort(-1))


def mostly_linear(heads: Sequence[nn.Module]) -> bool:
    """Whether more than half of the heads are plain linear layers."""
    return sum(type(head) is nn.Linear for head in heads) > len(heads) / 2


def state_times_matrix(head: nn.Module) -> bool:
    """Whether a head of width 6 and 11 tokens multiplies a row by a matrix of shape (6, 11)."""
    M = head(torch.eye(6, dtype=torch.float64))
    h = torch.randn(5, 6, dtype=torch.float64)
    return M.shape == (6, 11) and torch.allclose(h @ M, head(h), atol=1e-12)


def score_layers(tokens: int, width: int, *, tied: bool = True) -> Layers:
    """Return an embedding and a head without bias, tied by the article's assignment or not."""
    embedding, head = nn.Embedding(tokens, width), nn.Linear(width, tokens, bias=False)
    if tied:
        head.weight = embedding.weight
    return embedding.double(), head.double()


def table_and_states(name: str, tokens: int = 7, width: int = 4) -> tuple[torch.Tensor, ...]:
    """Draw a table, (tokens, width), and five states, (5, width)."""
    source = generator(name)
    return tuple(torch.randn(m, width, generator=source).double() for m in (tokens, 5))


def scores_by(*, tied: bool) -> Callable[[Sequence[torch.Tensor]], torch.Tensor]:
    """Return what the head gives for a table, (n, d), and states, (B, d): scores, (B, n)."""

    @torch.no_grad()
    def scores(drawn: Sequence[torch.Tensor]) -> torch.Tensor:
        embedding, head = score_layers(*drawn[0].shape, tied=tied)
        embedding.weight.copy_(drawn[0])
        return torch.as_tensor(head(drawn[1]))

    return scores


@torch.no_grad()
def products_with_rows(drawn: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the inner products of states with the rows, looked up one by one: (B, n)."""
    embedding, _ = score_layers(*drawn[0].shape)
    embedding.weight.copy_(drawn[0])
    rows = [embedding(torch.tensor(j)) for j in range(len(drawn[0]))]
    return torch.stack([(drawn[1] * row).sum(-1) for row in rows], -1)


# ------------------------------------------------------------------------------ back again


def serves_both_ends(sizes: tuple[int, int, int]) -> bool:
    """Whether a table looks up and scores: of vocabulary, length of a row, length of a state."""
    vocabulary, row, state = sizes
    W = torch.randn(vocabulary, row)
    try:
        scores = F.linear(torch.randn(5, state), W)
    except RuntimeError:
        return False
    return scores.shape == (5, vocabulary) and F.embedding(torch.tensor([1]), W).shape == (1, state)


def share_recovered(table: torch.Tensor) -> float:
    """Return the share of tokens whose looked-up row scores highest with the token itself.

    Args:
        table: rows of tokens, (n, d).
    """
    scores = table @ table.T
    return float((scores.argmax(-1) == torch.arange(len(table))).double().mean())


def recovered_shares(tables: torch.Tensor) -> float:
    """Return the mean of `share_recovered` over many tables of the first learning rate.

    Args:
        tables: as `roles.learn` gives them, (rates, runs, n, d).
    """
    return float(np.mean([share_recovered(table) for table in tables[0].detach().double()]))


def recovered_by_width(
    tokens: int, widths: Sequence[int], tables: int
) -> tuple[list[float], list[float]]:
    """Return means and standard errors of `share_recovered` over random tables, for each width.

    Args:
        tokens: rows of a table.
        widths: their lengths.
        tables: how many are drawn of each width.
    """
    source, means, errors = generator(f"tables of {tokens}"), [], []
    for width in widths:
        drawn = (torch.randn(tokens, width, generator=source).double() for _ in range(tables))
        found = [share_recovered(table) for table in drawn]
        means.append(float(np.mean(found)))
        errors.append(float(np.std(found, ddof=1)) / tables**0.5)
    return means, errors


def share_of_a_ladder(n: int, d: int) -> float:
    """Return `share_recovered` of rows in one direction, each longer than the one before."""
    steps = torch.arange(1, n + 1, dtype=torch.float64)
    return share_recovered(steps[:, None] * torch.ones(d, dtype=torch.float64))


def share_expected(width: float, tokens: float) -> float:
    """Return the mean of `share_recovered` over tables of independent normal entries.

    Given the row that is looked up, of length r, the other scores are independent and normal, with
    r as their standard deviation (for entries of variance one). The token comes back if each is
    below r squared. That chance is averaged over r.

    Args:
        width: of the table, d.
        tokens: its rows, n.

    Example:
        >>> round(share_expected(16, 50257), 4)
        0.3431
    """
    r = torch.linspace(1e-9, width**0.5 + 7, 8001, dtype=torch.float64)
    log_density = (width - 1) * r.log() - r**2 / 2 - (width / 2 - 1) * math.log(2)
    density = (log_density - math.lgamma(width / 2)).exp()
    below = (torch.special.log_ndtr(r) * (float(tokens) - 1)).exp()
    return float(torch.trapezoid(below * density, r))


def nearest_to_identity(n: int, d: int) -> float:
    """Return the least squared distance of W Wᵀ from the identity that descent finds.

    Args:
        n: rows of W.
        d: its columns.
    """
    torch.manual_seed(0)
    W, one = torch.randn(n, d, dtype=torch.float64), torch.eye(n, dtype=torch.float64)
    for _ in range(2000):  # descent on the squared distance
        W -= 0.1 * (W @ W.T - one) @ W
    return float((W @ W.T - one).square().sum())
