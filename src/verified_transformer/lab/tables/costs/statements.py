"""What is said of the cost of rows that are made, as checks: true of one way, false of another."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import nn

from ....models.counting import Count
from ....models.factorised import TensorProductEmbedding
from ....seeds import seed_of
from .lookups import factorised_lookup, forward_and_backward, largest_made, parameters, plain_lookup
from .real_blocks import REAL_BLOCKS, block_multiplications
from .timing import median_seconds
from .work import counted

Length = Callable[[int, int], int]  # of a factor, from the number of factors and the width
_PASSES: dict[str, Callable[[int, int], int]] = {
    "forward": lambda forward, _: forward,
    "backward": lambda _, backward: backward,
    "both": lambda forward, backward: forward + backward,
}
_FITTING = {64: (2, 3, 6), 4096: (2, 3, 4, 6, 12), 6561: (2, 4, 8)}  # factors, by width
_TOKENS = 5


def divided(factors: int, width: int) -> int:
    """Return the article's length of a factor, d/k."""
    return width // factors


def rooted(factors: int, width: int) -> int:
    """Return the length of k equal factors whose product has d entries, the k-th root of d."""
    return round(width ** (1 / factors))


def row_length(factors: int, length: int) -> int:
    """Return d of k factors that fit, for equal lengths q: q^k."""
    return length**factors


def printed_order(factors: int, length: int) -> float:
    """Return the article's order of a token's multiplications, d^2/k, at d = q^k."""
    return row_length(factors, length) ** 2 / factors


def passed(part: str) -> Callable[[int, int, int], int]:
    """Return a function of tokens, factors and length: the multiplications of a pass.

    Args:
        part: ``"forward"``, ``"backward"`` or ``"both"``.

    Example:
        >>> passed("backward")(5, 3, 3)
        360
    """
    taken = _PASSES[part]
    return lambda tokens, factors, length: taken(*forward_and_backward(tokens, factors, length))


def grows_as_printed(part: str) -> Callable[[int], bool]:
    """Return a check of a number k of factors: a pass grows as the article's k q^2, at q = d/k.

    It is true where the count over the expression is at most ten times as large when d is sixteen
    times as long.
    """

    def check(factors: int) -> bool:
        few, many = (passed(part)(2, factors, q) / (2 * factors * q**2) for q in (2, 32))
        return many <= 10 * few

    return check


def in_step(work: Callable[[int, int], float]) -> Callable[[Callable[[int, int], float]], bool]:
    """Return a check of an expression: work of three factors follows it, d 512 times as long.

    It is true where the ratio of both changes by less than a factor of 50.

    Args:
        work: function of factors and length; the expression is another.
    """

    def check(expression: Callable[[int, int], float]) -> bool:
        small, large = (work(3, q) / expression(3, q) for q in (2, 16))
        return 1 / 50 < large / small < 50

    return check


def largest_in_step(length: Length) -> bool:
    """Whether the largest tensor of two factors and five tokens grows as Td, d = 16 to 4096."""
    small, large = (largest_made(_TOKENS, 2, length(2, d)) / d for d in (16, 4096))
    return large < 10 * small


def tables_in_step(length: Length) -> bool:
    """Whether two tables of one row, with what is made for five tokens, grow as n d + T d."""
    small, large = (
        (2 * length(2, d) + largest_made(_TOKENS, 2, length(2, d))) / d for d in (16, 4096)
    )
    return large < 10 * small


def saves_parameters(length: Length) -> bool:
    """Whether more than one factor saves parameters, at widths that both kinds of length fit."""
    cases = [(2, 16), (2, 64), (3, 27), (3, 216), (4, 256), (8, 256)]
    return all(parameters([length(c, d)] * c, 10) < 10 * d for c, d in cases)


def all_work(count: Count) -> int:
    """Return reads, multiplications and additions."""
    return count.reads + count.multiplications + count.additions


def dense_layer(width: int) -> Count:
    """Return the work of a dense layer that keeps the width, for five tokens."""
    return counted(nn.Linear(width, width), torch.ones(_TOKENS, width))


def grows_as_square(run: Callable[[int], Count]) -> bool:
    """Whether work grows more than twentyfold where the width grows from 8 to 64."""
    return all_work(run(64)) > 20 * all_work(run(8))


def less_work(join: Callable[[torch.Tensor], Any]) -> bool:
    """Whether a look-up whose factors are joined so is less work than that in a plain table."""
    return all(
        all_work(factorised_lookup(6, c, q, join)) < all_work(plain_lookup(6, q**c))
        for c, q in [(2, 4), (2, 64), (3, 8), (6, 4), (12, 2)]
    )


def markedly_less(part: Callable[[Count], int]) -> bool:
    """Whether at every width some number of factors is a tenth cheaper than the plain table."""
    return all(min(made) <= 0.9 * plain for plain, *made in _by_factors(part))


def rises_with_factors(part: Callable[[Count], int]) -> bool:
    """Whether a part of the work rises with every further factor, at every width."""
    return all(costs == sorted(set(costs)) for costs in _by_factors(part))


def _by_factors(part: Callable[[Count], int]) -> list[list[int]]:
    return [
        [part(plain_lookup(2, d)), *(part(factorised_lookup(2, c, rooted(c, d))) for c in numbers)]
        for d, numbers in _FITTING.items()
    ]


@torch.no_grad()
def module_lookup(
    factors: int, length: int, tokens: int = 6,
    kind: type[TensorProductEmbedding] = TensorProductEmbedding,
) -> Count:  # fmt: skip
    """Return the work of looking tokens up in the library's table of products, or one like it."""
    return counted(kind(50, [length] * factors), torch.arange(tokens))


def one_call_a_factor(kind: type[TensorProductEmbedding]) -> bool:
    """Whether each further factor is one multiplying call, whatever T and q are."""
    runs = [(c, q, m) for c in (2, 3, 5) for q in (2, 4) for m in (2, 7, 40)]
    calls = [(c, module_lookup(c, q, m, kind).calls) for c, q, m in runs]
    return all(seen["mul"] + seen["bmm"] == c - 1 for c, seen in calls)


@cache
def blocks_of(width: int) -> dict[str, int]:
    """Return the multiplications of five tokens in a block of each class of `REAL_BLOCKS`."""
    return {kind: block_multiplications(kind, width, _TOKENS) for kind in REAL_BLOCKS}


def normalisation_of(width: int) -> dict[str, int]:
    """Return the multiplications of five tokens in one normalisation, a small part of a block."""
    return {"norm": counted(nn.LayerNorm(width), torch.zeros(_TOKENS, width)).multiplications}


def below_a_tenth(parts: Callable[[int], dict[str, int]]) -> bool:
    """Whether look-ups with lengths that fit take less than a tenth of parts of a model.

    Args:
        parts: function of a width, the multiplications of parts by name.
    """
    fits = [(6, 2), (3, 4), (2, 8), (8, 2), (4, 4), (2, 16), (10, 2), (5, 4), (2, 32)]
    return all(
        10 * module_lookup(c, q, _TOKENS).multiplications < min(parts(q**c).values())
        for c, q in fits
    )


def below_a_block(length: Length) -> bool:
    """Whether a look-up of four factors takes fewer multiplications than a block of BERT."""
    return all(
        module_lookup(4, length(4, d), _TOKENS).multiplications < blocks_of(d)["bert"]
        for d in (64, 256)
    )


@torch.no_grad()
def shares_of_time(seed: int) -> dict[str, float]:
    """Time a look-up and the rest of a small model of four encoder layers of torch, on one thread.

    The width is 256, which eight factors of length 2 make; two sequences of 64 tokens; medians of
    five runs.

    Returns:
        The shares of ``"rest"`` and ``"lookup"`` in the time of both.
    """
    torch.manual_seed(seed_of(f"lookup in time {seed}"))
    look, tokens = TensorProductEmbedding(1000, [2] * 8), torch.randint(1000, (2, 64))
    layers = [nn.TransformerEncoderLayer(256, 4, 1024, 0.0, batch_first=True) for _ in range(4)]
    rest, embedded = nn.Sequential(*layers, nn.Linear(256, 1000)).eval(), look(tokens)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        spent = [median_seconds(call) for call in (lambda: rest(embedded), lambda: look(tokens))]
    finally:
        torch.set_num_threads(threads)
    return dict(zip(("rest", "lookup"), (part / sum(spent) for part in spent), strict=True))
