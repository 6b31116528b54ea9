"""The streamed first loss: equal to the plain one, within its memory, refusing what it must."""

from __future__ import annotations

import math
from itertools import accumulate

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from weightwise.first_loss import (
    DrawnVocabulary,
    first_loss,
    normalised,
    two_gram_loss,
)
from weightwise.heads import half_swap


@pytest.fixture
def case() -> dict[str, torch.Tensor]:
    g = torch.Generator().manual_seed(7)
    kind = {"dtype": torch.float64, "generator": g}
    return {
        "features": torch.randn(2, 5, 6, **kind),
        "vocabulary": 1.3 * torch.randn(1000, 6, **kind),
        "bias": 0.7 * torch.randn(1000, **kind),
        "own": torch.randint(1000, (2, 5), generator=g),
        "law": torch.rand(1000, **kind),
    }


def plain(features, vocabulary, bias, law, own=None) -> torch.Tensor:
    """Mean of PyTorch's cross-entropy over all labels, one by one, under a law."""
    logits = features @ vocabulary.T + bias
    every = -logits.log_softmax(-1)
    law = law.expand_as(logits).clone()
    if own is not None:
        law.scatter_(-1, own.unsqueeze(-1), 0.0)
    return (every * law).sum(-1) / law.sum(-1)


@pytest.mark.parametrize("block", [1, 7, 256, 1000, 5000])
def test_equals_the_plain_loss_in_any_blocks(case: dict, block: int) -> None:
    law = case["law"] / case["law"].sum()
    for own in (None, case["own"]):
        found = first_loss(
            case["features"], case["vocabulary"],
            bias=case["bias"], own=own, label_law=law, block=block,
        )  # fmt: skip
        expected = plain(case["features"], case["vocabulary"], case["bias"], law, own)
        assert torch.allclose(found.loss, expected, rtol=1e-12, atol=0)


def test_parts_add_up(case: dict) -> None:
    found = first_loss(case["features"], case["vocabulary"], own=case["own"])
    logits = case["features"] @ case["vocabulary"].T
    assert torch.allclose(found.logsumexp, logits.logsumexp(-1), rtol=1e-12)
    own = logits.gather(-1, case["own"].unsqueeze(-1)).squeeze(-1)
    assert torch.allclose(found.own_logit, own, rtol=1e-12)
    assert torch.allclose(found.loss, found.logsumexp - found.mean_logit, rtol=1e-12)


@pytest.mark.parametrize("shift", [0.0, 3e4, -3e4])
def test_large_logits_neither_overflow_nor_lose_digits(shift: float) -> None:
    features, rows = torch.ones(3, 1), torch.randn(500, 1) + shift
    found = first_loss(features, rows, block=64)
    logits = features.double() @ rows.double().T
    expected = logits.logsumexp(-1) - logits.mean(-1)
    assert torch.allclose(found.loss, expected, atol=2e-2 if shift else 1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_tokens_may_be_shut_out_by_the_bias(dtype: torch.dtype) -> None:
    """Padded vocabularies have rows that no label is and no probability goes to."""
    features, rows = torch.randn(3, 4).to(dtype), torch.randn(90, 4).to(dtype)
    bias, law = torch.zeros(90, dtype=dtype), torch.zeros(90)
    bias[:40], law[40:] = -math.inf, 1 / 50
    found = first_loss(features, rows, bias=bias, label_law=law, block=20)
    alone = first_loss(features, rows[40:], block=20)
    assert torch.allclose(found.loss, alone.loss, rtol=1e-5 if dtype != torch.bfloat16 else 1e-2)


def test_drawn_rows_are_the_same_however_they_are_asked_for() -> None:
    drawn = DrawnVocabulary(1000, 3, σ=0.3, seed=5)
    whole = drawn.rows(0, 1000)
    assert torch.equal(
        torch.cat([drawn.rows(i, min(i + 37, 1000)) for i in range(0, 1000, 37)]), whole
    )
    tokens = torch.tensor([[999, 0], [256, 255]])
    assert torch.equal(drawn.at(tokens), whole[tokens])
    assert whole.std().item() == pytest.approx(0.3, rel=0.05)
    assert not torch.equal(DrawnVocabulary(1000, 3, σ=0.3, seed=6).rows(0, 9), whole[:9])


def test_two_gram_loss_is_the_articles_model() -> None:
    table, tokens = torch.randn(50, 8, dtype=torch.float64), torch.arange(9)
    p = ((table[tokens] / table[tokens].norm(dim=-1, keepdim=True)) @ table.T * 8**0.5).softmax(-1)
    others = 1 - torch.eye(50, dtype=torch.float64)[tokens]
    expected = -(p.log() * others).sum(-1) / 49
    assert torch.allclose(two_gram_loss(table, tokens).loss, expected, rtol=1e-12)


def test_two_gram_loss_with_another_head_and_norm() -> None:
    table, tokens = torch.randn(50, 8, dtype=torch.float64), torch.arange(9)
    output = torch.randn(50, 8, dtype=torch.float64)
    found = two_gram_loss(
        table, tokens, features=lambda h: h[..., half_swap(8)], output=output,
        kind="layer", ε=0.2, exclude_own=False,
    )  # fmt: skip
    hidden = torch.nn.functional.layer_norm(table[tokens], (8,), eps=0.2)[..., half_swap(8)]
    assert torch.allclose(found.loss, plain(hidden, output, 0.0, torch.full((50,), 0.02)).double())
    assert found.own_logit is None


def test_normalised_is_torchs() -> None:
    x = torch.randn(4, 7, dtype=torch.float64)
    rms = torch.nn.functional.rms_norm(x, (7,), eps=0.1)
    assert torch.allclose(normalised(x, ε=0.1), rms, rtol=1e-12)


@pytest.mark.slow
def test_memory_is_not_that_of_the_table() -> None:
    table = DrawnVocabulary(50_257, 4096, σ=1 / 64, seed=1)
    features = torch.randn(64, 4096, generator=torch.Generator().manual_seed(1))
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        loss = first_loss(features, table).loss.mean().item()
    events = sorted(seen.profiler.kineto_results.events(), key=lambda event: event.start_ns())
    taken = [event.nbytes() for event in events if event.name() == "[memory]"]  # and given back
    assert 0 < max(accumulate(taken)) <= 4 * 50_257 * 4096 / 4  # a quarter of the table
    assert loss == pytest.approx(math.log(50_257) + 0.5, abs=0.01)


def test_wrong_arguments_are_named(case: dict) -> None:
    features, rows = case["features"], case["vocabulary"]
    with pytest.raises(ValueError, match=r"features: got shape \(2, 5, 6\); accepted: \(…, 4\)"):
        first_loss(features, rows[:, :4])
    with pytest.raises(ValueError, match=r"own: got shape \(2, 5, 1\); accepted: \(2, 5\)"):
        first_loss(features, rows, own=case["own"].unsqueeze(-1))
    with pytest.raises(ValueError, match=r"label_law: got shape \(1000,\) with sum 2"):
        first_loss(features, rows, label_law=torch.full((1000,), 0.002))
    with pytest.raises(ValueError, match=r"kind: got 'batch'; accepted: 'rms', 'layer'"):
        normalised(features, "batch")
    with pytest.raises(ValueError, match=r"σ: got 0; accepted: a positive"):
        DrawnVocabulary(3, 3, σ=0, seed=0)
    with pytest.raises(ValueError, match=r"block: got 0; accepted"):
        first_loss(features, rows, block=0)
    with pytest.raises(ValueError, match=r"bias: got shape \(1001,\); accepted: \(1000,\)"):
        first_loss(features, rows, bias=torch.zeros(1001))
    with pytest.raises(ValueError, match="own: got a token outside"):
        first_loss(features, rows, own=case["own"] - 1000)
    with pytest.raises(ValueError, match=r"label_law: got shape \(1000,\) with sum nan"):
        first_loss(features, rows, label_law=torch.full((1000,), math.nan))
    with pytest.raises(ValueError, match="label_law: all of it lies on an own token"):
        first_loss(features[:1, :1], rows[:1], own=torch.zeros(1, 1, dtype=torch.long))
    drawn = DrawnVocabulary(1000, 3, σ=1, seed=0)
    with pytest.raises(ValueError, match=r"start, stop: got 900, 2000; accepted"):
        drawn.rows(900, 2000)
    with pytest.raises(ValueError, match=r"tokens: accepted: 0 to 999"):
        drawn.at(torch.tensor([-1]))
