"""The error bar of `initial_loss` in all of a law's domain, at the points of the bench."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from first_loss_domain import LAWS, Headed, points
from scipy.stats import kstest

from weightwise import initial_loss


@cache
def z_scores(law: str) -> np.ndarray:
    """Of one draw and of the mean of four, at 24 points of a law's domain."""
    return points(law, 24, 4).T[1:]


def calibrated(z: np.ndarray) -> bool:
    """Whether z-scores, those of one draw and those of a mean, are normal numbers."""
    return all(kstest(each, "norm").pvalue > 1e-3 and 0.6 < each.std(ddof=1) < 1.5 for each in z)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_the_error_bar_is_that_of_one_draw_in_all_of_a_laws_domain(law: str) -> None:
    assert calibrated(z_scores(law))


@pytest.mark.canary
@pytest.mark.parametrize(
    "fault",
    [lambda z: z + np.array([[1], [2]]), lambda z: 2 * z, lambda z: z / 3],
    ids=["+1", "*2", "/3"],
)
def test_a_law_that_is_off_by_an_error_bar_or_says_a_wrong_one_is_seen(fault: Any) -> None:
    z = z_scores("soft-capped logits")
    assert calibrated(z)
    assert not calibrated(fault(z))


def test_a_bias_behind_a_cap_is_refused() -> None:
    with pytest.raises(ValueError, match="got a soft-cap and a bias; accepted: one of them"):
        initial_loss(model := Headed(3000, 128, 1.0, torch.ones(3000), cap=5.0), body=model.body)
