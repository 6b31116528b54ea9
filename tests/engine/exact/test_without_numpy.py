"""Where there is no NumPy, as in the published page, numbers come out the same."""

from __future__ import annotations

import pytest
import sympy as sp

from verified_transformer import Index, Normal, Tensor, TruncatedNormal, mean, total, variance
from verified_transformer.engine.exact.integrals import quadrature
from verified_transformer.engine.exact.laws import SKEWED, Law
from verified_transformer.engine.exact.moments import grid

x, d, σ = sp.Symbol("x", real=True), sp.Symbol("d", integer=True, positive=True), sp.Symbol("s")


@pytest.mark.parametrize(
    ("formula", "low", "high"),
    [
        (sp.exp(-(x**2) / 2) * x**4, -sp.oo, sp.oo),
        (sp.exp(-sp.exp(x)), 0, sp.oo),
        (sp.Piecewise((1 / (2 * sp.sqrt(3)), sp.Abs(x) < sp.sqrt(3)), (0, True)), -1, 1),
        (sp.erf(x) * sp.log(x), 0, 2),
        (1 / (1 + sp.exp(-x)), -sp.oo, 0),
        (sp.sqrt(x), 4, 1),
    ],
)
def test_quadrature_node_by_node(formula: sp.Expr, low: sp.Expr, high: sp.Expr) -> None:
    integral = sp.Integral(formula, (x, low, high))
    usual = quadrature.integrate_numerically(integral)
    plain = quadrature._node_by_node(integral)
    assert plain.value == pytest.approx(usual.value, rel=1e-13, abs=usual.error + plain.error)


@pytest.mark.parametrize("law", [Normal(0, σ), TruncatedNormal(0, σ, -2 * σ, 2 * σ), SKEWED])
@pytest.mark.parametrize("estimator", [mean, variance])
def test_brute_force_node_by_node(law: Law, estimator: type) -> None:
    i, w = Index("i", d), Tensor("w", law, d)
    definition = estimator(total(w[i] ** 2, i))
    point = {d: 3, σ: sp.Rational(13, 10)}
    usual = definition.oracle(point)
    power = 1 if estimator is mean else 2
    plain = grid._node_by_node(definition._definition, power, point)
    assert plain.value == pytest.approx(usual.value, rel=1e-12)


@pytest.mark.canary
def test_a_rule_of_too_few_nodes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    i, w = Index("i", d), Tensor("w", Normal(0, σ), d)
    definition = variance(total(w[i] ** 2, i))
    rule = grid._rule
    monkeypatch.setattr(grid, "_rule", lambda law, at, degree: rule(law, at, degree - 2))
    point = {d: 3, σ: sp.Rational(13, 10)}
    usual = definition.oracle(point)
    plain = grid._node_by_node(definition._definition, 2, point)
    assert abs(plain.value - usual.value) > 0.1 * usual.value
