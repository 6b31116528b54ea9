r"""LaTeX read back: a formula of a text as the expression that it states.

Read are numbers, names with subscripts, sums, products, integrals, fractions, roots, powers,
functions, cases, entries of tensors, norms and inner products of vectors, means and variances.
What cannot be read is refused, never skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from ..moments.written import Index, Matrix, Tensor, total
from .averages import average
from .marks import marks
from .names import Drawn, Names

RELATIONS = {"=", r"\approx", r"\le", r"\ge", "<", ">", r"\ne", r"\equiv", r"\simeq"}
_FUNCTIONS: dict[str, Callable[..., sp.Expr]] = {
    r"\log": sp.log, r"\exp": sp.exp, r"\sin": sp.sin, r"\cos": sp.cos, r"\tan": sp.tan,
    r"\tanh": sp.tanh, r"\arcsin": sp.asin, r"\arccos": sp.acos, r"\arctan": sp.atan,
    r"\cosh": sp.cosh, r"\sinh": sp.sinh, r"\Gamma": sp.gamma, r"\max": sp.Max, r"\min": sp.Min,
    "@erf": sp.erf, "@erfc": sp.erfc, "@sgn": sp.sign, "@sign": sp.sign,
    r"\Phi": lambda x: (1 + sp.erf(x / sp.sqrt(2))) / 2,
    "@relu": lambda x: sp.Max(x, 0), "@ReLU": lambda x: sp.Max(x, 0),
}  # fmt: skip
_AVERAGES = {"@E": "mean", "@Var": "variance", "@Cov": "covariance", "@V": "variance"}
_ENDS = {"+", "-", ")", "]", "}", "|", r"\|", ",", "&", "\\\\", "/", r"\rangle", r"\}", "end:cases"}


class Unread(ValueError):
    """A formula has a part that cannot be read; the message names it."""


def read(latex: str, names: Names | None = None) -> sp.Expr:
    r"""Return the expression that a formula states.

    Args:
        latex: without dollar signs and without a relation.
        names: what its names stand for.

    Raises:
        Unread: a part of it cannot be read.

    Example:
        >>> read(r"\frac{1}{2}\sum_{k=1}^{n} k\,x^{k-1}")
        Sum(k*x**(k - 1), (k, 1, n))/2
        >>> names = Names()
        >>> names.let("w: Tensor(Normal(0, sigma), d)")
        >>> read(r"\operatorname{Var}\lVert w\rVert^2", names)
        2*d*sigma**4
    """
    reader = _Reader(marks(latex), names or Names())
    try:
        value = reader.sum()
    except (TypeError, AttributeError, ZeroDivisionError) as error:
        raise Unread(f"cannot read {latex} ({error})") from error
    if reader.left:
        raise Unread(f"cannot read {reader.left[0]!r} in {latex}")
    return value


class _Reader:
    def __init__(self, found: Sequence[str], names: Names) -> None:
        self.left, self._names = list(found), names
        self._bound: list[dict[str, Any]] = []

    # ---- marks

    def _next(self) -> str:
        return self.left[0] if self.left else ""

    def _take(self, wanted: str | None = None) -> str:
        if not self.left or (wanted is not None and self.left[0] != wanted):
            raise Unread(f"cannot read {self._next() or 'the end'!r}: {wanted or 'more'} expected")
        return self.left.pop(0)

    def _took(self, *wanted: str) -> bool:
        if self._next() in wanted:
            self.left.pop(0)
            return True
        return False

    # ---- sums, products, powers

    def sum(self) -> sp.Expr:
        value = -self._product() if self._took("-") else (self._took("+"), self._product())[1]
        while self._next() in ("+", "-"):
            value = value - self._product() if self._take() == "-" else value + self._product()
        return value

    def _product(self) -> Any:
        value = self._power()
        while self.left and self._next() not in _ENDS - {"/"} and self._next() not in RELATIONS:
            if self._took("/"):
                value = value / self._power()
                continue
            dotted = self._took(r"\cdot")
            if self._took("-"):
                value = value * -self._power()
                continue
            other = self._power()
            if isinstance(value, Tensor | Matrix) or isinstance(other, Tensor | Matrix):
                value = self._inner(value, other, dotted)
            else:
                value = value * other
        return value

    def _power(self) -> Any:
        value = self._atom()
        while self._next() in ("^", "!", "'"):
            if self._took("!"):
                value = sp.factorial(value)
                continue
            self._take()
            if self._took(r"\top") or self.left[:3] == ["{", r"\top", "}"]:
                self.left = self.left[3:] if self._next() == "{" else self.left
                continue  # w^T v: the transpose of a vector shows that a product is inner
            value = value ** self._argument()
        return value

    def _argument(self) -> Any:
        """What a command or a circumflex takes: a group, or a single mark, or a digit."""
        if self._next() == "{":
            return self._group("{", "}")
        if (number := self._next())[:1].isdigit() and len(number) > 1 and "." not in number:
            self.left[0] = number[1:]
            return sp.Integer(number[0])
        return self._atom()

    def _group(self, opening: str, closing: str) -> Any:
        self._take(opening)
        value = self.sum()
        self._take(closing)
        return value

    def _inner(self, left: Any, right: Any, dotted: bool) -> sp.Expr:
        if not all(isinstance(v, Tensor | Matrix) and len(v.sizes) == 1 for v in (left, right)):
            raise Unread(f"cannot read the product of {left} and {right}: write its entries")
        i = Index("i_", left.sizes[0])
        return total(left[i] * right[i], i)

    # ---- atoms

    def _atom(self) -> Any:
        mark = self._next()
        if mark[:1].isdigit():
            self._take()
            number = sp.Float(mark) if "." in mark else sp.Integer(mark)
            number = sp.Rational(mark) if "." in mark else number
            return number / 100 if self._took("%", r"\%") else number
        if mark in ("(", "[", "{"):
            return self._group(mark, {"(": ")", "[": "]", "{": "}"}[mark])
        if mark == "|":
            return sp.Abs(self._group("|", "|"))
        if mark == r"\|":
            return self._norm()
        if mark == r"\langle":
            self._take()
            left = self._atom()
            self._take(",")
            right = self._atom()
            self._take(r"\rangle")
            return self._inner(left, right, True)
        if mark in _AVERAGES:
            return self._average()
        if mark in (r"\sum", r"\prod"):
            return self._big()
        if mark == r"\int":
            return self._integral()
        if mark == r"\frac":
            self._take()
            over, under = self._argument(), self._argument()
            return over / under
        if mark == r"\sqrt":
            self._take()
            order = self._group("[", "]") if self._next() == "[" else 2
            return self._argument() ** (sp.S.One / order)
        if mark in (r"\binom", r"\tbinom"):
            self._take()
            upper, lower = self._argument(), self._argument()
            return sp.binomial(upper, lower)
        if mark == "begin:cases":
            return self._cases()
        if mark in _FUNCTIONS and self._names.is_new(mark.strip("\\@")):
            return self._function(_FUNCTIONS[self._take()])
        return self._named()

    def _named(self) -> Any:
        mark = self._take()
        name = mark.strip("\\@")
        if not re.fullmatch(r"\\?[A-Za-z]+|@[\w ]+", mark):
            raise Unread(f"cannot read {mark!r}")
        name = name.replace(" ", "_")
        while self._next() in ("'", r"\prime"):
            name += "p"
            self._take()
        places: list[str] = []
        if self._took("_"):
            places = self._subscript()
        meaning = self._meaning(name)
        if isinstance(meaning, Tensor | Matrix) and places:
            return self._entry(meaning, places)
        if places:
            name = f"{name}_{''.join(places)}"
            meaning = self._meaning(name)
        if callable(meaning) and not isinstance(meaning, sp.Basic):
            return self._function(meaning)
        if isinstance(meaning, Drawn):
            return meaning.symbol
        return meaning

    def _meaning(self, name: str) -> Any:
        for bound in reversed(self._bound):
            if name in bound:
                return bound[name]
        return self._names.of(name)

    def _subscript(self) -> list[str]:
        if self._next() != "{":
            mark = self._take()
            if mark[:1].isdigit() and len(mark) > 1:
                self.left.insert(0, mark[1:])
                mark = mark[0]
            return [mark.strip("\\@")]
        self._take("{")
        places = []
        while not self._took("}"):
            mark = self._take().strip("\\@")
            places += [mark] if mark != "," else []
        return places

    def _entry(self, array: Any, places: list[str]) -> sp.Expr:
        indices = []
        for place, size in zip(places, array.sizes, strict=True):
            index = self._meaning(place) if not place.isdigit() else None
            indices.append(index if isinstance(index, Index) else Index(f"{place}_", size))
        return array[tuple(indices)]

    # ---- functions

    def _function(self, function: Callable[..., sp.Expr]) -> Any:
        power = self._argument() if self._took("^") else None
        if self._next() in ("(", "[", r"\{"):
            closing = {"(": ")", "[": "]", r"\{": r"\}"}[self._take()]
            given = [self.sum()]
            while self._took(","):
                given.append(self.sum())
            self._take(closing)
        else:
            given = [self._juxtaposed()]
        value = function(*given)
        return value if power is None else value**power

    def _juxtaposed(self) -> Any:
        """What a function or an average without brackets takes: factors side by side."""
        value = self._power()
        stop = _ENDS | RELATIONS | set(_FUNCTIONS) | set(_AVERAGES) | {r"\cdot", r"\sum", r"\int"}
        while self.left and self._next() not in stop:
            value = value * self._power()
        return value

    def _norm(self) -> sp.Expr:
        self._take(r"\|")
        inside = self._atom()
        self._take(r"\|")
        self._took("_") and self._argument()
        if not isinstance(inside, Tensor | Matrix):
            raise Unread(f"cannot read the norm of {inside}: say what it is, let … : Tensor(…)")
        indices = [Index(f"{'ijkl'[n]}_", size) for n, size in enumerate(inside.sizes)]
        square = total(inside[tuple(indices)] ** 2, *indices)
        if self._took("^"):
            return square ** (self._argument() / 2)
        return sp.sqrt(square)

    def _average(self) -> sp.Expr:
        kind = _AVERAGES[self._take()]
        if self._took("_"):
            self._subscript()
        power = self._argument() if self._took("^") else None
        if self._next() in ("[", "(", r"\{"):
            closing = {"[": "]", "(": ")", r"\{": r"\}"}[self._take()]
            given = [self.sum()]
            while self._took(","):
                given.append(self.sum())
            self._take(closing)
        else:
            given = [self._juxtaposed()]
        value = average(kind, given, self._names)
        return value if power is None else value**power

    # ---- sums, products and integrals with limits

    def _big(self) -> sp.Expr:
        mark, lower, upper = self._take(), [], None
        for _ in range(2):
            if self._took("_"):
                lower = self._raw()
            elif self._took("^"):
                upper = self._argument()
        if not lower:
            raise Unread(f"cannot read {mark} without its index")
        names, _, start = " ".join(lower).partition("=")
        variables = [v.strip("\\@ ") for v in names.replace(",", " ").split()]
        bound: dict[str, Any] = {}
        for name in variables:
            known = self._names.known.get(name)
            whole = start.strip() == "1" and isinstance(known, Index) and upper == known.size
            if isinstance(known, Index) and (not start or whole):
                bound[name] = known
            elif start:
                bound[name] = sp.Symbol(name, integer=True)
            else:
                raise Unread(f"cannot read the range of {name}: write it, or let {name}: Index(…)")
        self._bound.append(bound)
        body = self._product()
        self._bound.pop()
        for name, variable in bound.items():
            if isinstance(variable, Index):
                if not body.has(sp.Indexed):
                    body = body * variable.size
                else:
                    body = total(body, variable)
                continue
            first = _Reader(start.split(), self._names).sum()
            if upper is None:
                raise Unread(f"cannot read the sum over {name} without its end")
            made = sp.Sum if mark == r"\sum" else sp.Product
            body = made(body, (variable, first, upper))
        return body

    def _raw(self) -> list[str]:
        if self._next() != "{":
            return [self._take()]
        self._take("{")
        found: list[str] = []
        while not self._took("}"):
            found.append(self._take())
        return found

    def _integral(self) -> sp.Expr:
        self._take(r"\int")
        low: Any = -sp.oo
        high: Any = sp.oo
        for _ in range(2):
            if self._took("_"):
                low = self._argument_signed()
            elif self._took("^"):
                high = self._argument_signed()
        depth, end = 0, -1
        for place, mark in enumerate(self.left):
            depth += {r"\int": 1}.get(mark, 0)
            after = self.left[place + 1 : place + 2]
            if mark in ("d", "@d") and after and re.fullmatch(r"\\?[a-zA-Z]+", after[0]):
                if depth == 0:
                    end = place
                    break
                depth -= 1
        if end < 0:
            raise Unread("cannot read an integral without its dx")
        name = self.left[end + 1].strip("\\")
        variable = sp.Symbol(name, real=True)
        inner = _Reader(self.left[:end], self._names)
        inner._bound = [*self._bound, {name: variable}]
        body = inner.sum() if inner.left else sp.S.One
        if inner.left:
            raise Unread(f"cannot read {inner.left[0]!r} in an integral")
        self.left = self.left[end + 2 :]
        return sp.Integral(body, (variable, low, high))

    def _argument_signed(self) -> Any:
        return -self._argument() if self._took("-") else self._argument()

    def _cases(self) -> sp.Expr:
        self._take("begin:cases")
        pieces = []
        while not self._took("end:cases"):
            value = self.sum()
            self._took(",")
            self._took("&")
            words = {"@if", "@for", "@otherwise", "@else", "@when"}
            said = self._take() if self._next() in words else ""
            if said in ("@otherwise", "@else"):
                pieces.append((value, True))
            else:
                left, relation, right = self.sum(), self._take(), self.sum()
                made = {"<": sp.Lt, ">": sp.Gt, r"\le": sp.Le, r"\ge": sp.Ge}.get(relation)
                if made is None:
                    raise Unread(f"cannot read the case {relation!r}")
                pieces.append((value, made(left, right)))
            self._took(",")
            self._took("\\\\")
        return sp.Piecewise(*pieces)
