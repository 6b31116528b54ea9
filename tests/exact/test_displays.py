"""Displays: derivations told, expressions written, and formulas of a text read back."""

from __future__ import annotations

import pytest
import sympy as sp

from verified_transformer import (
    Derivation,
    Index,
    Induction,
    Matrix,
    Normal,
    Tensor,
    integrate_by_parts,
    mean,
    symbols,
    total,
    variance,
)  # fmt: skip
from verified_transformer.exact.displays.readback.holding import faults, members
from verified_transformer.exact.displays.readback.known import Unread
from verified_transformer.exact.displays.readback.marks import chains
from verified_transformer.exact.displays.readback.names import Names
from verified_transformer.exact.displays.readback.reading import read
from verified_transformer.exact.displays.written.layout import WIDEST, broken, width, words
from verified_transformer.exact.displays.written.telling import told
from verified_transformer.exact.displays.written.writing import written

d, σ, τ, n = symbols("d sigma tau n")
i, j = Index("i", d), Index("j", d)
w, v = Tensor("w", Normal(0, σ), d), Tensor("v", Normal(0, τ), d)
x = sp.Symbol("x", real=True)


def test_a_variance_is_told_by_its_patterns() -> None:
    text = told(variance(total(w[i] ** 2, i)), r"2d\sigma^4")
    assert r"S = \sum_{i=1}^{d} w_{i}^{2}" in text
    assert r"&= d\,\mathbb{E}[w^{4}] && i = j \\" in text
    assert r"&\quad + d\,(d - 1)\,\mathbb{E}[w^{2}]^{2} && i\ne j \\" in text
    assert r"$\mathbb{E}[w^{4}] = 3 \sigma^{4}$" in text
    assert text.rstrip("$ \n").endswith("&= 2d\\sigma^4.\n\\end{aligned}")


def test_what_has_mean_zero_is_said_to_vanish() -> None:
    assert "nothing is left" in told(mean(total(w[i] * v[i], i)))
    assert "Only terms with $i = j$" in told(mean(total(w[i] * v[i], i) ** 2))


def test_a_chain_and_an_induction_are_told() -> None:
    bell = sp.Integral(x**2 * sp.exp(-(x**2) / 2), (x, -sp.oo, sp.oo))
    chain = Derivation("integral of a bell", bell).then("integrate by parts", integrate_by_parts)
    assert "Integrate by parts:\n\n$$\n= \\sqrt{2} \\sqrt{\\pi}.\n$$" in told(chain)
    depth = sp.Symbol("l", integer=True, positive=True)
    growth = Induction("E |x_l|**2", depth, base=(0, 1), step=lambda u, _: u * 2)
    assert "u_{t+1} = 2 u_t." in told(growth.solved_by(2**depth))
    with pytest.raises(TypeError, match="solved_by"):
        told(growth)


def test_nothing_that_is_told_shows_python() -> None:
    S = Matrix("S", d, d)
    for quantity in (total(w[i] ** 2, i), total(w[i] * S[i, j] * w[j], i, j)):
        text = told(variance(quantity))
        assert not any(mark in text for mark in ("**", "Sum(", "!=", "tr(S*"))


@pytest.mark.parametrize(
    ("expression", "latex"),
    [
        (sp.exp(-(x**2) / 2), "e^{- x^{2}/2}"),
        (2 ** (-(d + 1) / sp.Integer(2)), "2^{- d/2 - 1/2}"),
        (σ**4 * d * (d + 2), r"d (d + 2) \sigma^{4}"),
        (total(w[i] * w[j], i, j), r"\sum_{i,j=1}^{d} w_{i} w_{j}"),
        (sp.Integral(x, (x, 0, 1)), r"\int_{0}^{1} x\, dx"),
    ],
)
def test_expressions_are_written_as_a_person_would(expression: sp.Expr, latex: str) -> None:
    assert written(expression) == latex


def test_long_sums_are_broken_between_terms() -> None:
    rows = broken("=", [f"{k}\\sigma^{{{k}}}d" for k in range(2, 14)])
    assert len(rows) > 1
    assert all(width(row) <= WIDEST + 2 for row in rows)
    assert words("coefficient of x_0 in E |w|^2") == (
        r"coefficient of $x_0$ in $\mathbb{E}\,\lVert w\rVert^2$"
    )


NAMES = (
    "w: Tensor(Normal(0, sigma), d); v: Tensor(Normal(0, tau), d); i: Index(d); j: Index(d); "
    "z: Normal(0, 1); s: Discrete((-1, 1), (1/2, 1/2)); W: Tensor(Normal(0, sigma), n, m); "
    "a: Index(n); b: Index(m); u: Tensor(Normal(0, 1), m); y: real; rad: Rademacher(2); "
    "f(x): x + x**3"
)


def names() -> Names:
    found = Names()
    found.let(NAMES.replace("1/2", "Rational(1, 2)"))
    return found


@pytest.mark.parametrize(
    ("latex", "value"),
    [
        (r"\operatorname{Var}\lVert w\rVert^2", 2 * d * σ**4),
        (r"\mathbb{E}\Bigl[\bigl(\sum_{i=1}^{d} w_i^2\bigr)^2\Bigr]", d * (d + 2) * σ**4),
        (r"d\,\mathbb{E}[w_1^4]+d(d-1)\,\mathbb{E}[w_1^2]^2", d * (d + 2) * σ**4),
        (r"\sum_{i,j}\mathbb{E}[w_i^2w_j^2]", d * (d + 2) * σ**4),
        (r"\sum_{i\ne j}\mathbb{E}[w_i^2w_j^2]", d * (d - 1) * σ**4),
        (r"\sum_i\operatorname{Var}(w_i^2)", 2 * d * σ**4),
        (r"\mathbb E(w\cdot v)^2", d * σ**2 * τ**2),
        (r"\mathbb{E}[w^\top v]^2", 0),
        (r"\mathbb{E}\langle w,v\rangle^2", d * σ**2 * τ**2),
        (r"\mathbb{E}\Bigl[\Bigl(\sum_b W_{ab}u_b\Bigr)^2\Bigr]", symbols("m") * σ**2),
        (r"\mathbb{E}[\operatorname{relu}(z)^2]", sp.Rational(1, 2)),
        (r"\operatorname{Var}(z^2)", 2),
        (r"\mathbb{E}[s^2]", 1),
        (r"\mathbb{E}[\operatorname{rad}^4]", 16),
        (r"\sqrt{\frac{2}{\pi}}\int_0^\infty x\,e^{-x^2/2}\,dx", sp.sqrt(2 / sp.pi)),
        (r"\int_{-\infty}^{\infty}\Bigl(\int_0^1 t\,dt\Bigr)e^{-x^2}dx", sp.sqrt(sp.pi) / 2),
        (r"\frac12\log 2\pi e", sp.log(2 * sp.pi * sp.E) / 2),
        (r"\tfrac{1}{2}\ln d/\sigma", sp.log(d) / (2 * σ)),
        (r"\log_2 d", sp.log(d, 2)),
        (r"\sum_{k=0}^{n-1} 2^k", 2**n - 1),
        (r"\prod_{k=1}^{n} k", sp.factorial(n)),
        (r"n!\binom{4}{2}", 6 * sp.factorial(n)),
        (r"50\,257", 50257),
        (r"3.6\,\%", sp.Rational(36, 1000)),
        (r"\sin^2 y+\cos^2 y", 1),
        (r"\Phi(0)", sp.Rational(1, 2)),
        (r"-\frac{d(d-1)}{2}", -d * (d - 1) / 2),
        (r"\begin{cases}1 & d>0\\ 0 & \text{otherwise}\end{cases}", 1),
        (r"\max(0,-d)+\lvert -d\rvert", d),
        (r"\tilde x-\tilde{x}", 0),
        (r"f''(2)+f'(1)", 16),
        (r"\mathbb{E}[z\,f(z)]-\mathbb{E}[f'(z)]", 0),
        (r"\sqrt d\,\lVert w\rVert-\sqrt d\,\sqrt{w\cdot w}", 0),
    ],
)
def test_textbook_formulas_are_read(latex: str, value: object) -> None:
    from verified_transformer.exact.formulas.evaluation import equivalent

    found = read(latex, names())
    assert equivalent(found, sp.sympify(value), tolerance=1e-9), found


@pytest.mark.parametrize(
    "latex",
    [
        r"\sum_{i=2}^d w_i",
        r"\lVert q\rVert",
        r"a\circ b",
        r"\frac{1}{",
        r"\sum k",
        r"\int x",
        r"w v",
        "",
        r"(d",
        r"W v",
    ],
)
def test_what_cannot_be_read_is_refused(latex: str) -> None:
    with pytest.raises((Unread, ValueError)):
        read(latex, names())


def test_a_mean_is_linear_over_what_cannot_be_computed() -> None:
    known = names()
    known.define("r", read(r"\frac{\lVert w\rVert}{\sqrt d\,\sigma}", known))
    assert sp.expand(read(r"\mathbb{E}[(1-r)^2]", known) - read(r"2-2\,\mathbb{E}[r]", known)) == 0
    assert read(r"\mathbb{E}[2L+\sigma]-2\mathbb{E}[L]", known) == σ


def test_an_aligned_display_is_cut_into_chains() -> None:
    display = (
        r"\begin{aligned} a &= b && \text{why} \\ &\quad + c \\ &\le e, \\[2pt] x &= y \tag{3}"
        r"\end{aligned}"
    )
    assert chains(display) == ["a = b + c \\le e", "x = y"]


@pytest.mark.canary
def test_a_sum_over_a_list_tells_its_places_apart() -> None:
    names = Names()
    alike = members(r"\sum_{k=1}^{n}e^{a_k}=n\,e^{a_1}", names)
    assert [fault for fault in faults(alike, {}, None) if "is false" in fault]
    squared = members(r"\sum_{k=1}^{n}a_k^2=\Bigl(\sum_{k=1}^{n}a_k\Bigr)^2", names)
    assert [fault for fault in faults(squared, {}, None) if "is false" in fault]
    apart = members(r"\sum_{k=1}^{n}(a_k+b_k)=\sum_{k=1}^{n}a_k+\sum_{k=1}^{n}b_k", names)
    assert not [*faults(apart, {}, None)]
