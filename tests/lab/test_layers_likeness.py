"""How alike tokens become in Post Norm stacks, on paper."""

from __future__ import annotations

import math

import pytest
import torch

from verified_transformer.lab.layers import (
    even_attention,
    feed_forward,
    mean_over_pairs,
    through_post_norm,
)


@pytest.mark.parametrize("alike", [-0.5, 0.0, 0.3, 0.9, 1.0])
def test_pairs_of_relus_and_of_their_slopes(alike: float) -> None:
    angle = math.acos(alike)
    relus = (math.sin(angle) + (math.pi - angle) * alike) / (2 * math.pi)
    slopes = (math.pi - angle) / (2 * math.pi)
    assert mean_over_pairs(torch.relu, alike) == pytest.approx(relus, abs=1e-6)
    assert mean_over_pairs(lambda z: (z > 0).double(), alike) == pytest.approx(slopes, abs=1e-3)


def test_a_relu_gives_back_what_it_takes_and_a_gelu_more() -> None:
    for f, more in ((torch.relu, 1.0), (torch.nn.functional.gelu, 1.07)):
        branch = feed_forward(768, 3072, 0.02**2, f)
        forward, back = branch.forward(0.5)[0], branch.back(0.5, 0.5)[0]
        assert back / forward == pytest.approx(more, abs=2e-3)


def test_lines_and_averages_send_the_gradient_back() -> None:
    branches = [even_attention(0.5, 64), feed_forward(64, 64, 1 / 64, lambda u: u)]
    states, share, gradient = through_post_norm(branches * 5)
    assert gradient == pytest.approx(1) and states[-1] > states[0] and share < 0.1


def test_a_relu_and_an_average_do_not() -> None:
    relu = feed_forward(64, 64, 1 / 64, torch.relu)
    assert through_post_norm([relu] * 10)[2] == pytest.approx(1)
    assert through_post_norm([even_attention(0.5, 64), relu] * 10)[2] < 0.9
