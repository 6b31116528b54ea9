"""The notation: symbols, and a parser that reads formulas and never runs them."""

from __future__ import annotations

import sys

import pytest
import sympy as sp

from verifiedbook.account import registry
from verifiedbook.exact.formulas.notation import FUNCTIONS, TABLE, parse, symbols


def formulas():
    def of(reading):
        yield from filter(None, (reading.formula, reading.truth_formula, reading.claimed))
        yield from (text for text, _ in reading.digits)
        for case in reading.cases.values():
            yield from of(case)

    readings = (s.reading for s in registry.load()[1].values() if s.reading)
    return sorted({text for reading in readings for text in of(reading)})


@pytest.mark.parametrize("text", formulas())
def test_a_formula_of_the_registry_is_what_sympy_reads(text):
    names = {entry.name: symbols(entry.name) for entry in TABLE}
    assert sp.srepr(parse(text)) == sp.srepr(sp.sympify(text, locals=names))


@pytest.mark.parametrize("text", ["1.3*d", "0.1", "1e-5*x", "2.50", "1.23456789012345678901"])
def test_decimals_keep_the_digits_that_are_written(text):
    names = {entry.name: symbols(entry.name) for entry in TABLE}
    assert sp.srepr(parse(text)) == sp.srepr(sp.sympify(text, locals=names))


def test_every_function_is_used_by_the_registry_or_takes_limits():
    used = " ".join(formulas())
    assert [name for name in FUNCTIONS if f"{name}(" not in used] == ["Sum"]


def test_limits_bind_a_name():
    x, c = symbols("x c")
    assert parse("Integral(x**2, (x, -c, c))") == sp.Integral(x**2, (x, -c, c))
    k, d = symbols("k d")
    assert parse(" Sum(k, (k, 1, d)) ") == sp.Sum(k, (k, 1, d))


@pytest.mark.canary
@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch {file}')",
        'exec(\'open("{file}", "w")\')',
        "open('{file}', 'w')",
        "sqrt.__globals__",
        "d.func",
        "(1).__class__.__mro__",
        "lambda: 1",
        "sum(x for x in (1, 2))",
        "'d'",
        "d[0]",
        "d ^ 2",
        "d < 2",
        "1j",
        "True",
        "sqrt(*(1, 2))",
        "sqrt(d, evaluate=0)",
        "Integral([x], (x, 0, 1))",
        "sqrt((1, 2))",
        "d; n",
        "d +",
        "",
    ],
)
def test_what_is_no_formula_is_refused_and_not_run(text, tmp_path):
    file = tmp_path / "run"
    text = text.replace("{file}", str(file))
    with pytest.raises(ValueError, match=r"^text: "):
        parse(text)
    assert not file.exists()


@pytest.mark.canary
@pytest.mark.parametrize(
    "text",
    [
        "9**9**9**9",
        "((2**1000)**1000)**1000",
        "2**(10**9*d)",
        "2**-(10**9)",
        "exp(10**9*log(2))",
        "gamma(10**9)",
        "gamma(10**6*d)",
        "gamma(d**9)",
        "expint(-1000, x)",
        "d**d**d",
        "(" * 400 + "d" + ")" * 400,
        "-" * 900 + "d",
        "+".join("d" * 300),
        "sqrt(" * 150 + "d" + ")" * 150,
        "d" + " " * 2000 + "+ 1",
        "1" * 2000,
    ],
)
def test_towers_and_deep_nesting_are_refused_at_once(text):
    calls = 0

    def counted(*_):
        nonlocal calls
        calls += 1
        assert calls < 50_000

    sys.setprofile(counted)
    try:
        with pytest.raises(ValueError, match=r"^text: "):
            parse(text)
    finally:
        sys.setprofile(None)


def test_large_but_honest_numbers_are_read():
    assert parse("10**100") == 10**100
    assert parse("768**2*12") == 768**2 * 12


def test_an_unknown_name_is_named_with_what_is_accepted():
    with pytest.raises(ValueError, match=r"uses omega, .* accepted: d, m, .*calls of Integral"):
        parse("2*omega")
    with pytest.raises(ValueError, match="uses sqrt, which"):
        parse("sqrt*2")


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match=r"has the part 'sqrt\(\)'; accepted: what sqrt takes"):
        parse("1 + sqrt()")
    with pytest.raises(ValueError, match="accepted: what Integral takes"):
        parse("Integral(x, (2, 0, 1))")


@pytest.mark.parametrize("text", [None, 3, b"d", sp.Symbol("d")])
def test_a_formula_is_a_string(text):
    with pytest.raises(TypeError, match=r"text: got .*; accepted: a string"):
        parse(text)


def test_symbols_are_the_tables():
    d, σ = symbols("d sigma")
    assert d.is_integer and d.is_positive and σ.is_positive and symbols("lam").name == "lambda"
    assert symbols("d") is parse("d")


@pytest.mark.parametrize("names", ["", "  ", "omega", "d omega"])
def test_unknown_symbols_are_refused(names):
    with pytest.raises(ValueError, match="accepted: "):
        symbols(names)


def test_names_are_a_string():
    with pytest.raises(TypeError, match="names: got list"):
        symbols(["d", "n"])
