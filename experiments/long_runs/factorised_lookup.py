"""How long do lookups in factorised tables take, and the head of a low-rank one?

Every way sees the same tokens. ``built`` is the algorithm of tt-pytorch: make the whole table from
the cores, then index it. The ways take turns, so that what else the machine does falls on all.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from verifiedbook.account.parts import part
from verifiedbook.seeds import seed_of
from weightwise.counting import Count
from weightwise.factorised import (
    FactorisedEmbedding,
    KroneckerEmbedding,
    LowRankEmbedding,
    TensorProductEmbedding,
    TensorTrainEmbedding,
    balanced_factors,
    covering_factors,
)

SEEDS = {"tables and tokens": list(range(9))}
LOOKUPS = ("plain", "built", "low rank", "Kronecker", "tensor train", "tensor product")
HEADS = ("dense head", "low-rank head")
TIMED = 1.6  # a way may be so much slower or faster than the others; the seeds' own do by 1.5
FAMILIES = ("low rank", "Kronecker", "tensor train", "tensor product")


@dataclass(frozen=True)
class Setting:
    """Sizes: n tokens of length d, looked up and scored so many at a time, and the ranks."""

    n: int = 160_000
    d: int = 4096
    tokens: int = 2048
    scored: int = 128
    low_rank: int = 128
    terms: int = 16
    inner_rank: int = 16


def module(way: str, setting: Setting, seed: int = 0) -> nn.Module:
    """Return the table of a way, drawn at random.

    Args:
        way: one of `LOOKUPS` or `HEADS`.
        setting: sizes.
        seed: of the table.

    Raises:
        ValueError: there is no such way.
    """
    n, d = setting.n, setting.d
    torch.manual_seed(seed_of(f"factorised lookup tables {seed}"))
    if way in ("plain", "dense head"):
        return nn.Embedding(n, d)
    if way in ("low rank", "low-rank head"):
        return LowRankEmbedding(n, d, setting.low_rank)
    if way == "tensor product":
        return TensorProductEmbedding(n, balanced_factors(d, 2))
    if way == "Kronecker":
        sizes = covering_factors(n, 4), balanced_factors(d, 4)
        return KroneckerEmbedding(*sizes, setting.terms, num_embeddings=n)
    if way in ("built", "tensor train"):
        sizes = covering_factors(n, 3), balanced_factors(d, 3)
        return TensorTrainEmbedding(*sizes, setting.inner_rank, num_embeddings=n)
    raise ValueError(f"way: got {way!r}; accepted: {', '.join(LOOKUPS + HEADS)}")


def job(way: str, setting: Setting, seed: int = 0) -> Callable[[], torch.Tensor]:
    """Return what is timed for a way: a lookup of all tokens, or the scores of all states."""
    table: Any = module(way, setting, seed)  # `nn.Embedding` or a family, as the way says
    generator = torch.Generator().manual_seed(seed_of(f"factorised lookup tokens {seed}"))
    tokens = torch.randint(setting.n, (setting.tokens,), generator=generator)
    hidden = torch.randn(setting.scored, setting.d, generator=generator)
    if way == "dense head":
        return lambda: hidden @ table.weight.T
    if way == "low-rank head":
        return lambda: table.attend(hidden)
    if way == "built" and isinstance(table, FactorisedEmbedding):
        return lambda: table.dense()[tokens]
    return lambda: table(tokens)


def timed(work: Callable[[], torch.Tensor]) -> tuple[float, float]:
    """Return the seconds and the CPU seconds that a piece of work takes, without gradients."""
    with torch.no_grad():
        started, cpu = time.perf_counter(), time.process_time()
        work()
        return time.perf_counter() - started, time.process_time() - cpu


def counted(work: Callable[[], torch.Tensor]) -> dict[str, int]:
    """Return the multiplications of a piece of work, and the bytes that it has alive at most."""
    with torch.no_grad(), Count() as count:
        work()
    return {"multiplications": count.multiplications, "bytes": count.peak}


def flop_ratio(setting: Setting) -> float:
    """Multiplications of the dense head over those of the low-rank one."""
    n, d, r = setting.n, setting.d, setting.low_rank
    return n * d / (r * (n + d))


def figures(seconds: dict[str, float], setting: Setting) -> dict[str, float]:
    """Return what is aimed at: ratios of times.

    Args:
        seconds: of every way.
        setting: sizes.

    Returns:
        How many times faster the tensor train is than building its table; how many times as long
        as a plain lookup the slowest factorised one takes; how many times faster the low-rank
        head is, and that as a part of the ratio of multiplications.
    """
    slowest = max(seconds[way] for way in LOOKUPS if way not in ("plain", "built"))
    faster = seconds["dense head"] / seconds["low-rank head"]
    return {
        "built over tensor train": seconds["built"] / seconds["tensor train"],
        "built over the slowest": seconds["built"] / slowest,
        "slowest over plain": slowest / seconds["plain"],
        "dense head over low-rank head": faster,
        "part of the FLOP ratio": faster / flop_ratio(setting),
    }


def run() -> dict[str, Any]:
    """The recorded comparison: nine draws of tables and tokens, at the size of a real model."""
    setting = Setting()
    costs = part("counted", partial(counts, setting))
    return {
        str(seed): costs
        | with_figures(part(f"seed {seed}", partial(in_turn, setting, 5, seed)), setting)
        for seed in SEEDS["tables and tokens"]
    }


def fingerprint() -> dict[str, Any]:
    """What each way gives and costs at small sizes, and the figures of given times."""
    setting = Setting(n=90, d=24, tokens=5, scored=3, low_rank=4, terms=3, inner_rank=2)
    ways = {way: job(way, setting, seed=1) for way in LOOKUPS + HEADS}
    times = {way: 1.0 + 0.5 * place for place, way in enumerate(ways)}
    with torch.no_grad():
        made = {way: work() for way, work in ways.items()}
    return {
        "parameters": {way: _parameters(way, setting) for way in LOOKUPS},
        "counted": {way: counted(work) for way, work in ways.items()},
        "first row": {way: rows[0, :4].tolist() for way, rows in made.items()},
        "root mean square": {way: float(rows.square().mean().sqrt()) for way, rows in made.items()},
        "figures": figures(times, setting),
    }


def compare(
    n: int = 160_000,
    d: int = 4096,
    *,
    tokens: int = 2048,
    scored: int = 128,
    repeats: int = 5,
    seed: int = 0,
) -> dict[str, Any]:
    """Time all ways in turn, after a warm-up of each.

    Args:
        n: number of tokens in the table.
        d: length of an embedding; ``compare(16_000, 256)`` takes a second or two.
        tokens: looked up at a time.
        scored: hidden states that a head scores at a time.
        repeats: of every way; at least 5 for a figure that is kept.
        seed: of tables and tokens.

    Returns:
        By way the parameters, the multiplications, the bytes alive at most beside the parameters,
        and the processor's seconds, the least of the repeats; and the figures of these.
    """
    setting = Setting(n, d, tokens, scored)
    return counts(setting) | with_figures(in_turn(setting, repeats, seed), setting)


def counts(setting: Setting) -> dict[str, Any]:
    """Return what no draw and no machine changes: parameters, multiplications and bytes, by way."""
    return {
        "parameters": {way: _parameters(way, setting) for way in LOOKUPS},
        "counted": {way: counted(job(way, setting)) for way in LOOKUPS + HEADS},
    }


def in_turn(setting: Setting, repeats: int, seed: int) -> dict[str, float]:
    """Return the processor's seconds of each way, the least of its turns, after a warm-up of each.

    Other work on the machine makes some turns slower, and no turn faster.
    """
    ways = {way: job(way, setting, seed) for way in LOOKUPS + HEADS}
    for work in ways.values():
        timed(work)
    times = [{way: timed(work)[1] for way, work in ways.items()} for _ in range(repeats)]
    return {way: min(one[way] for one in times) for way in ways}


def with_figures(seconds: dict[str, float], setting: Setting) -> dict[str, Any]:
    """Return times of `in_turn`, and what is computed from them."""
    return {"seconds": seconds, "figures": figures(seconds, setting)}


def _parameters(way: str, setting: Setting) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in module(way, setting).parameters())
