"""The book's symbols: one name, one meaning, one set of assumptions.

Readings in the registry, notebooks and tests all take their symbols from here, so that the
``d`` of a formula in ``claims/*.yaml`` and the ``d`` of a derivation are the same SymPy object.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy as sp

_KINDS: dict[str, dict[str, bool]] = {
    "size": {"integer": True, "positive": True},
    "positive": {"positive": True},
    "real": {"real": True},
}


@dataclass(frozen=True)
class Entry:
    """One row of the notation table: the symbol's name, its kind and what it stands for."""

    name: str
    kind: str
    meaning: str


TABLE: tuple[Entry, ...] = (
    Entry("d", "size", "length of an embedding, a hidden state or an attention head"),
    Entry("m", "size", "fan-in: inputs of a dense layer"),
    Entry("n", "size", "fan-out: outputs of a dense layer; size of the vocabulary"),
    Entry("h", "size", "number of heads, or width of a hidden layer"),
    Entry("k", "size", "factor by which a model is widened; number of factors; a running integer"),
    Entry("q", "size", "length of one factor of a tensor product"),
    Entry("r", "size", "rank"),
    Entry("l", "size", "depth: number of layers"),
    Entry("T", "size", "number of tokens in a sequence"),
    Entry("sigma", "positive", "standard deviation of an entry"),
    Entry("tau", "positive", "standard deviation of an entry of a second tensor"),
    Entry("kappa", "positive", "kurtosis of an entry, its fourth moment over its squared variance"),
    Entry("gam", "positive", "gain of a normalisation; variance ratio of truncation; written γ"),
    Entry("epsilon", "positive", "small constant inside a normalisation"),
    Entry("alpha", "positive", "scale of the negative branch of ELU and SELU"),
    Entry("lam", "positive", "overall scale of SELU, written λ"),
    Entry("eta", "positive", "learning rate"),
    Entry("p", "positive", "a probability"),
    Entry("c", "positive", "half-width of a symmetric truncation, in standard deviations"),
    Entry("mu", "real", "mean of an entry"),
    Entry("beta", "real", "shift of a normalisation; decay rate of a running mean"),
    Entry("rho", "real", "correlation"),
    Entry("a", "real", "lower end of an interval"),
    Entry("b", "real", "upper end of an interval; a bias"),
    Entry("x", "real", "a real variable; an input"),
    Entry("z", "real", "a standard normal variable, or its value"),
    Entry("t", "real", "a real parameter"),
)

# `lambda` is a Python keyword and `gamma` SymPy's function
_PRINTED = {"lam": "lambda", "gam": "gamma"}
_BY_NAME = {entry.name: entry for entry in TABLE}


@cache
def _symbol(name: str) -> sp.Symbol:
    entry = _BY_NAME.get(name)
    if entry is None:
        raise ValueError(
            f"name: {name!r} is not in the book's notation; accepted: {', '.join(_BY_NAME)}"
        )
    return sp.Symbol(_PRINTED.get(name, name), **_KINDS[entry.kind])


def symbols(names: str) -> sp.Symbol | tuple[sp.Symbol, ...]:
    """Return the book's symbols for space-separated names, such as ``"d sigma"``.

    Sizes are positive integers, scales are positive, everything else is real.

    Args:
        names: one or more names from `TABLE`, separated by spaces.

    Returns:
        One symbol for one name, else a tuple in the order given.

    Raises:
        ValueError: a name is not in the table.
    """
    found = tuple(_symbol(name) for name in names.split())
    if not found:
        raise ValueError("names: no name given; accepted: names from notation.TABLE")
    return found[0] if len(found) == 1 else found


def parse(text: str) -> sp.Expr:
    """Read a formula of the registry: SymPy text whose free names are the book's symbols.

    Args:
        text: such as ``"2*d*sigma**4"`` or ``"Integral(exp(-x**2/2), (x, -c, c))"``.

    Returns:
        The SymPy expression.

    Raises:
        ValueError: the text does not parse, or uses a name that is not in the table.
    """
    table = {entry.name: _symbol(entry.name) for entry in TABLE}
    try:
        formula = sp.sympify(text, locals=table)
    except (sp.SympifyError, TypeError, SyntaxError, AttributeError) as error:
        raise ValueError(f"text: {text!r} is not a SymPy formula ({error})") from error
    strangers = formula.free_symbols - set(table.values())
    if strangers:
        names = ", ".join(sorted(str(s) for s in strangers))
        raise ValueError(f"text: {text!r} uses {names}, which the book's notation does not define")
    return formula
