"""Displays: formulas of a text, read back."""

from __future__ import annotations

import pytest
import sympy as sp

from verifiedbook import symbols
from verifiedbook.exact.displays.latex_reader import read
from verifiedbook.exact.displays.marks import Unread, chains
from verifiedbook.exact.displays.names import Names
from verifiedbook.exact.displays.relations import faults, members

d, σ, τ, n = symbols("d sigma tau n")


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
    from verifiedbook.exact.formulas.evaluation import equivalent

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
    assert chains(r"x = \underbrace{y_{1}}_{\text{its own}} + z") == ["x = {y_{1}} + z"]


@pytest.mark.canary
def test_a_sum_over_a_list_tells_its_places_apart() -> None:
    names = Names()
    alike = members(r"\sum_{k=1}^{n}e^{a_k}=n\,e^{a_1}", names)
    assert [fault for fault in faults(alike, {}, None) if "is false" in fault]
    squared = members(r"\sum_{k=1}^{n}a_k^2=\Bigl(\sum_{k=1}^{n}a_k\Bigr)^2", names)
    assert [fault for fault in faults(squared, {}, None) if "is false" in fault]
    apart = members(r"\sum_{k=1}^{n}(a_k+b_k)=\sum_{k=1}^{n}a_k+\sum_{k=1}^{n}b_k", names)
    assert not [*faults(apart, {}, None)]
