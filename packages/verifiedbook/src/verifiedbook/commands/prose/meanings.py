"""What formulas mean, so that one is found wherever it stands, however it is written.

The meaning of an expression is its value at two points, at which every name has a number of its
own: code that has ``1 / sqrt(m)`` says $m^{-1/2}$, and another exponent is another meaning.
"""

from __future__ import annotations

import ast
import cmath
import math
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from itertools import combinations

from ...exact.displays.latex_reader import read
from ...exact.displays.marks import chains
from ...exact.displays.names import Names
from .tokens import RELATION

Meaning = tuple[complex, complex]
_MOST = 6  # terms or factors of which every choice is a part
_SAME = {"lam": "lambda", "lamda": "lambda", "gam": "gamma", "varepsilon": "epsilon"}
_CONSTANTS = {"pi": math.pi, "EulerGamma": 0.5772156649015329}
_FUNCTIONS: dict[str, Callable[..., complex]] = {
    "sqrt": cmath.sqrt, "exp": cmath.exp, "log": cmath.log, "cos": cmath.cos, "sin": cmath.sin,
    "tanh": cmath.tanh, "Rational": lambda over, under=1: over / under, "abs": abs, "Abs": abs,
    "float": complex, "S": complex, "erf": lambda x: math.erf(x.real),
}  # fmt: skip


@cache
def meaning(formula: str) -> Meaning | None:
    """Return what a formula without a relation means; None where it cannot be read.

    Args:
        formula: LaTeX, without dollar signs.

    Example:
        >>> meaning(r"\\frac{1}{\\sqrt{m}}") == meaning("m^{-1/2}") != meaning("m^{-1/3}")
        True
    """
    try:
        value = _Parts().value(ast.parse(_python(formula), mode="eval").body)
    except (ArithmeticError, AttributeError, SyntaxError, TypeError, ValueError):
        return None
    return value and (_rounded(value[0]), _rounded(value[1]))


@cache
def parts(formula: str) -> frozenset[Meaning]:
    r"""Return what the sides of a formula and their parts mean.

    Example:
        >>> meaning("d^2") in parts(r"V = \frac{2 d^2}{m} \sigma^4, \qquad d > 1")
        True
    """
    found: set[Meaning] = set()
    for side in (side for chain in chains(formula) for side in RELATION.split(chain)):
        try:
            found |= parts_of_code(_python(side))
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            continue
    return frozenset(found)


@cache
def parts_of_code(code: str) -> frozenset[Meaning]:
    """Return what the expressions of Python code mean, and those in its texts.

    Names that are set to numbers stand for them as well as for themselves.

    Example:
        >>> meaning("2d") in parts_of_code("n = f(2 * d)")
        True
        >>> meaning("6^3") in parts_of_code("n = 6; m = n**3")
        True
    """
    try:
        tree = ast.parse(re.sub(r"(?m)^\s*[%!].*$", "", code))
    except SyntaxError:
        return frozenset()
    numbers = {
        node.targets[0].id: complex(node.value.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, int | float)
    }
    found: set[Meaning] = set()
    for known in ({}, numbers):
        reader = _Parts(known)
        for node in _outermost(tree):
            reader.value(node)
        found |= reader.found
    return frozenset(found)


def _outermost(tree: ast.AST) -> Iterator[ast.expr]:
    """The expressions of code that stand in no other."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):
            yield node
        else:
            yield from _outermost(node)


def _python(formula: str) -> str:
    """A formula in LaTeX as Python."""
    return re.sub(r"\blambda\b", "lam", str(read(formula, Names())))


class _Parts:
    """Computes what expressions mean, and keeps what their parts do."""

    def __init__(self, known: dict[str, complex] | None = None) -> None:
        self.known = known or {}
        self.found: set[Meaning] = set()

    def value(self, node: ast.expr) -> Meaning | None:
        """What an expression means; None where it is no number, such as a list."""
        try:
            value = self._value(node)
        except (ArithmeticError, TypeError, ValueError):
            return None
        return value and self._kept(value)

    def _kept(self, value: Meaning) -> Meaning | None:
        if not all(map(cmath.isfinite, value)):
            return None
        self.found.add((_rounded(value[0]), _rounded(value[1])))
        return value

    def _value(self, node: ast.expr) -> Meaning | None:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, int | float):
                return complex(node.value), complex(node.value)
            if isinstance(node.value, str) and re.search(r"[*/+-]", node.value):
                self.found |= parts_of_code(node.value)
            return None
        match node:
            case ast.Name(name):
                constant = self.known.get(name, _CONSTANTS.get(name))
                return _of_name(name) if constant is None else (complex(constant),) * 2
            case ast.Attribute(inner, name):
                self.value(inner)
                return _of_name(name) if name != "pi" else (complex(math.pi),) * 2
            case ast.UnaryOp(ast.USub(), operand):
                value = self.value(operand)
                return value and (-value[0], -value[1])
            case ast.BinOp(left, ast.Pow(), right):
                base, power = self.value(left), self.value(right)
                return base and power and (base[0] ** power[0], base[1] ** power[1])
            case ast.BinOp(_, ast.Mult() | ast.Div()):
                return self._joined(node, ast.Mult, ast.Div)
            case ast.BinOp(_, ast.Add() | ast.Sub()):
                return self._joined(node, ast.Add, ast.Sub)
            case ast.Call():
                return self._call(node)
        for inner in _outermost(node):
            self.value(inner)
        return _of_name(ast.unparse(node)) if isinstance(node, ast.Subscript) else None

    def _joined(
        self, node: ast.expr, join: type[ast.operator], back: type[ast.operator]
    ) -> Meaning | None:
        """A sum or product, and what every choice of its terms or factors means."""
        together = sum if join is ast.Add else math.prod
        values = []
        for part, turned in _chain(node, join, back):
            value = self.value(part)
            if value and turned:
                first, second = value
                value = (-first, -second) if join is ast.Add else (1 / first, 1 / second)
            values.append(value)
        known = [value for value in values if value]
        for count in range(2, len(known) if len(known) <= _MOST else 0):
            for some in combinations(known, count):
                self._kept((together(a for a, _ in some), together(b for _, b in some)))
        if len(known) < len(values):
            return None
        return together(a for a, _ in known), together(b for _, b in known)

    def _call(self, node: ast.Call) -> Meaning | None:
        method = isinstance(node.func, ast.Attribute)
        name = getattr(node.func, "attr" if method else "id", "")
        given = [self.value(argument) for argument in node.args]
        for keyword in node.keywords:
            self.value(keyword.value)
        if isinstance(node.func, ast.Attribute) and (value := self.value(node.func.value)):
            given = given or [value]
        numbers = [value for value in given if value]
        if not numbers or len(numbers) < len(given) or node.keywords:
            return None
        if name in _FUNCTIONS:
            of = _FUNCTIONS[name]
            return of(*(a for a, _ in numbers)), of(*(b for _, b in numbers))
        return _of_name(f"{name}{[(_rounded(a), _rounded(b)) for a, b in numbers]}")


def _chain(
    node: ast.expr, join: type[ast.operator], back: type[ast.operator]
) -> list[tuple[ast.expr, bool]]:
    """The terms of a sum or the factors of a product, and whether each is taken off."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, join | back)):
        return [(node, False)]
    right = _chain(node.right, join, back)
    if isinstance(node.op, back):
        right = [(part, not turned) for part, turned in right]
    return _chain(node.left, join, back) + right


@cache
def _of_name(name: str) -> Meaning:
    """The numbers of a name."""
    digest = sha256(spelled(name).encode()).digest()
    first, second = (int.from_bytes(digest[n : n + 4], "big") / 2**31 for n in (0, 4))
    return complex(0.3 + first), complex(0.3 + second)


def spelled(name: str) -> str:
    """Return a name as all its spellings are written: σ is sigma.

    Example:
        >>> spelled("σ_0"), spelled("lamda")
        ('sigma_0', 'lambda')
    """
    letters = (unicodedata.name(letter, "") for letter in name)
    plain = "".join(
        found.split()[-1].lower() if found.startswith("GREEK SMALL LETTER") else letter
        for letter, found in zip(name, letters, strict=True)
    )
    return _SAME.get(plain, plain)


def _rounded(value: complex) -> complex:
    return complex(float(f"{value.real:.9g}"), round(value.imag, 9) + 0.0)
