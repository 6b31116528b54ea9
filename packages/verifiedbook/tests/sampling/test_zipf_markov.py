"""The synthetic language: its law is the one it says, and its entropy rate is exact."""

from __future__ import annotations

import math

import pytest
import torch

from verifiedbook.sampling.zipf_markov import ZipfMarkov


@pytest.mark.parametrize(("n", "exponent"), [(40, 1.0), (300, 0.7)])
def test_zipfs_law_is_stationary(n: int, exponent: float) -> None:
    language = ZipfMarkov(n, exponent=exponent, strength=2.5, seed=3)
    law, ones = language.stationary, torch.ones(n, dtype=torch.float64)
    assert torch.allclose(law @ language.transition, law, rtol=1e-12)
    assert torch.allclose(language.transition.sum(1), ones, rtol=1e-12)
    ratio = law[0] / law[1:4]
    assert torch.allclose(ratio, torch.tensor([2.0, 3.0, 4.0]).double() ** exponent, rtol=1e-12)


def test_entropy_rate_by_definition() -> None:
    language = ZipfMarkov(5, strength=1.5)
    law, p = language.stationary.tolist(), language.transition.tolist()
    rate = -sum(law[i] * p[i][j] * math.log(p[i][j]) for i in range(5) for j in range(5))
    assert language.entropy_rate == pytest.approx(rate, rel=1e-13)
    # the entropy of four tokens is that of the first and three times the rate
    words = torch.cartesian_prod(*[torch.arange(5)] * 4)
    weight = language.stationary[words[:, 0]]
    for here, there in zip(words.T, words.T[1:], strict=False):
        weight = weight * language.transition[here, there]
    blocks = float(-(weight * weight.log()).sum())
    assert blocks == pytest.approx(language.unigram_entropy + 3 * rate, rel=1e-12)


def test_without_dependence_the_rate_is_the_unigram_entropy() -> None:
    language = ZipfMarkov(50, strength=0.0)
    assert language.entropy_rate == pytest.approx(language.unigram_entropy, rel=1e-12)
    assert ZipfMarkov(50, strength=2.0).entropy_rate < 0.9 * language.unigram_entropy


def test_samples_follow_the_law() -> None:
    language = ZipfMarkov(6, strength=2.0)
    drawn = language.sample(40_000, 5, torch.Generator().manual_seed(11))
    assert drawn.shape == (40_000, 5)
    for place in (0, 3):
        pairs = drawn[:, place] * 6 + drawn[:, place + 1]
        share = torch.bincount(pairs, minlength=36).double() / 40_000
        joint = language.joint.flatten()
        error = (joint * (1 - joint) / 40_000).sqrt()
        assert ((share - joint).abs() < 5 * error).all()


def test_a_sampled_code_length_is_the_rate() -> None:
    language = ZipfMarkov(200, strength=2.0)
    drawn = language.sample(300, 200, torch.Generator().manual_seed(2))
    codes = -language.transition[drawn[:, :-1], drawn[:, 1:]].log().mean(1)
    error = float(codes.std()) / math.sqrt(300)
    assert abs(float(codes.mean()) - language.entropy_rate) < 5 * error


def test_seeds_give_different_languages_and_the_same_again() -> None:
    first, again, other = (ZipfMarkov(20, seed=s).joint for s in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.allclose(first, other)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"n: got 2; accepted: at least 3"):
        ZipfMarkov(2)
    with pytest.raises(ValueError, match=r"exponent, strength: got 1\.0, -1; accepted"):
        ZipfMarkov(5, strength=-1)
