"""The book's symbols: one name, one meaning, one set of assumptions; and formulas in them.

Readings in the registry, notebooks and tests all take their symbols from here, so that the
``d`` of a formula in ``claims/*.yaml`` and the ``d`` of a derivation are the same SymPy object.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import sympy as sp

from ...serving import NoBook, served

SYMBOL_KINDS: dict[str, dict[str, bool]] = {
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


def _kinds() -> dict[str, str]:
    """What kind of symbol each name is: those of the table, then those that a book adds."""
    try:
        added = served().symbols
    except NoBook:
        added = {}
    return {**added, **{name: entry.kind for name, entry in _BY_NAME.items()}}


def _symbol(name: str) -> sp.Symbol:
    entry = _BY_NAME.get(name)
    kind = entry.kind if entry else _kinds().get(name)
    if kind is None:
        raise ValueError(
            f"name: {name!r} is not in the book's notation; accepted: {', '.join(_kinds())}, and "
            'what the book adds: symbols = {L = "size"} in [tool.verifiedbook] of pyproject.toml'
        )
    return sp.Symbol(_PRINTED.get(name, name), **SYMBOL_KINDS[kind])


def symbols(names: str) -> sp.Symbol | tuple[sp.Symbol, ...]:
    """Return the book's symbols for space-separated names, such as ``"d sigma"``.

    Sizes are positive integers, scales are positive, everything else is real.

    Args:
        names: one or more names from `TABLE`, separated by spaces.

    Returns:
        One symbol for one name, else a tuple in the order given.

    Raises:
        TypeError: ``names`` is no string.
        ValueError: a name is not in the table.

    Example:
        >>> d, σ = symbols("d sigma")
        >>> d.is_integer, σ.is_positive
        (True, True)
    """
    if not isinstance(names, str):
        raise TypeError(f"names: got {type(names).__name__}; accepted: a string")
    found = tuple(_symbol(name) for name in names.split())
    if not found:
        raise ValueError("names: no name given; accepted: names from notation.TABLE")
    return found[0] if len(found) == 1 else found


def parse(text: str) -> sp.Expr:
    """Read a formula of the registry: SymPy text whose free names are the book's symbols.

    Nothing of the text is ever run as Python: its syntax tree is read, and what is not numbers,
    names of the notation, arithmetic and calls of `FUNCTIONS` is refused.

    Args:
        text: such as ``"2*d*sigma**4"`` or ``"Integral(exp(-x**2/2), (x, -c, c))"``.

    Returns:
        The SymPy expression.

    Raises:
        TypeError: ``text`` is no string.
        ValueError: the text is no formula, uses a name that is not in the table, or is so long,
            so deep or of such large powers that no reading needs it.

    Example:
        >>> parse("2*d*sigma**4").subs({symbols("d"): 3, symbols("sigma"): 2})
        96
        >>> parse("open('notes')")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ValueError: text: ... has the part "open('notes')"; accepted: a call of Integral, ...
    """
    if not isinstance(text, str):
        raise TypeError(f"text: got {type(text).__name__}; accepted: a string")
    if len(text) > _LONGEST:
        raise ValueError(f"text: got {len(text)} characters; accepted: at most {_LONGEST}")
    return FormulaReader(text).value()


_LONGEST, _DEEPEST = 1000, 100  # characters; nested operations
_MOST_BITS = 1 << 14  # of a number that a power may give
# Of functions whose values SymPy may write out in full: the argument where sizes are 16 and scales
# 2, more than those at which formulas are compared.
_LARGEST = {"exp": 10**6, "gamma": 10**4, "expint": 10**2}
_WHERE = "where sizes are 16 and other symbols 2"
_CONSTANTS = {"pi": sp.pi, "oo": sp.oo, "E": sp.E, "EulerGamma": sp.EulerGamma}
_OPERATIONS: dict[type[ast.operator], Callable[[sp.Expr, sp.Expr], sp.Expr]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_WITH_TUPLES = {"Integral": 1, "Sum": 1, "Discrete": 0}  # from which argument on
_WITH_MAPPINGS = ("General",)
FUNCTIONS: Mapping[str, Callable[..., sp.Expr]] = {
    name: getattr(sp, name)
    for name in (
        "Integral", "Sum", "Rational", "acos", "asin", "cos", "erf", "erfc", "exp", "expint",
        "gamma", "log", "sin", "sqrt",
    )
}  # fmt: skip
"""What a formula may call, by name."""


class FormulaReader:
    """Builds the expression of a formula's syntax tree, node by node.

    Args:
        text: the formula, which messages quote.
        functions: what it may call, by name.
        things: what has places, by name: a tensor, and the indices that may stand behind it.

    Attributes:
        used: the things that it names.
    """

    def __init__(
        self,
        text: str,
        functions: Mapping[str, Callable[..., Any]] = FUNCTIONS,
        things: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self._text, self._functions, self._things = text.strip(), functions, things
        self.used = set[str]()

    def value(self) -> Any:
        """Return what the text says.

        Raises:
            ValueError: it is no formula, or has a part that may not stand in it.
        """
        try:
            tree = ast.parse(self._text, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ValueError(
                f"text: {self._text!r} is not a SymPy formula ({error}); accepted: such as "
                "'2*d*sigma**4'"
            ) from error
        return self._read(tree.body)

    def _read(self, node: ast.expr, depth: int = 0) -> Any:
        if depth > _DEEPEST:
            raise ValueError(f"text: {self._text[:60]!r}… nests deeper than {_DEEPEST} operations")
        match node:
            case ast.Constant(int() | float() as number) if not isinstance(number, bool):
                said = ast.get_source_segment(self._text, node)
                return sp.Integer(number) if isinstance(number, int) else sp.Float(said)
            case ast.Name(name):
                return self._named(name)
            case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, operand):
                value = self._read(operand, depth + 1)
                return -value if isinstance(sign, ast.USub) else value
            case ast.BinOp(left, operation, right) if type(operation) in _OPERATIONS:
                first, second = (self._read(part, depth + 1) for part in (left, right))
                if isinstance(operation, ast.Pow):
                    self._refuse_towers(first, second, node)
                return _OPERATIONS[type(operation)](first, second)
            case ast.Subscript(tensor, places) if self._things:
                every = places.elts if isinstance(places, ast.Tuple) else [places]
                return self._read(tensor)[tuple(map(self._read, every))]
            case ast.Call(function, arguments, []) if ast.unparse(function) in self._functions:
                return self._call(node, ast.unparse(function), arguments, depth)
            case ast.Call(_, _, []):
                raise self._refused(node, f"a call of {', '.join(self._functions)}")
            case ast.Call():
                raise self._refused(node, "arguments without names")
            case ast.BinOp(_, ast.BitXor(), _):
                raise self._refused(node, "** for a power")
        raise self._refused(node, "numbers, names, + - * / ** and calls of functions")

    def _call(self, node: ast.expr, name: str, given: list[ast.expr], depth: int) -> Any:
        arguments: list[Any] = []
        for place, argument in enumerate(given):
            match argument:
                case ast.Tuple(parts) | ast.List(parts) if place >= _WITH_TUPLES.get(
                    name, place + 1
                ):
                    arguments.append(sp.Tuple(*(self._read(part, depth + 1) for part in parts)))
                case ast.Dict(keys, values) if name in _WITH_MAPPINGS and None not in keys:
                    numbers = (int(self._read(key)) for key in keys if key)
                    pairs = zip(numbers, map(self._read, values), strict=True)
                    arguments.append(dict(pairs))
                case _:
                    arguments.append(self._read(argument, depth + 1))
        if name in _LARGEST and any(_exceeds(a, _LARGEST[name]) for a in arguments[:1]):
            raise self._refused(node, f"in {name} at most {_LARGEST[name]}, {_WHERE}")
        try:
            return self._functions[name](*arguments)
        except (TypeError, ValueError) as error:
            raise self._refused(node, f"what {name} takes ({error})") from error

    def _named(self, name: str) -> Any:
        if name in self._things:
            self.used.add(name)
            return self._things[name]
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name in _BY_NAME or name in _kinds():
            return _symbol(name)
        known = [*self._things, *_kinds(), *_CONSTANTS]
        raise ValueError(
            f"text: {self._text!r} uses {name}, which the book's notation does not define; "
            f"accepted: {', '.join(known)}, and calls of {', '.join(self._functions)}"
        )

    def _refuse_towers(self, base: sp.Expr, exponent: sp.Expr, node: ast.expr) -> None:
        """Refuse a power whose number would fill the memory, before SymPy computes it."""
        bits = max((_bits(x) for x in base.atoms(sp.Number)), default=1)
        if _exceeds(exponent, _MOST_BITS // bits):
            raise self._refused(node, f"powers of at most {_MOST_BITS} bits, {_WHERE}")

    def _refused(self, node: ast.AST, accepted: str) -> ValueError:
        part = ast.get_source_segment(self._text, node) or type(node).__name__
        return ValueError(f"text: {self._text!r} has the part {part!r}; accepted: {accepted}")


def _exceeds(argument: sp.Expr, limit: int) -> bool:
    size = abs(argument.subs({s: 16 if s.is_integer else 2 for s in argument.free_symbols}))
    return bool(size.is_finite and sp.Gt(size, limit) == sp.true)


def _bits(number: sp.Expr) -> int:
    if isinstance(number, sp.Rational):
        return max(abs(int(number.p)).bit_length(), int(number.q).bit_length(), 1)
    return 1  # a decimal keeps its length
