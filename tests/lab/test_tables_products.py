"""Products of short vectors: all ways give one embedding; wrong versions and bad input show."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce

import pytest
import torch

from verified_transformer import Draw, Normal, Sampled, Uniform, symbols
from verified_transformer.lab import tables
from verified_transformer.lab.tables.ways.chains import Chain
from verified_transformer.lab.tables.ways.multiplying_out import rows_of

WAYS = [
    tables.multiplied_out, tables.from_scratch, tables.in_place, tables.in_blocks,
    lambda x: tables.in_pairs(x)[0], tables.DIAGONAL, tables.NARROW, tables.as_train,
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sizes", [(2, 3), (3, 2), (2, 5), (4, 1)])
def test_every_way_gives_the_tensor_product(way, sizes) -> None:
    x = tables.whole_vectors(*sizes)
    assert torch.equal(way(x), reduce(torch.kron, x))


@pytest.mark.parametrize("way", WAYS)
def test_lengths_may_differ(way) -> None:
    x = [tables.whole_vectors(length, 1)[0] for length in (2, 3, 4)]
    assert torch.equal(way(x), reduce(torch.kron, x))


@pytest.mark.parametrize("way", WAYS[:3])
def test_batches(way) -> None:
    x = tables.whole_vectors(3, 2, batch=(5,))
    assert torch.equal(way(x), torch.stack([reduce(torch.kron, token) for token in x]))


def test_pairs_take_logarithmically_many_steps() -> None:
    assert [tables.in_pairs(tables.whole_vectors(2, k))[1] for k in (1, 2, 3, 4, 5, 8)] == [
        0, 1, 2, 2, 3, 3,
    ]  # fmt: skip


@pytest.mark.parametrize("x", [torch.ones(3), [], torch.ones(0, 2)])
def test_no_vectors_are_refused(x) -> None:
    with pytest.raises(ValueError, match="x: got"):
        rows_of(x)


@pytest.mark.parametrize("chain", [tables.DIAGONAL, tables.NARROW])
def test_the_articles_end_is_wrong(chain: Chain) -> None:
    x = tables.whole_vectors(2, 3)
    assert not torch.equal(chain.ended_by_first_elements(x), chain(x))
    assert chain.nonzeros(x) < sum(matrix.numel() for matrix in chain.matrices(x))


def test_readings_of_the_article() -> None:
    x = tables.whole_vectors(2, 3)
    found = {
        name: [tables.outcome(x, build(x), v) for v in tables.ends(x, torch.ones(())).values()]
        for name, build in tables.READINGS.items()
    }
    assert [name for name, row in found.items() if "right" in row] == [
        "diagonal, each copy at its place", "core of three dimensions",
    ]  # fmt: skip
    assert found["equal columns"][0] == "shapes do not fit"


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


def test_ranks_of_cuts() -> None:
    e = tables.multiplied_out(tables.whole_vectors(2, 3))
    assert tables.cut_ranks(e.reshape(2, 2, 2)) == [1, 1]
    assert tables.cut_ranks(torch.eye(4).reshape(2, 2, 2, 2)) == [2, 4, 2]


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


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_orders(number) -> None:
    x = tables.whole_vectors(2, number)
    e = tables.multiplied_out(x)
    assert tables.one_after_the_other(x)[1] == number - 1
    paired, steps = tables.first_with_last(x)
    assert steps == tables.in_pairs(x)[1]
    assert torch.equal(paired, e) is (number <= 2)
    batch = tables.whole_vectors(2, number, batch=(3,))
    assert torch.equal(tables.token_by_token(batch), tables.multiplied_out(batch))


def test_two_vectors() -> None:
    e1, e2 = tables.whole_vectors(2, 2)
    outer = torch.outer(e1, e2)
    for factors in (tables.column, tables.row_repeated):
        assert torch.equal(torch.matmul(*factors(e1, e2)), outer)
    with pytest.raises(RuntimeError):
        torch.matmul(*tables.printed_factors(e1, e2))
    assert torch.equal(tables.printed_product(e1, e2), outer)


def test_scores_without_embedding() -> None:
    x, h = tables.whole_vectors(3, 3), tables.whole_vectors(27, 1)[0]
    assert torch.equal(tables.score_without_embedding(x, h), tables.multiplied_out(x) @ h)
    assert torch.equal(tables.inner_by_factors(x), tables.inner_of_embeddings(x))


def test_share_of_the_best_pair() -> None:
    product = tables.multiplied_out(tables.whole_vectors(2, 2))
    rows = torch.stack([product, torch.tensor([1.0, 0, 0, 1]).double()])
    assert tables.share_of_best_pair(rows).tolist() == pytest.approx([1, 0.5])
    with pytest.raises(ValueError, match="vectors: got length 3"):
        tables.share_of_best_pair(torch.ones(1, 3))


@pytest.mark.parametrize("way", WAYS)
def test_statements_hold_of_every_way(way) -> None:
    assert tables.gives_tensor_product(way)


def test_statements_can_fail() -> None:
    def opposite(x):
        return tables.multiplied_out(x.flip(0))

    assert not tables.gives_tensor_product(opposite)
    assert tables.takes_logarithmic_steps(tables.in_pairs)
    for broken in (tables.first_with_last, tables.one_after_the_other):
        assert not tables.takes_logarithmic_steps(broken)
    assert tables.some_reading_is_right(lambda x: torch.ones(()))
    assert not tables.some_reading_is_right(lambda x: x[:, 0].prod())


def test_dot_products_multiply() -> None:
    one, other = (tables.drawn_vectors(2, 3, 4)(name) for name in ("one", "other"))
    wanted = tables.entry_by_entry(one) @ tables.entry_by_entry(other)
    assert torch.allclose(tables.dot_by_factors(one, other), wanted)
    assert torch.allclose(tables.dot_of_rows(one, other), wanted)
    with pytest.raises(ValueError, match="shorter"):
        tables.dot_by_factors(one, other[:2])
