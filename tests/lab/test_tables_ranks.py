"""Statements on Kronecker products and rearrangements: true of one way, false of another."""

from __future__ import annotations

import pytest
import torch

from verified_transformer.lab.tables.ranks import rearranging, statements, trains
from verified_transformer.lab.tables.ranks.exact import identity, integers, normals
from verified_transformer.models.factorised.decompositions import rearranged, tensor_train

SQUARE = ((32, 32), (8, 8))
TALL = ((1024, 1), (1, 64))


@pytest.mark.parametrize(
    ("statement", "right", "wrong"),
    [
        (statements.has_products_of_values, torch.kron, statements.row_by_row),
        (statements.becomes_rank_one, rearranging.blocks_as_rows, rearranging.pieces_as_rows),
        (
            statements.turns_outer_into_kronecker,
            rearranging.blocks_as_rows, rearranging.pieces_as_rows,
        ),
        (
            statements.are_extremes, lambda a, b: integers("u", a * b),
            lambda a, b: torch.kron(integers("u", a), integers("u", b)),
        ),
        (
            statements.unfolds_to_rearranged, rearranged,
            lambda W, rows, columns: W.reshape(*rows, *columns),
        ),
        (
            statements.is_nearest, rearranging.nearest_products,
            lambda *problem: rearranging.alternating_products(*problem, sweeps=2),
        ),
    ],
)  # fmt: skip
def test_a_statement_tells_right_from_wrong(statement, right, wrong) -> None:
    assert statement(right) is True and statement(wrong) is False


def test_full_rank_needs_factors_of_each_row_s_own() -> None:
    sizes = ((14, (3, 4)), (7, (2, 2, 2)))
    assert statements.have_full_rank(sizes, shared=False)
    assert not statements.have_full_rank(sizes, shared=True)
    assert torch.equal(statements.products_of_units((2, 3)), identity(6))


def test_a_train_errs_between_the_tails() -> None:
    shapes = ((1, 6, 2), (2, 8, 3), (3, 10, 1))
    near = trains.contracted([normals(f"core {j}", *shape) for j, shape in enumerate(shapes)])
    targets = [(near + normals("three", 6, 8, 10) / 10, (2, 3))]
    assert statements.is_between_tails(tensor_train, targets)
    assert not statements.is_between_tails(trains.by_columns, targets)


def test_the_square_cut_gains_most() -> None:
    many = normals("tables", 3, 1024, 64)
    assert statements.square_cut_gains_most([many], [SQUARE, TALL])
    assert not statements.square_cut_gains_most([many], [TALL, SQUARE])
