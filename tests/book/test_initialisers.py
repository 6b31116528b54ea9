"""What an initialiser draws, seen in the lengths of its vectors."""

from __future__ import annotations

import torch

from verified_transformer.book import initialisers


def test_rows_of_an_orthogonal_matrix_have_one_length() -> None:
    normal = initialisers.variance_of_lengths(initialisers.normal_rows)
    orthogonal = initialisers.variance_of_lengths(torch.nn.init.orthogonal_)
    assert normal.oracle({}) == 0.13
    assert orthogonal.oracle({}) == 0
