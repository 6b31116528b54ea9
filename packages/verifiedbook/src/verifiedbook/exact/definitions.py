"""The definition that a reading gives as data: a quantity, and what its names stand for.

    >>> quantity = "variance(total(w[i]**2, i))"
    >>> definition(quantity, {"i": "Index(d)", "w": "Tensor(Normal(0, sigma), d)"}).value
    2*d*sigma**4

`definition` builds from it what the checks take: an `Expectation` of the moment engine, or the
unevaluated integral or sum with which a chain of checked steps begins. Nothing of the text is run
as Python; it is read as the registry's formulas are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice, permutations
from typing import Any

import sympy as sp

from .formulas.notation import FUNCTIONS, FormulaReader
from .laws import Discrete, General, Law, Normal, Rademacher, TruncatedNormal, Uniform
from .moments import Expectation, Index, Tensor, mean, total, variance
from .moments.patterns import expanded
from .moments.polynomials import free_indices, summed

_MOST_NAMINGS = 720  # of six tensors of one law; of more, only their own names are tried
_UNEVALUATED = (sp.Integral, sp.Sum)
_LAWS: dict[str, Callable[..., Law]] = {
    "Normal": Normal, "Uniform": Uniform, "Uniform.of_variance": Uniform.of_variance,
    "TruncatedNormal": TruncatedNormal, "Rademacher": Rademacher, "Discrete": Discrete,
    "General": General,
}  # fmt: skip


def definition(quantity: str, where: Mapping[str, str]) -> Expectation | sp.Expr:
    """Build the quantity that a reading defines.

    Args:
        quantity: ``mean(…)`` or ``variance(…)`` of a polynomial in entries, or an expression with
            an integral or a sum that is not evaluated. ``total(body, i, r)`` adds up over an index
            of the body, and over others that it may lack: numbers of copies.
        where: what its names stand for: ``Index(size)`` or ``Tensor(law, *sizes)``, each by the
            name that it has in the quantity.

    Returns:
        An `Expectation` for a mean or a variance, else a SymPy expression.

    Raises:
        ValueError: a part of a text is none of these; a name stands for nothing in the quantity; or
            the quantity is a closed form, with nothing left to compute.

    Example:
        >>> where = {"i": "Index(d)", "w": "Tensor(Normal(0, sigma), d)"}
        >>> definition("variance(total(w[i]**2, i))", where).value
        2*d*sigma**4
        >>> definition("mean(total(w[i]**2, i, r))", where | {"r": "Index(k)"}).value
        d*k*sigma**2
        >>> definition("2*d*sigma**4", {})  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ValueError: quantity: '2*d*sigma**4' is a closed form; accepted: mean(…), ...
    """
    things: dict[str, Any] = {name: thing(name, text) for name, text in where.items()}
    for name, made in things.items():
        if not isinstance(made, Index | Tensor):
            raise ValueError(f"where: {name} is {made}; accepted: a call of Index or Tensor")
    reader = FormulaReader(quantity, _OF_QUANTITIES, things)
    found = reader.value()
    if unused := sorted(set(things) - reader.used):
        raise ValueError(f"where: {', '.join(unused)} not in the quantity {quantity!r}")
    if not isinstance(found, Expectation) and not found.has(*_UNEVALUATED):
        raise ValueError(
            f"quantity: {quantity!r} is a closed form; accepted: mean(…), variance(…), or an "
            "expression with an Integral or a Sum"
        )
    return found


def is_law_of(law: Law, stated: Law) -> bool:
    """Return whether a law is one of those of which a definition speaks.

    A `General` law speaks of every law that has its moments; any other only of itself.

    Args:
        law: a law with moments of its own.
        stated: the law in the definition.

    Example:
        >>> σ = sp.Symbol("sigma", positive=True)
        >>> centred = General({1: 0, 2: σ**2})
        >>> is_law_of(Uniform.of_variance(σ**2), centred), is_law_of(Normal(0, 2 * σ), centred)
        (True, False)
    """
    if not isinstance(stated, General):
        return law == stated
    return all(sp.simplify(law.raw_moment(k) - moment) == 0 for k, moment in stated.moments)


def same_definition(given: Expectation, stated: Expectation) -> bool:
    """Return whether two quantities are one definition, but for names and the order of writing.

    Args:
        given, stated: means or variances; their polynomials are multiplied out, their laws and
            sizes must be equal.

    Example:
        >>> d, σ = sp.Symbol("d", integer=True, positive=True), sp.Symbol("sigma", positive=True)
        >>> i, j, u, v = Index("i", d), Index("j", d), *(Tensor(x, Normal(0, σ), d) for x in "uv")
        >>> same_definition(variance(total(u[i] * u[i], i)), variance(total(v[j] ** 2, j)))
        True
        >>> same_definition(variance(total(u[i] * v[i], i)), variance(total(v[j] ** 2, j)))
        False
    """
    if given.estimator != stated.estimator:
        return False
    terms = expanded(stated.statistic)
    return any(_equal_terms(expanded(again), terms) for again in _renamed(given, stated))


def in_words(quantity: Expectation) -> str:
    """Return a quantity with what its names stand for, and what it is where its laws say so.

    Example:
        >>> d = sp.Symbol("d", integer=True, positive=True)
        >>> in_words(mean(total(Tensor("w", Normal(0, 1), d)[Index("i", d)] ** 2, Index("i", d))))
        'E(Sum(w[i]**2, (i, 1, d))) with w = Tensor(Normal(0, 1), d), which is d'
    """
    things = [
        f"{name} = Tensor({', '.join([tensor.law.name, *map(str, tensor.sizes)])})"
        for name, tensor in sorted(quantity.draws.items())
    ]
    line = f"{quantity.quantity} with {', '.join(things)}"
    try:
        return f"{line}, which is {quantity.value}"
    except (ValueError, ArithmeticError):  # a moment that a law does not give
        return line


def _renamed(given: Expectation, stated: Expectation) -> Iterator[sp.Expr]:
    """Yield the statistic of the first under names of the second that could be meant."""
    names = {index.size: index for index in free_indices(stated.statistic)}
    indices = {index: names.get(index.size, index) for index in free_indices(given.statistic)}
    mine, theirs = ([q.draws[name] for name in sorted(q.draws)] for q in (given, stated))
    if len(mine) != len(theirs):
        return
    for order in (theirs, *islice(permutations(theirs), _MOST_NAMINGS)):
        pairs = dict(zip(mine, order, strict=True))
        if all((one.law, one.sizes) == (other.law, other.sizes) for one, other in pairs.items()):
            yield given.statistic.xreplace(pairs | indices)


def _equal_terms(one: Mapping[Any, sp.Expr], other: Mapping[Any, sp.Expr]) -> bool:
    return all(
        sp.expand(one.get(term, sp.S.Zero) - other.get(term, sp.S.Zero)) == 0
        for term in {*one, *other}
    )


def under(quantity: Expectation, laws: Mapping[str, Law]) -> Expectation:
    """Return a quantity with other laws instead of its own.

    Args:
        quantity: as a reading defines it.
        laws: by the name of a random tensor, the law of its entries.

    Raises:
        ValueError: the quantity has no tensor of a name.
    """
    if strangers := set(laws) - set(quantity.draws):
        raise ValueError(
            f"laws: got {', '.join(sorted(strangers))}; accepted: {', '.join(quantity.draws)}"
        )
    changed = {
        tensor: Tensor(name, laws[name], *tensor.sizes)
        for name, tensor in quantity.draws.items()
        if name in laws
    }
    return Expectation(quantity.statistic.xreplace(changed), quantity.estimator)


def thing(name: str, text: str) -> Index | Tensor | Law | sp.Expr:
    """Return what a text says that a name stands for.

    Args:
        name: the name.
        text: a call of `Index` or `Tensor` without the name; a law; or a formula.

    Raises:
        ValueError: it is none of these.
    """
    named = {"Index": partial(Index, name), "Tensor": partial(Tensor, name)}
    return FormulaReader(text, {**FUNCTIONS, **_LAWS, **named}).value()


def _total(body: sp.Expr, *indices: Index) -> sp.Expr:
    """The sum over indices of the body, and over others that it lacks: numbers of copies."""
    inside = free_indices(body)
    own = total(body, *(index for index in indices if index in inside))
    return summed(own, copies) if (copies := [i for i in indices if i not in inside]) else own


_OF_QUANTITIES: dict[str, Callable[..., Any]] = {
    **FUNCTIONS, "mean": mean, "variance": variance, "total": _total,
}  # fmt: skip
