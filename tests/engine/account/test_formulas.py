"""Formulas of the registry as LaTeX: what is written is what was meant."""

from __future__ import annotations

import pytest

from verified_transformer.engine.account import registry
from verified_transformer.engine.account.rendering.formulas import latex, latex_fault

WRITTEN = {
    "2*d*sigma**4": r"2d\sigma^4",
    "sigma*d": r"\sigma d",
    "(kappa - 1)/d": r"\frac{\kappa-1}{d}",
    "a - (b - c)": "a-(b-c)",
    "a - (b + c)*d": "a-(b+c)d",
    "-(l - k)/2": r"\frac{-(l-k)}{2}",
    "2**(-(l - k)/2)": "2^{-(l-k)/2}",
    "a*(-b)": "a(-b)",
    "(a + b)**2": "(a+b)^2",
    "(-a)**2": "(-a)^2",
    "(a**b)**c": "(a^b)^c",
    "(a/b)**2": r"\left(\frac{a}{b}\right)^2",
    "exp(-x**2/2)": "e^{-x^2/2}",
    "exp(x/(a*b))": "e^{x/(ab)}",
    "3*8*d": r"3\cdot 8d",
    "log(n)**2": r"\log^2(n)",
    "Integral(x**2, (x, -oo, c))": r"\int_{-\infty}^cx^2\,dx",
    "Sum(x**k, (k, 1, n))": r"\sum_{k=1}^nx^k",
    "mean(total(W[i, j]*w[i], i, j)**2)": (
        r"\mathbb{E}\left[\left(\sum_{i}\sum_{j}W_{ij}w_{i}\right)^2\right]"
    ),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_a_formula_is_written_as_it_is_meant(text: str) -> None:
    assert latex(text) == WRITTEN[text]


@pytest.mark.canary
def test_a_changed_formula_is_written_otherwise() -> None:
    pairs = (
        ("2*d*sigma**4", "2*d*sigma**2"), ("a - b", "a + b"), ("a - (b - c)", "a - b - c"),
        ("a/(b*c)", "a/b*c"), ("(a*b)**2", "a*b**2"), ("-a**2", "(-a)**2"),
        ("exp(-(a + b)/2)", "exp(-a + b/2)"), ("a**(b*c)", "a**b*c"),
    )  # fmt: skip
    for first, second in pairs:
        assert latex(first) != latex(second)


@pytest.mark.canary
@pytest.mark.parametrize("text", ["a +", "a if b else c", "a // b", "open(x)", "'a'"])
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="text: "):
        latex(text)


def test_every_formula_of_the_registry_is_written() -> None:
    for claim in registry.load()[1].values():
        for reading in (claim.reading.parts if claim.reading else {}).values():
            for text in (reading.formula, reading.truth_formula, reading.claimed, reading.quantity):
                assert not text or latex_fault(f"${latex(text)}$") is None
