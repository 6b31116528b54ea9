"""Products of short vectors: by definition, multiplied out, and where they are refused."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce

import pytest
import torch

from verified_transformer import Draw, Normal, Sampled, Uniform, symbols
from verified_transformer.lab import tables
from verified_transformer.lab.tables.products import rows_of


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


def test_dot_products_multiply() -> None:
    one, other = (tables.drawn_vectors(2, 3, 4)(name) for name in ("one", "other"))
    wanted = tables.entry_by_entry(one) @ tables.entry_by_entry(other)
    assert torch.allclose(tables.dot_by_factors(one, other), wanted)
    assert torch.allclose(tables.dot_of_rows(one, other), wanted)
    with pytest.raises(ValueError, match="shorter"):
        tables.dot_by_factors(one, other[:2])
