"""Numbers of the registry's formulas at a point, without SymPy, and how a reader sees them.

>>> shown(value("2*d*sigma**4", {"d": "768", "sigma": "0.02"}))
'0.0002458'
>>> shown(value("(d/k)**k", {"d": "1024", "k": "8"}))
'7.21·10¹⁶'
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

_EXACT = 10**9  # integers up to here are written out
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow,
    ast.Div: lambda a, b: a // b if isinstance(a, int) and isinstance(b, int) and not a % b
    else a / b,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt, "exp": math.exp, "log": math.log, "gamma": math.gamma, "erf": math.erf,
    "erfc": math.erfc, "sin": math.sin, "cos": math.cos, "Rational": lambda a, b: a / b,
}  # fmt: skip
_CONSTANTS = {"pi": math.pi, "E": math.e}


def value(formula: str, at: Mapping[str, str]) -> float:
    """Evaluate a formula of the registry.

    Args:
        formula: such as ``"2*d*sigma**4"``.
        at: by name, what its symbols are: numbers, or formulas in the other names.

    Raises:
        ValueError: a name without a value, or a part that has no number.

    Example:
        >>> value("n*k*q", {"n": "30000", "k": "8", "q": "128"})
        30720000
    """
    try:
        return _number(ast.parse(formula.strip(), mode="eval").body, at)
    except (SyntaxError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"formula: {formula!r} has no number there ({error})") from error


def _number(node: ast.expr, at: Mapping[str, str]) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.Name):
        if node.id in at:
            others = {name: text for name, text in at.items() if name != node.id}
            return value(at[node.id], others)
        if node.id in _CONSTANTS:
            return _CONSTANTS[node.id]
        raise ValueError(f"at: {node.id} has no value; given: {', '.join(at) or 'nothing'}")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand, at)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_number(node.left, at), _number(node.right, at))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in _FUNCTIONS:
            return _FUNCTIONS[node.func.id](*(_number(part, at) for part in node.args))
    raise ValueError(f"formula: the part {ast.unparse(node)!r} has no number")


def shown(number: float) -> str:
    """Write a number for readers: whole where it is short, else with a few digits."""
    if number == int(number) and abs(number) < _EXACT:
        return f"{int(number):,}".replace(",", "\u202f")
    power = math.floor(math.log10(abs(number)))
    if -5 < power < 9:
        digits = f"{number:.{max(3 - power, 0)}f}"
        whole, _, rest = digits.partition(".")
        sign, rest = "-" * whole.startswith("-"), rest.rstrip("0")
        return f"{sign}{abs(int(whole)):,}".replace(",", "\u202f") + f".{rest}" * bool(rest)
    return f"{number / 10.0**power:.2f}·10{str(power).translate(_RAISED)}"
