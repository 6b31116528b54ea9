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
_AVERAGES = {"mean": r"\mathbb{E}", "variance": r"\operatorname{Var}"} | {
    "E": r"\mathbb{E}",
    "Var": r"\operatorname{Var}",  # as SymPy prints them
}
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
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"text: {text!r} is no formula ({error})") from error
    return _Writer(text).part(node)[0]


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


class _Writer:
    """Writes a syntax tree; a part is its LaTeX and how tightly it binds."""

    def __init__(self, text: str) -> None:
        self._text = text

    def part(self, node: ast.expr, *, flat: bool = False) -> tuple[str, int]:
        """Write a node; ``flat`` keeps fractions on the line, as in an exponent."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return str(node.value), _ATOM
        if isinstance(node, ast.Name):
            return _NAMES.get(node.id, node.id), _ATOM
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return "-" + self._inside(node.operand, _PRODUCT, flat), _SUM
        if isinstance(node, ast.Subscript):
            return self._entry(node), _ATOM
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._call(node.func.id, node.args, flat)
        if isinstance(node, ast.BinOp):
            return self._operation(node, flat)
        part = ast.get_source_segment(self._text.strip(), node) or type(node).__name__
        raise ValueError(f"text: {self._text!r} has the part {part!r}; accepted: a formula")

    def _inside(self, node: ast.expr, tight: int, flat: bool = False) -> str:
        """Write a node, in brackets where it binds less tightly than its place asks for."""
        written, binds = self.part(node, flat=flat)
        return written if binds >= tight and written[0] != "-" else _bracketed(written)

    def _leading(self, node: ast.expr, flat: bool) -> str:
        """Write the first factor of a product, which may begin with a minus."""
        written, binds = self.part(node, flat=flat)
        signed = isinstance(node, ast.UnaryOp)
        return written if binds >= _PRODUCT or signed else _bracketed(written)

    def _entry(self, node: ast.Subscript) -> str:
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return f"{self.part(node.value)[0]}_{{{''.join(self.part(p)[0] for p in places)}}}"

    def _operation(self, node: ast.BinOp, flat: bool) -> tuple[str, int]:
        if isinstance(node.op, ast.Add | ast.Sub):
            sign = "+" if isinstance(node.op, ast.Add) else "-"
            left = self.part(node.left, flat=flat)[0]
            needs = _SUM if isinstance(node.op, ast.Add) else _PRODUCT
            return f"{left}{sign}{self._inside(node.right, needs, flat)}", _SUM
        if isinstance(node.op, ast.Mult):
            left = self._leading(node.left, flat)
            right = self._inside(node.right, _PRODUCT, flat)
            return f"{left}{_times(left, right)}{right}", _PRODUCT
        if isinstance(node.op, ast.Div):
            if flat:
                left = self._leading(node.left, flat)
                return f"{left}/{self._inside(node.right, _POWER, flat)}", _PRODUCT
            return rf"\frac{{{self.part(node.left)[0]}}}{{{self.part(node.right)[0]}}}", _PRODUCT
        if isinstance(node.op, ast.Pow):
            power = _braced(self.part(node.right, flat=True)[0])
            if (name := _function(node.left)) and name != "gamma":
                inner = self.part(node.left.args[0], flat=True)[0]  # type: ignore[attr-defined]
                return f"{_OPERATORS[name]}^{power}{_bracketed(inner)}", _ATOM
            return f"{self._inside(node.left, _ATOM, flat)}^{power}", _POWER
        raise ValueError(f"text: {self._text!r} has the operation {type(node.op).__name__}; "
                         "accepted: + - * / **")  # fmt: skip

    def _call(self, name: str, given: list[ast.expr], flat: bool) -> tuple[str, int]:
        if name in _AVERAGES:
            return rf"{_AVERAGES[name]}\left[{self.part(given[0])[0]}\right]", _ATOM
        if name == "total":
            under = "".join(rf"\sum_{{{self.part(index)[0]}}}" for index in given[1:])
            return under + self._inside(given[0], _PRODUCT, flat), _PRODUCT
        if name in ("Integral", "Sum"):
            return self._with_limits(name, given), _PRODUCT
        if name == "norm":
            return rf"\lVert {self.part(given[0])[0]}\rVert", _ATOM
        if name == "Abs":
            return rf"\lvert {self.part(given[0])[0]}\rvert", _ATOM
        if name == "sqrt":
            return rf"\sqrt{{{self.part(given[0], flat=flat)[0]}}}", _ATOM
        if name == "exp":
            power = self.part(given[0], flat=True)[0]
            return ("e", _ATOM) if power == "1" else (f"e^{_braced(power)}", _POWER)
        if name == "Rational":
            ratio = ast.BinOp(given[0], ast.Div(), given[1])
            return self._operation(ratio, flat)
        if name == "expint":
            order, of = (self.part(node, flat=True)[0] for node in given)
            return rf"E_{_braced(order)}({of})", _ATOM
        if name in _OPERATORS:
            inner = self.part(given[0], flat=True)[0]
            return rf"{_OPERATORS[name]}{_bracketed(inner)}", _ATOM
        raise ValueError(
            f"text: {self._text!r} calls {name}; accepted: sqrt, exp, Rational, Integral, Sum, "
            f"expint, total, Abs, {', '.join([*_AVERAGES, *_OPERATORS])}"
        )

    def _with_limits(self, name: str, given: list[ast.expr]) -> str:
        body = self.part(given[0])[0] if name == "Integral" else self._inside(given[0], _PRODUCT)
        for limits in given[1:]:
            assert isinstance(limits, ast.Tuple)
            variable, low, high = (self.part(node, flat=True)[0] for node in limits.elts)
            if name == "Integral":
                body = rf"\int_{_braced(low)}^{_braced(high)}{body}\,d{variable}"
            else:
                body = rf"\sum_{{{variable}={low}}}^{_braced(high)}{body}"
        return body


def _function(node: ast.expr) -> str | None:
    """The name of the function that a node calls, where it has a sign of its own."""
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
    return name if name in _OPERATORS else None


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
