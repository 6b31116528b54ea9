r"""Expressions as the LaTeX that a person would write: sums with limits, entries, short brackets.

>>> from verified_transformer import Index, Normal, Tensor, symbols, total
>>> d, σ = symbols("d sigma")
>>> i = Index("i", d)
>>> w = Tensor("w", Normal(0, σ), d)
>>> written(total(w[i] ** 2, i))
'\\sum_{i=1}^{d} w_{i}^{2}'
>>> written(d * (d - 1) * σ**4)
'd (d - 1) \\sigma^{4}'
"""

from __future__ import annotations

import re

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE

_TALL = (r"\frac", r"\sum", r"\int", r"\prod")
_FRACTION = re.compile(r"\\frac\{((?:[^{}]|\^\{\w\})*)\}\{((?:[^{}]|\^\{\w\})*)\}")
_AVERAGES = {"E": r"\mathbb{E}", "Var": r"\operatorname{Var}"}
_SPELT = {"u_t": "u_t", "epsilon": r"\varepsilon"}


class _Printer(LatexPrinter):  # type: ignore[misc]  # SymPy has no types
    """SymPy's printer with the book's ways."""

    def _print_Indexed(self, node: sp.Indexed) -> str:
        places = ", ".join(map(self._print, node.indices))
        name = self._print(node.base.label)
        return f"{name}_{{{places.replace(', ', '') if len(places) < 8 else places}}}"

    def _print_Symbol(self, node: sp.Symbol, style: str = "plain") -> str:
        return _SPELT.get(node.name) or str(super()._print_Symbol(node, style))

    def _print_Sum(self, node: sp.Sum) -> str:
        body = self.parenthesize(node.function, PRECEDENCE["Mul"], strict=True)
        for low, high in dict.fromkeys((low, high) for _, low, high in reversed(node.limits)):
            of = [variable for variable, *ends in node.limits if ends == [low, high]]
            under = f"{','.join(map(self._print, of))}={self._print(low)}"
            body = rf"\sum_{{{under}}}^{{{self._print(high)}}} {body}"
        return body

    def _print_Mul(self, node: sp.Mul) -> str:
        coefficient, rest = node.as_coeff_Mul()
        factors = sorted(rest.as_ordered_factors(), key=_rank)
        if coefficient != 1:
            factors.insert(0, coefficient)
        self._settings["order"], kept = "none", self._settings["order"]
        try:
            return str(super()._print_Mul(sp.Mul(*factors, evaluate=False)))
        finally:
            self._settings["order"] = kept

    def _print_Add(self, node: sp.Add, order: str | None = None) -> str:
        # to sort terms SymPy evaluates every integral among them, which can take minutes
        return str(super()._print_Add(node, "none" if node.has(sp.Integral) else "lex"))

    def _print_Function(self, node: sp.Function, exp: str | None = None) -> str:
        if (sign := _AVERAGES.get(node.func.__name__)) is None:
            return str(super()._print_Function(node, exp))
        power = f"^{{{exp}}}" if exp else ""
        return rf"{sign}{_sized('[', _tidied(self._print(node.args[0])), ']')}{power}"


_PRINTER = _Printer()


def written(expression: sp.Expr) -> str:
    """Return an expression as LaTeX.

    Args:
        expression: of SymPy; entries of tensors, sums over an index, integrals and the functions
            ``E`` and ``Var`` among its parts.
    """
    return _tidied(str(_PRINTER.doprint(expression)))


def _rank(factor: sp.Expr) -> int:
    """The place of a factor: numbers, sizes and sums of them, then the rest."""
    if factor.is_number:
        return 0
    return 1 if factor.is_integer and not factor.has(sp.Sum) else 2


def _flat(text: str) -> str:
    """Write the fractions in exponents on the line."""
    place = 0
    while (place := text.find("^{", place) + 1) > 0:
        depth, end = 1, place + 1
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        text = text[:place] + re.sub(_FRACTION, _on_the_line, text[place:end]) + text[end:]
    return text


def _on_the_line(found: re.Match[str]) -> str:
    over, under = found.groups()
    over = f"({over})" if re.search(r".[-+]", over) else over
    short = re.fullmatch(r".|\\[a-z]+", under)
    return f"{over}/{under}" if short else f"{over}/({under})"


def _sized(opening: str, inside: str, closing: str) -> str:
    if any(mark in inside for mark in _TALL):
        return rf"\left{opening}{inside}\right{closing}"
    return f"{opening}{inside}{closing}"


def _tidied(text: str) -> str:
    r"""Make brackets small where nothing tall stands in them, and fractions in exponents flat."""
    text = text.replace(r"\int\limits", r"\int")
    text = re.sub(r"\\(log|sin|cos|exp|sqrt)\{\((.*?) ?\)\}", r"\\\1(\2)", text)
    text = re.sub(r"\{\\left\(((?:(?!\\left).)*?) *\\right\)\}", r"\\left(\1\\right)", text)
    text = _flat(text)
    while True:
        flat = re.sub(
            r"\\left\(((?:(?!\\left|\\right).)*)\\right\)",
            lambda m: f"⟦{m[1]}⟧" if any(t in m[1] for t in _TALL) else f"({m[1]})",
            text,
        )
        if flat == text:
            return text.replace("⟦", r"\left(").replace("⟧", r"\right)")
        text = flat
