"""The definition that a reading gives as data: a quantity, and what its names stand for.

    >>> quantity = "variance(total(w[i]**2, i))"
    >>> definition(quantity, {"i": "Index(d)", "w": "Tensor(Normal(0, sigma), d)"}).value
    2*d*sigma**4

`definition` builds from it what the checks take: an `Expectation` of the moment engine, or the
unevaluated integral or sum with which a chain of checked steps begins. Nothing of the text is run
as Python; it is read as the registry's formulas are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from itertools import islice, permutations
from typing import Any

import sympy as sp

from .formulas.notation import FormulaReader
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
_THINGS: dict[str, Callable[..., Any]] = {"Index": Index, "Tensor": Tensor}


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
    for name, text in where.items():
        if _called(_parsed(text))[0] not in _THINGS:
            raise ValueError(f"where: {name} is {text!r}; accepted: a call of {', '.join(_THINGS)}")
    things: dict[str, Any] = {name: thing(name, text) for name, text in where.items()}
    reader = _QuantityReader(quantity, things)
    found = reader.quantity()
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
    node, reader = _parsed(text), FormulaReader(text)
    called, given = _called(node)
    if called in _LAWS:
        return _law(node, reader, text)
    if called not in _THINGS:
        return reader.expression(node)
    if called == "Tensor" and given:
        return Tensor(name, _law(given[0], reader, text), *map(reader.expression, given[1:]))
    return _THINGS[called](name, *map(reader.expression, given))


def _called(node: ast.expr) -> tuple[str, list[ast.expr]]:
    """What is called, without arguments by name, and with what; an empty name where nothing is."""
    if isinstance(node, ast.Call) and not node.keywords:
        return ast.unparse(node.func), node.args
    return "", []


def _law(node: ast.expr, reader: FormulaReader, text: str) -> Law:
    called, arguments = _called(node)
    if called not in _LAWS:
        raise ValueError(f"where: {text!r} has no law; accepted: a call of {', '.join(_LAWS)}")

    def argument(given: ast.expr) -> Any:
        if isinstance(given, ast.Dict):
            keys = (ast.literal_eval(key) for key in given.keys if key)
            return dict(zip(keys, map(reader.expression, given.values), strict=True))
        if isinstance(given, ast.Tuple):
            return tuple(map(reader.expression, given.elts))
        return reader.expression(given)

    return _LAWS[called](*map(argument, arguments))


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"text: {text!r} is no definition ({error})") from error


class _QuantityReader(FormulaReader):
    """Reads a quantity: a formula that may also have entries, totals, a mean or a variance."""

    def __init__(self, text: str, things: Mapping[str, Index | Tensor]) -> None:
        super().__init__(text)
        self._things, self.used = things, set[str]()

    def quantity(self) -> Expectation | sp.Expr:
        node = _parsed(self._text)
        averages = {"mean": mean, "variance": variance}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in averages and len(node.args) == 1:
                return averages[node.func.id](self.expression(node.args[0]))
        return self.expression(node)

    def expression(self, node: ast.expr, depth: int = 0) -> sp.Expr:
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return self._thing(node.value)[tuple(self._thing(place) for place in places)]
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "total":
            body, *indices = node.args
            return self._total(self.expression(body, depth + 1), *map(self._thing, indices))
        return super().expression(node, depth)

    @staticmethod
    def _total(body: sp.Expr, *indices: Index) -> sp.Expr:
        inside = free_indices(body)
        own = total(body, *(index for index in indices if index in inside))
        return summed(own, copies) if (copies := [i for i in indices if i not in inside]) else own

    def _thing(self, node: ast.expr) -> Any:
        name = node.id if isinstance(node, ast.Name) else ast.unparse(node)
        if name not in self._things:
            raise ValueError(
                f"quantity: {self._text!r} uses {name}; accepted: {', '.join(self._things)}, "
                "which stand under where"
            )
        self.used.add(name)
        return self._things[name]
