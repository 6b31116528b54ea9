r"""The registry's formulas as LaTeX, in the order in which they are written, without SymPy.

``{formula}`` in the text of a reading becomes the LaTeX of that reading's formula, so that what a
reader sees and what the checks take are one thing:

    >>> latex("2*d*sigma**4")
    '2d\\sigma^4'
    >>> latex("(kappa - 1)/d")
    '\\frac{\\kappa-1}{d}'
    >>> latex("variance(total(w[i]**2, i))")
    '\\operatorname{Var}\\left[\\sum_{i}w_{i}^2\\right]'
"""

from __future__ import annotations

import ast
import re
from functools import cache

_NAMES = {
    name: "\\" + name
    for name in "sigma tau kappa alpha eta mu beta rho theta pi gamma phi xi omega delta".split()
} | {
    "gam": r"\gamma", "lam": r"\lambda", "epsilon": r"\varepsilon", "oo": r"\infty", "E": "e",
    "EulerGamma": r"\gamma_{\mathrm{E}}",
}  # fmt: skip
_OPERATORS = {"log": r"\log", "sin": r"\sin", "cos": r"\cos", "gamma": r"\Gamma"} | {
    name: rf"\operatorname{{{name}}}"
    for name in "erf erfc relu selu gelu sigmoid LN RMS Norm".split()
} | {"tanh": r"\tanh"} | {"asin": r"\arcsin", "acos": r"\arccos"}  # fmt: skip
_RAISED = {name: sign for name, sign in _OPERATORS.items() if name != "gamma"}  # log^2(n)
_AROUND = {
    "norm": r"\lVert %s\rVert", "Abs": r"\lvert %s\rvert", "mean": r"\mathbb{E}\left[%s\right]",
    "variance": r"\operatorname{Var}\left[%s\right]",
}  # fmt: skip
_AROUND |= {"E": _AROUND["mean"], "Var": _AROUND["variance"]}  # as SymPy prints them
_MARK = re.compile(r"(?<!\\)[{}]|\\(?:left|right)(?![a-zA-Z])|\\(?:begin|end)\{[^}]*\}")
_CLOSES = {"}": "{", r"\right": r"\left"}
_SUM, _PRODUCT, _POWER, _ATOM = range(4)  # how tightly a part binds


@cache
def latex(text: str) -> str:
    r"""Return a formula of the registry as LaTeX.

    Args:
        text: a formula such as ``"2*d*sigma**4"``, or the quantity that a reading defines.

    Returns:
        LaTeX for use between dollar signs; factors and terms stand in the order of the text.

    Raises:
        ValueError: the text has a part that no formula of the registry has.

    Example:
        >>> latex("m*exp(-x**2/2)/sqrt(2*pi)")
        '\\frac{me^{-x^2/2}}{\\sqrt{2\\pi}}'
    """
    try:
        return _written(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError as error:
        raise ValueError(f"text: {text!r} is no formula ({error})") from error
    except ValueError as error:
        raise ValueError(f"text: {text!r} has {error}") from error


def latex_fault(text: str) -> str | None:
    """Say what is wrong with the LaTeX of a text, or return None.

    Dollar signs must pair; inside each pair braces, ``\\left``/``\\right`` and environments must.
    """
    parts = re.split(r"(?<!\\)\$", text)
    if len(parts) % 2 == 0:
        return "an unpaired dollar sign"
    for maths in parts[1::2]:
        open_marks: list[str] = []
        for mark in _MARK.finditer(maths.replace(r"\\", " ")):
            token = mark.group()
            if token in _CLOSES or token.startswith(r"\end"):
                wanted = _CLOSES.get(token) or token.replace(r"\end", r"\begin", 1)
                if not open_marks or open_marks.pop() != wanted:
                    return f"{token} without its beginning"
            else:
                open_marks.append(token)
        if open_marks:
            return f"{open_marks[-1]} without its end"
        if not maths.strip():
            return "an empty formula, or a double dollar sign"
    return None


def _written(node: ast.expr, flat: bool = False) -> str:
    """Write a node; ``flat`` keeps fractions on the line, as in an exponent."""
    return _part(node, flat)[0]


def _inside(node: ast.expr, tight: int, flat: bool = False) -> str:
    """Write a node, in brackets where it binds less tightly than its place asks for."""
    written, binds = _part(node, flat)
    return written if binds >= tight and written[0] != "-" else _bracketed(written)


def _leading(node: ast.expr, flat: bool) -> str:
    """Write the first factor of a product, which may begin with a minus."""
    written, binds = _part(node, flat)
    signed = isinstance(node, ast.UnaryOp)
    return written if binds >= _PRODUCT or signed else _bracketed(written)


def _part(node: ast.expr, flat: bool) -> tuple[str, int]:
    """Write a node, and say how tightly it binds."""
    match node:
        case ast.Constant(int() | float() as value):
            return str(value), _ATOM
        case ast.Name(name):
            return _NAMES.get(name, name), _ATOM
        case ast.UnaryOp(ast.USub(), operand):
            return "-" + _inside(operand, _PRODUCT, flat), _SUM
        case ast.Subscript(of, place):
            places = place.elts if isinstance(place, ast.Tuple) else [place]
            return f"{_written(of)}_{{{''.join(map(_written, places))}}}", _ATOM
        case ast.Call(ast.Name(name), given):
            return _call(name, given, flat)
        case ast.BinOp(left, ast.Add(), right):
            return f"{_written(left, flat)}+{_inside(right, _SUM, flat)}", _SUM
        case ast.BinOp(left, ast.Sub(), right):
            return f"{_written(left, flat)}-{_inside(right, _PRODUCT, flat)}", _SUM
        case ast.BinOp(left, ast.Mult(), right):
            first, second = _leading(left, flat), _inside(right, _PRODUCT, flat)
            return f"{first}{_times(first, second)}{second}", _PRODUCT
        case ast.BinOp(left, ast.Div(), right):
            if flat:
                return f"{_leading(left, flat)}/{_inside(right, _POWER, flat)}", _PRODUCT
            return rf"\frac{{{_written(left)}}}{{{_written(right)}}}", _PRODUCT
        case ast.BinOp(ast.Call(ast.Name(name), [of, *_]), ast.Pow(), right) if name in _RAISED:
            power = _braced(_written(right, flat=True))
            return f"{_RAISED[name]}^{power}{_bracketed(_written(of, flat=True))}", _ATOM
        case ast.BinOp(left, ast.Pow(), right):
            power = _braced(_written(right, flat=True))
            return f"{_inside(left, _ATOM, flat)}^{power}", _POWER
    raise ValueError(f"the part {ast.unparse(node)!r}; accepted: names, numbers, + - * / **, calls")


def _call(name: str, given: list[ast.expr], flat: bool) -> tuple[str, int]:
    if name in _AROUND:
        return _AROUND[name] % _written(given[0]), _ATOM
    if name == "total":
        under = "".join(rf"\sum_{{{_written(index)}}}" for index in given[1:])
        return under + _inside(given[0], _PRODUCT, flat), _PRODUCT
    if name in ("Integral", "Sum"):
        return _with_limits(name, given), _PRODUCT
    if name == "sqrt":
        return rf"\sqrt{{{_written(given[0], flat)}}}", _ATOM
    if name == "exp":
        power = _written(given[0], flat=True)
        return ("e", _ATOM) if power == "1" else (f"e^{_braced(power)}", _POWER)
    if name == "Rational":
        return _part(ast.BinOp(given[0], ast.Div(), given[1]), flat)
    if name == "expint":
        order, of = (_written(node, flat=True) for node in given)
        return rf"E_{_braced(order)}({of})", _ATOM
    if name in _OPERATORS:
        return rf"{_OPERATORS[name]}{_bracketed(_written(given[0], flat=True))}", _ATOM
    raise ValueError(
        f"a call of {name}; accepted: sqrt, exp, Rational, Integral, Sum, expint, total, "
        f"{', '.join([*_AROUND, *_OPERATORS])}"
    )


def _with_limits(name: str, given: list[ast.expr]) -> str:
    body = _written(given[0]) if name == "Integral" else _inside(given[0], _PRODUCT)
    for limits in given[1:]:
        assert isinstance(limits, ast.Tuple)
        variable, low, high = (_written(node, flat=True) for node in limits.elts)
        if name == "Integral":
            body = rf"\int_{_braced(low)}^{_braced(high)}{body}\,d{variable}"
        else:
            body = rf"\sum_{{{variable}={low}}}^{_braced(high)}{body}"
    return body


def _braced(text: str) -> str:
    return text if len(text) == 1 else f"{{{text}}}"


def _bracketed(text: str) -> str:
    tall = r"\frac" in text or r"\sum" in text or r"\int" in text
    return rf"\left({text}\right)" if tall else f"({text})"


def _times(left: str, right: str) -> str:
    """What stands between two factors: a dot where numbers would run together, else nothing."""
    if right[0].isdigit() or (right.startswith(r"\frac") and left[-1].isdigit()):
        return r"\cdot "
    word = left.rfind("\\")  # \sigma d needs its blank, \sigma\tau and 2\sigma do not
    return " " if word >= 0 and left[word + 1 :].isalpha() and right[0].isalpha() else ""
