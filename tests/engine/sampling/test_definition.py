"""One definition of a statistic: it must be able to fail, and then serves pilot and draw."""

from __future__ import annotations

import pytest
import torch

from verified_transformer.engine.exact.formulas.notation import symbols
from verified_transformer.engine.exact.laws import Discrete, Normal, Rademacher
from verified_transformer.engine.exact.moments import Index, Tensor, mean, total
from verified_transformer.engine.sampling.design import Design
from verified_transformer.engine.sampling.measuring import measure
from verified_transformer.engine.sampling.quantities import Piloted, Sampled
from verified_transformer.engine.sampling.statistics import require_definition

d, n, σ, τ = symbols("d n sigma tau")
i, j = Index("i", d), Index("j", d)
COARSE = Design(resolution=0.05, false_alarm=1e-4, miss=0.01)
AT = {d: 3, σ: 1.3}
ONE = Tensor("one", Discrete((1,), (1,)))

IMPOSTORS = {
    "closed form": (lambda w, v: torch.full((len(w),), 3 * 1.3**2).to(w), "whatever its inputs"),
    "ignores v": (lambda w, v: (w * w).sum(-1), "ignores its input v"),
    "average of the batch": (lambda w, v: (w * v).sum(-1).mean().expand(len(w)), "mixes replic"),
    "centred by the batch": (lambda w, v: (w * v).sum(-1) - w.mean(), "mixes replicates"),
    "depends on the batch's size": (lambda w, v: (w * v).sum(-1) * len(w), "mixes replicates"),
    "closed form and noise": (
        lambda w, v: 5.07 + torch.randn(len(w)).to(w), "draws nothing itself",
    ),
    "one number an entry": (lambda w, v: w * v, "returned shape"),
}  # fmt: skip


@pytest.mark.canary
@pytest.mark.parametrize("name", IMPOSTORS)
def test_a_single_definition_that_cannot_fail_is_refused(name: str) -> None:
    statistic, message = IMPOSTORS[name]
    draws = {"w": Tensor("w", Normal(0, σ), d), "v": Tensor("v", Normal(0, σ), d)}
    with pytest.raises(ValueError, match=f"statistic: .*{message}"):
        measure(Sampled("E w.v", draws, statistic), None, AT, 0.0, name="x", design=COARSE)


def test_one_definition_serves_pilot_and_draw() -> None:
    draws = {"w": Tensor("w", Normal(0, σ), d), "one": ONE}
    norm = Sampled("E |w|", draws, lambda w, one: one * w.norm(dim=-1))
    expected = 1.3 * (8 / torch.pi) ** 0.5
    found = measure(norm, None, AT, expected, name="norm", design=COARSE)
    assert not found.rejects(expected) and found.rejects(1.05 * expected)


def test_a_polynomial_needs_no_second_definition() -> None:
    w = Tensor("w", Normal(0, σ), d)
    square, at = mean(total(w[i] * w[j], i, j)), {d: 2, σ: 1.3}
    found = measure(square, None, at, 2 * 1.3**2, name="square", design=COARSE)
    assert not found.rejects(2 * 1.3**2) and found.rejects(2.2 * 1.3**2)


@pytest.mark.canary
def test_a_definition_in_numpy_cannot_be_drawn_alone() -> None:
    quantity = Piloted("E w", {"w": Tensor("w", Normal(0, σ), d)}, lambda w: w.sum(-1))
    with pytest.raises(TypeError, match=r"statistic: none given, .* is in NumPy"):
        measure(quantity, None, AT, 0.0, name="x")


def test_a_statistic_may_be_the_same_for_all_draws_of_its_own_law() -> None:
    draws = {"w": Tensor("w", Rademacher(σ), d)}
    require_definition(lambda w: (w * w).sum(-1), draws, {d: 3, σ: 2}, "|w|²")


def test_a_statistic_is_given_sizes_as_integers() -> None:
    seen = {}

    def statistic(w: torch.Tensor, point: dict) -> torch.Tensor:
        seen.update(point)
        return w.sum(-1)

    require_definition(statistic, {"w": Tensor("w", Rademacher(σ), d)}, {d: 2, σ: 1}, "w")
    assert isinstance(seen[d], int) and isinstance(seen[σ], float)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("point", "error", "message"),
    [
        ({"d": 3, σ: 1}, TypeError, "point: got the key 'd', a str"),
        ({σ: 1}, ValueError, "point: got no value for d, a size of the input 'w'"),
        ({d: 3}, ValueError, "point: got no value for sigma, in the law of the input 'w'"),
        ({d: 0, σ: 1}, ValueError, "point: gives the input 'w' the size 0"),
        ({d: 2.5, σ: 1}, ValueError, "point: gives the input 'w' the size 2.5"),
    ],
)
def test_a_bad_point_is_named(point: dict, error: type[Exception], message: str) -> None:
    draws = {"w": Tensor("w", Rademacher(σ), d)}
    with pytest.raises(error, match=message):
        measure(Sampled("E w_1", draws, lambda w: w.sum(-1)), None, point, 0.0, name="x")


@pytest.mark.canary
def test_bad_draws_and_statistics_are_named() -> None:
    with pytest.raises(TypeError, match="draws: got 'w': 3; accepted: a name and what is drawn"):
        Sampled("E", {"w": 3}, lambda w: w)  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="draws: got none"):
        Sampled("E", {}, lambda: None)
    draws = {"w": Tensor("w", Rademacher(1), d)}
    for statistic, message in (
        (lambda x: x, r"statistic: takes x; accepted: .* inputs, w, and point"),
        (lambda w: 3.0, "statistic: returned float; accepted: a torch tensor"),
    ):
        with pytest.raises(TypeError, match=message):
            require_definition(statistic, draws, {d: 2}, "E")
    with pytest.raises(TypeError, match="definition: got 5; accepted: a function"):
        Piloted("E", draws, 5)  # type: ignore[arg-type]
