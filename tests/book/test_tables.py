"""Tables of products of short vectors: by definition, multiplied out, counted, learnt, refused."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce

import pytest
import torch

from verified_transformer import ZipfMarkov, symbols
from verified_transformer.book import tables
from verified_transformer.book.tables.products import rows_of


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


def test_tables_learn_a_language() -> None:
    languages = [ZipfMarkov(8, seed=seed) for seed in range(2)]
    curve = tables.trained_tables(languages, (2, 2), steps=60).losses
    assert curve.shape == (61, 2)
    assert (curve[-1] < curve[0]).all()
    assert (curve[-1] > torch.tensor([language.entropy_rate for language in languages])).all()
    frozen = tables.trained_tables(languages, (2, 2), steps=60, head_learns=False).losses
    assert torch.equal(frozen[0], curve[0])
    assert (frozen[-1] > curve[-1]).all()
    with pytest.raises(ValueError, match="languages: got \\[8, 9\\] tokens"):
        tables.trained_tables([languages[0], ZipfMarkov(9)], (2, 2), steps=1)


def test_counts_at_points() -> None:
    n, d, k = symbols("n d k")
    stored = tables.at_sizes(tables.equal_parameters, n, k, d / k)
    assert stored({n: 7, d: 12, k: 4}) == 84
    with pytest.raises(ValueError, match="point: gives the sizes"):
        stored({n: 7, d: 13, k: 4})
