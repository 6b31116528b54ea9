"""What embeddings of short vectors cost: counts at small sizes, known by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from verified_transformer import ZipfMarkov, symbols
from verified_transformer.lab import tables


def test_whole_vectors_depend_on_their_name_only() -> None:
    assert torch.equal(tables.whole_vectors(2, 3), tables.whole_vectors(2, 3))
    assert tables.whole_vectors(2, 3, batch=(5,)).shape == (5, 3, 2)
    assert not torch.equal(tables.whole_vectors(9, 9), tables.whole_vectors(9, 9, "others"))
    with pytest.raises(ValueError, match="length, number: got 0, 3"):
        tables.whole_vectors(0, 3)


def test_parameters_and_widths() -> None:
    assert tables.parameters((2, 3, 5), 7) == 70
    assert tables.width_of((2, 3, 5)) == 30
    with pytest.raises(ValueError, match="sizes: got"):
        tables.parameters((), 7)


def test_lookups_counted() -> None:
    made = tables.factorised_lookup(5, 3, 2)
    assert (made.reads, made.multiplications) == (30, 5 * (4 + 8))
    last = tables.factorised_lookup(5, 4, 2, lambda x: x[:, 0] * x[:, 1])
    assert last.multiplications == 5 * 2


@pytest.mark.parametrize("kind", tables.REAL_BLOCKS)
def test_blocks_of_real_models(kind) -> None:
    linear = (16 if kind == "llama" else 12) * 5 * 32**2  # Llama's inner layer has a gate
    assert 0.9 * linear < tables.block_multiplications(kind, 32, 5) < 1.2 * linear


def test_blocks_are_refused() -> None:
    with pytest.raises(ValueError, match="kind: got 't5'"):
        tables.block_multiplications("t5", 32, 5)
    with pytest.raises(ValueError, match="width: got 30"):
        tables.block_multiplications("bert", 30, 5)


def test_seconds() -> None:
    assert tables.median_seconds(lambda: None) < 0.1
    with pytest.raises(ValueError, match="times: got 0"):
        tables.median_seconds(lambda: None, 0)


def test_tables_learn_a_language() -> None:
    languages = [ZipfMarkov(8, seed=seed) for seed in range(2)]
    curve = tables.losses_in_languages(languages, (2, 2), steps=30, rate=0.05)
    assert curve.shape == (31, 2)
    assert (curve[-1] < curve[0]).all()
    assert (curve[-1] > torch.tensor([language.entropy_rate for language in languages])).all()
    frozen = tables.losses_in_languages(languages, (2, 2), steps=30, rate=0.05, head_learns=False)
    assert torch.equal(frozen[0], curve[0])
    assert (frozen[-1] > curve[-1]).all()
    with pytest.raises(ValueError, match="languages: got \\[8, 9\\] tokens"):
        tables.losses_in_languages([languages[0], ZipfMarkov(9)], (2, 2), steps=1)


def test_counts_at_points() -> None:
    n, d, k = symbols("n d k")
    stored = tables.at_sizes(tables.equal_parameters, n, k, d / k)
    assert stored({n: 7, d: 12, k: 4}) == 84
    with pytest.raises(ValueError, match="point: gives the sizes"):
        stored({n: 7, d: 13, k: 4})


def test_a_table_beside_its_model() -> None:
    found = tables.beside_their_models()
    assert list(found)[:2] == ["BERT base", "GPT-2"] and len(found) == 12
    gpt2 = found["GPT-2"]
    assert gpt2.entries == tables.table_entries(50257, 768) == 38_597_376
    assert gpt2.share == pytest.approx(0.310, abs=1e-3)
    assert gpt2.saved(128) * gpt2.whole == pytest.approx(38_597_376 - 128 * (50257 + 768))
    assert tables.share_beside_layers(5, 3, 2) == Fraction(5, 5 + 12 * 2 * 3)


def test_bytes_of_a_table_in_training() -> None:
    assert tables.bytes_in_training(7, 3) == 16 * 21


def test_ten_listed_tables() -> None:
    listed = tables.listed_tables()
    assert len(listed) == 10 and len(tables.default_shapes()) == 26
    assert listed["PaLM 540B"] == (256000 * 18432, "chowdhery2023")
