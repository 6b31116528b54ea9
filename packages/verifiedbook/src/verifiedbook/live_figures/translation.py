"""SymPy expressions as JavaScript, by SymPy's own printer and a few functions that it lacks.

>>> x, n = sp.symbols("x n", positive=True)
>>> script_of(sp.log(sp.exp(x) + n - 1), ["x", "n"])
'lse(v[0], Math.log(v[1] - 1))'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp
from sympy.printing.jscode import JavascriptCodePrinter

from ..exact.formulas.notation import parse

_TOO_LARGE = 10_000  # terms of a sum
_BROUGHT_ALONG = {
    **{name: name for name in ("erf", "erfc", "digamma")}, "loggamma": "lgamma",
    **{name: f"Math.{name}" for name in ("log1p", "expm1")},
}  # fmt: skip


def formula_of(value: Any, argument: str) -> sp.Expr:
    """The SymPy expression of a formula, a derivation, or a claim's reading.

    Args:
        value: an expression, a number, or a text as in the registry; or what has one as its
            ``value`` or ``formula``.
        argument: the name of the argument, for the error.

    Raises:
        TypeError: it has no expression.
    """
    for key in ("value", "formula"):
        inner = getattr(value, key, None)
        if isinstance(inner, sp.Basic | str) and not isinstance(value, sp.Basic):
            value = inner
    if isinstance(value, str):  # as the registry writes it
        value = parse(value)
    try:
        found = sp.sympify(value, strict=True)
    except sp.SympifyError:
        found = None
    if not isinstance(found, sp.Expr):
        raise TypeError(
            f"{argument}: got {value!r}; accepted: a SymPy expression, or what has one as its "
            "value (a derivation) or formula (a reading, a truth)"
        )
    return found


def script_of(
    formula: sp.Expr, names: Sequence[str], argument: str = "formula", drawn: Sequence[str] = ()
) -> str:
    """Return an expression as JavaScript in ``v[0]``, ``v[1]``, … .

    Args:
        formula: what to translate.
        names: of the symbols, in the order of ``v``.
        argument: the name of the argument, for the errors.
        drawn: names of functions whose values are drawn: ``w(i)`` becomes ``draw(0, i)``.

    Raises:
        ValueError: it has a symbol that is none of the names, or a function without a translation.
    """
    strangers = sorted({s.name for s in formula.free_symbols} - set(names))
    if strangers:
        raise ValueError(
            f"{argument}: has {', '.join(strangers)}, which nothing moves; accepted: "
            + ", ".join(names)
        )
    printer = _Printer(names, argument, drawn)
    _, unsupported, code = printer.doprint(printer.prepared(formula))
    if unsupported or not isinstance(code, str) or "\n//" in code:
        what = ", ".join(sorted(str(part) for part in unsupported)) or str(formula)
        raise ValueError(f"{argument}: no JavaScript for {what}")
    return " ".join(code.split())


class _Printer(JavascriptCodePrinter):  # type: ignore[misc]
    """SymPy's printer, with names of our own and functions that live.js brings along."""

    def __init__(self, names: Sequence[str], argument: str, drawn: Sequence[str] = ()) -> None:
        super().__init__({"human": False, "precision": 17, "user_functions": _BROUGHT_ALONG})
        self.places = {name: f"v[{place}]" for place, name in enumerate(names)}
        self.argument, self.drawn = argument, [*drawn]

    @staticmethod
    def prepared(formula: sp.Expr) -> sp.Expr:
        """Factorials as gamma functions, derivatives and integrals worked out where they can be."""
        formula = formula.doit(sums=False) if formula.has(sp.Derivative) else formula
        return formula.replace(
            lambda part: isinstance(part, sp.factorial | sp.binomial),
            lambda part: part.rewrite(sp.gamma),
        )

    def _refused(self, formula: Any) -> Any:
        raise ValueError(f"{self.argument}: no JavaScript for {type(formula).__name__}: {formula}")

    def emptyPrinter(self, expr: Any) -> Any:
        return self._refused(expr)

    def _print_not_supported(self, expr: Any) -> Any:
        return self._refused(expr)

    _print_Derivative = _print_Integral = _print_not_supported
    _print_Infinity = _print_NegativeInfinity = _print_ComplexInfinity = _print_not_supported
    _print_ImaginaryUnit = _print_NaN = _print_Indexed = _print_not_supported

    def _print_AppliedUndef(self, expr: Any) -> str:
        if (name := expr.func.__name__) not in self.drawn:
            return str(self._refused(expr))
        at = ", ".join(self._print(part) for part in expr.args)
        return f"draw({self.drawn.index(name)}, {at})"

    def _print_Symbol(self, expr: sp.Symbol) -> str:
        return self.places.get(expr.name, expr.name)

    _print_Dummy = _print_Symbol

    def _print_NumberSymbol(self, expr: sp.Expr) -> str:
        return repr(float(expr))

    _print_Catalan = _print_EulerGamma = _print_GoldenRatio = _print_NumberSymbol

    def _print_gamma(self, expr: sp.Expr) -> str:
        return f"Math.exp({self._print(sp.loggamma(*expr.args))})"

    def _print_polygamma(self, expr: sp.Expr) -> str:
        order, at = expr.args
        return f"digamma({self._print(at)})" if order == 0 else self._refused(expr)

    def _print_harmonic(self, expr: sp.Expr) -> str:
        if len(expr.args) > 1:
            return self._refused(expr)
        return f"(digamma({self._print(expr.args[0] + 1)}) + {float(sp.EulerGamma)!r})"

    def _print_log(self, expr: sp.Expr) -> str:
        terms = _large_terms(expr.args[0])  # exp(800) is infinite there
        if terms is None:
            return f"Math.log({self._print(expr.args[0])})"
        logs, rest = terms
        if rest != 0 and not (rest.is_nonpositive or rest.could_extract_minus_sign()):
            logs, rest = [*logs, sp.log(rest)], sp.Integer(0)
        code = f"lse({', '.join(self._print(part) for part in logs)})"
        if rest == 0:
            return code
        return f"({code} + Math.log1p(({self._print(rest)})*Math.exp(-{code})))"

    def _print_Mul(self, expr: sp.Mul) -> str:
        powers = [factor.as_base_exp() for factor in expr.args]
        gammas = [(base, power) for base, power in powers if isinstance(base, sp.gamma)]
        if len(gammas) > 1:  # a quotient of two that are infinite by themselves
            rest = sp.Mul(*(b**p for b, p in powers if not isinstance(b, sp.gamma)))
            exponent = sp.Add(*(power * sp.loggamma(base.args[0]) for base, power in gammas))
            return f"({self._print(rest)})*Math.exp({self._print(exponent)})"
        return super()._print_Mul(expr)

    def _print_Sum(self, expr: sp.Sum) -> str:
        inside = expr.function
        limits: list[tuple[sp.Symbol, sp.Expr, sp.Expr]] = []
        for index, low, high in expr.limits:
            if high.is_number and low.is_number and not high - low <= _TOO_LARGE:
                return self._refused(expr)
            own = sp.Symbol(f"i{len(self.places)}")  # another may move what has the index's name
            self.places[own.name] = own.name
            inside = inside.subs(index, own)
            limits = [(o, a.subs(index, own), b.subs(index, own)) for o, a, b in limits]
            limits.append((own, low, high))
        code = self._print(inside)
        for index, low, high in limits:
            code = f"total({index.name} => {code}, {self._print(low)}, {self._print(high)})"
        return code


def _large_terms(inside: sp.Expr) -> tuple[list[sp.Expr], sp.Expr] | None:
    """The logarithms of the terms of a sum that have an exponential, and the rest of the sum.

    None where there is no such term, or one of them is negative.
    """
    if not isinstance(inside, sp.Add) or not inside.has(sp.exp):
        return None
    logs, rest = [], sp.Integer(0)
    for term in inside.args:
        parts = sp.Mul.make_args(term)
        exponent = sp.Add(*(part.args[0] for part in parts if isinstance(part, sp.exp)))
        factor = sp.Mul(*(part for part in parts if not isinstance(part, sp.exp)))
        if exponent == 0:
            rest += term
        elif factor.is_negative or factor.could_extract_minus_sign():
            return None
        else:
            logs.append(exponent + sp.log(factor))
    return (logs, rest) if logs else None
