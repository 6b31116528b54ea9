"""What an initialiser draws, seen in the lengths of its vectors."""

from __future__ import annotations

import pytest
import torch

from verified_transformer.lab import initialisers


@pytest.mark.parametrize(("law", "kurtosis"), [("normal", 3), ("uniform", 9 / 5)])
@pytest.mark.parametrize("sd", [0.02, 1.0])
def test_the_squared_length_is_off_by_the_kurtosis_less_one_over_the_width(
    law: str, kurtosis: float, sd: float
) -> None:
    means, errors = initialisers.errors_of_lengths(law, sd, (16, 64), 4000)
    for width, mean, error in zip((16, 64), means, errors, strict=True):
        assert abs(mean - (kurtosis - 1) / width) < 4.9 * error


def test_another_law_is_refused() -> None:
    with pytest.raises(ValueError, match="law: got 'spike'; accepted: 'normal', 'uniform'"):
        initialisers.errors_of_lengths("spike", 1.0, (4,), 10)


def test_rows_of_an_orthogonal_matrix_have_one_length() -> None:
    normal = initialisers.variance_of_lengths(initialisers.normal_rows)
    orthogonal = initialisers.variance_of_lengths(torch.nn.init.orthogonal_)
    assert normal.oracle({}) == 0.13
    assert orthogonal.oracle({}) == 0
