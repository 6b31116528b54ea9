"""Second moments by hooks: exact layers are met, wrong ones are seen, calls are kept apart."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from verified_transformer.engine.exact.integrals.activations import activation
from verified_transformer.engine.sampling.propagation import second_moments


def dense(fan_in, fan_out, variance):
    layer = nn.Linear(fan_in, fan_out, bias=False)
    nn.init.normal_(layer.weight, std=variance**0.5)
    return layer


def normal_inputs(*shape):
    return lambda generator: torch.randn(shape, generator=generator)


def by_name(rows):
    return {(row.module, row.call): row for row in rows}


def deviation(found, expected):
    return abs(found.mean - expected) / found.standard_error


@pytest.mark.slow
def test_dense_layers_have_their_second_moments():
    def build():
        return nn.Sequential(dense(30, 50, 1 / 30), dense(50, 20, 2 / 50))

    rows = by_name(second_moments(build, normal_inputs(4, 30), name="two layers", draws=400))
    assert deviation(rows["0", 1].forward, 1.0) < 4.5
    assert deviation(rows["1", 1].forward, 2.0) < 4.5


@pytest.mark.canary
def test_a_wrong_variance_is_seen():
    rows = second_moments(
        lambda: dense(30, 50, 1.1 / 30), normal_inputs(4, 30), name="x", draws=400
    )
    assert deviation(rows[0].forward, 1.0) > 4.5


def test_an_activation_after_a_wide_layer_has_the_gaussian_moment():
    def build():
        return nn.Sequential(dense(64, 64, 1 / 64), nn.GELU())

    rows = by_name(second_moments(build, normal_inputs(8, 64), name="gelu", draws=300))
    expected = activation("gelu").quadrature(2).value
    # the pre-activation is normal only given the input's length, which scatters by sqrt(2/64)
    assert rows["1", 1].forward.mean == pytest.approx(expected, rel=0.02)


def test_a_module_that_is_used_twice_has_two_rows():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = dense(8, 8, 4 / 8)

        def forward(self, x):
            return self.layer(self.layer(x)), None

    rows = second_moments(Twice, normal_inputs(3, 8), name="twice", draws=3)
    assert [(row.module, row.call) for row in rows] == [("layer", 1), ("layer", 2), ("model", 1)]
    assert rows[2].kind == "Twice"
    assert rows[1].forward == rows[2].forward


def test_the_same_name_gives_the_same_numbers_and_leaves_the_generator_alone():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first, again = (
        second_moments(lambda: dense(5, 3, 1), normal_inputs(2, 5), name="n", draws=4)
        for _ in range(2)
    )
    assert first == again
    assert torch.equal(before, torch.random.get_rng_state())


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="draws: got 1"):
        second_moments(lambda: dense(5, 3, 1), normal_inputs(2, 5), name="n", draws=1)
    with pytest.raises(TypeError, match="build: returned int"):
        second_moments(lambda: 3, normal_inputs(2, 5), name="n")
    with pytest.raises(TypeError, match="no tensor"):
        second_moments(lambda: _Silent(), normal_inputs(2, 5), name="n")
    sizes = iter(range(2, 50))
    with pytest.raises(ValueError, match="other modules"):
        second_moments(
            lambda: nn.Sequential(*[dense(5, 5, 1) for _ in range(next(sizes))]),
            normal_inputs(2, 5),
            name="n",
        )


class _Silent(nn.Module):
    def forward(self, x):
        return None
