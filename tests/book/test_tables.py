"""Tables of products of short vectors: by definition, multiplied out, counted, learnt, refused."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce

import pytest
import torch

from verified_transformer import Draw, Normal, Sampled, Uniform, ZipfMarkov, symbols
from verified_transformer.book import tables
from verified_transformer.book.tables import takes_products_as_rows
from verified_transformer.book.tables.products import rows_of


def test_multiplied_out() -> None:
    x = tables.whole_vectors(3, 2, batch=(5,))
    assert torch.equal(tables.multiplied_out(x), torch.stack([torch.kron(*token) for token in x]))


@pytest.mark.parametrize("x", [torch.ones(3), [], torch.ones(0, 2)])
def test_no_vectors_are_refused(x) -> None:
    with pytest.raises(ValueError, match="x: got"):
        rows_of(x)


def test_being_a_product() -> None:
    u, v = [Fraction(1, 3), Fraction(2)], [Fraction(5), Fraction(7, 2), Fraction(1)]
    whole = [a * b for a in u for b in v]
    assert tables.is_product(whole, (2, 3))
    assert not tables.is_product([*whole[:-1], Fraction(9)], (2, 3))
    assert tables.is_product(torch.tensor([3, 4, 6, 8]), (2, 2))
    with pytest.raises(ValueError, match="lengths: got"):
        tables.is_product(whole, (2, 2))


@pytest.mark.parametrize("lengths", [(2, 2), (2, 3), (3, 3), (2, 3, 4), (2, 2, 2, 2)])
def test_dimension_of_products(lengths) -> None:
    assert tables.dimension(lengths) == sum(lengths) - len(lengths) + 1


def test_the_derivative_is_autograds() -> None:
    x = tables.whole_vectors(2, 3)
    auto = torch.autograd.functional.jacobian(tables.multiplied_out, x).flatten(1)
    assert torch.equal(auto, tables.derivative(list(x)))


@pytest.mark.parametrize("lengths", [(2, 3), (3, 2, 4), (2, 2, 2, 2)])
def test_the_definition_entry_by_entry(lengths) -> None:
    x = tables.drawn_vectors(*lengths)("definition")
    assert [len(vector) for vector in x] == list(lengths)
    assert torch.equal(tables.entry_by_entry(x), reduce(torch.kron, x))
    assert not torch.equal(tables.drawn_vectors(*lengths)("another")[0], x[0])


def test_enumerated_mean() -> None:
    q, σ = symbols("q sigma")
    x = {"x": Draw(Uniform.of_variance(σ**2), (q,))}
    square = Sampled("E |x|^2", x, lambda x: x.square().sum(1))
    assert tables.over_all_outcomes(square)({q: 3, σ: 2}) == pytest.approx(12)
    shifted = Sampled("E |x|^2", {"x": Draw(Normal(1, 1), (2,))}, lambda x: x.square().sum(1))
    with pytest.raises(ValueError, match="x has a mean"):
        tables.over_all_outcomes(shifted)({})


def test_share_of_the_best_pair() -> None:
    product = tables.multiplied_out(tables.whole_vectors(2, 2))
    rows = torch.stack([product, torch.tensor([1.0, 0, 0, 1]).double()])
    assert tables.share_of_best_pair(rows).tolist() == pytest.approx([1, 0.5])
    with pytest.raises(ValueError, match="vectors: got length 3"):
        tables.share_of_best_pair(torch.ones(1, 3))


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
    assert gpt2.entries == 38_597_376
    assert gpt2.share == pytest.approx(0.310, abs=1e-3)
    assert gpt2.saved(128) * gpt2.whole == pytest.approx(38_597_376 - 128 * (50257 + 768))


def test_bytes_of_a_table_in_training() -> None:
    assert tables.bytes_in_training(7, 3) == 16 * 21


def test_ten_listed_tables() -> None:
    listed = tables.listed_tables()
    assert len(listed) == 10 and len(tables.default_shapes()) == 26
    assert listed["PaLM 540B"] == (256000 * 18432, "chowdhery2023")


def test_work_of_two_thin_matrices() -> None:
    assert tables.costs.thin_lookup(50, 24, 3) == (0, 3 * 24)
    assert tables.costs.thin_scores(50, 24, 3) == (50 * 24, 3 * (50 + 24))
    assert tables.costs.product_scores(20, 4, 3)[0] == 20 * 4**3
    plain, made = tables.costs.product_lookup(20, 4, 3)
    assert plain == 0 < made < tables.costs.one_hot_product_lookup(20, 4, 3)[0]


def test_real_models_take_products_whose_lengths_multiply_to_the_width() -> None:
    assert takes_products_as_rows((2, 8))
    assert not takes_products_as_rows((8, 8))
