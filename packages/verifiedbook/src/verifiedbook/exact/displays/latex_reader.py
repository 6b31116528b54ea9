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

from ..formulas.evaluation import entry
from ..integrals.closed_forms import integrate_by_parts
from ..integrals.law_means import density, support
from ..laws import Discrete, Law, Normal
from ..moments import Index, Tensor, mean, total
from ..moments.polynomials import refuse_unless_polynomial
from .marks import FUNCTION_OF, LETTERS, RELATION_MARKS, Unread, marks
from .names import Drawn, Names

_ACCENTS = {r"\tilde", r"\hat", r"\bar", r"\widetilde", r"\widehat", r"\overline", r"\vec"}
_AVERAGES = {"@E": "mean", "@Var": "variance", "@Cov": "covariance", "@V": "variance"}
_ENDS = {"+", "-", ")", "]", "}", "|", ",", "&", "\\\\", "/", r"\rangle", r"\}", "end:cases"}


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
        >>> read(r"\operatorname{Var}\lVert w\rVert^2", names).expand()
        2*d*sigma**4
    """
    reader = _Reader(marks(latex), names or Names())
    try:
        value = reader.sum()
    except (TypeError, AttributeError, ZeroDivisionError) as error:
        raise Unread(f"cannot read {latex} ({error})") from error
    if reader.left:
        raise Unread(f"cannot read {reader.left[0]!r} in {latex}")
    return _evaluated(value) if isinstance(value, sp.Expr) else value


class _Reader:
    def __init__(self, found: Sequence[str], names: Names) -> None:
        self.left, self.names = list(found), names
        self.bound: list[dict[str, Any]] = []
        self._turned = False

    # ---- marks

    def next(self) -> str:
        return self.left[0] if self.left else ""

    def take(self, wanted: str | None = None) -> str:
        if not self.left or (wanted is not None and self.left[0] != wanted):
            raise Unread(f"cannot read {self.next() or 'the end'!r}: {wanted or 'more'} expected")
        return self.left.pop(0)

    def took(self, *wanted: str) -> bool:
        if self.next() in wanted:
            self.left.pop(0)
            return True
        return False

    # ---- sums, products, powers

    def sum(self) -> sp.Expr:
        value = -self.product() if self.took("-") else (self.took("+"), self.product())[1]
        while self.next() in ("+", "-"):
            value = value - self.product() if self.take() == "-" else value + self.product()
        return value

    def product(self) -> Any:
        value = self._power()
        while self.left and self.next() not in _ENDS - {"/"} and self.next() not in RELATION_MARKS:
            if self.took("/"):
                value = value / self._power()
                continue
            dotted = self.took(r"\cdot")
            if self.took("-"):
                value = value * -self._power()
                continue
            other = self._power()
            if isinstance(value, Tensor) or isinstance(other, Tensor):
                if not dotted and not self._turned:
                    raise Unread(f"cannot read the product of {value} and {other}: write a dot")
                value, self._turned = self._inner(value, other), False
            else:
                value = value * other
        return value

    def _power(self) -> Any:
        value = self._atom()
        while self.next() in ("^", "!", "'"):
            if self.took("!"):
                value = sp.factorial(value)
                continue
            self.take()
            if self.took(r"\top") or self.left[:3] == ["{", r"\top", "}"]:
                self.left = self.left[3:] if self.next() == "{" else self.left
                self._turned = True  # of a vector this shows that a product is inner
                continue
            value = value ** self.argument()
        return value

    def argument(self) -> Any:
        """What a command or a circumflex takes: a group, or a single mark, or a digit."""
        if self.next() == "{":
            return self._group("{", "}")
        if (number := self.next())[:1].isdigit() and len(number) > 1 and "." not in number:
            self.left[0] = number[1:]
            return sp.Integer(number[0])
        return self._atom()

    def _group(self, opening: str, closing: str) -> Any:
        self.take(opening)
        value = self.sum()
        self.take(closing)
        return value

    def _inner(self, left: Any, right: Any) -> sp.Expr:
        if not all(isinstance(v, Tensor) and len(v.sizes) == 1 for v in (left, right)):
            raise Unread(f"cannot read the product of {left} and {right}: write its entries")
        i = Index("i_", left.sizes[0])
        return total(left[i] * right[i], i)

    # ---- atoms

    def _atom(self) -> Any:
        mark = self.next()
        if mark[:1].isdigit():
            self.take()
            number = sp.Rational(mark) if "." in mark else sp.Integer(mark)
            return number / 100 if self.took("%", r"\%") else number
        if mark in ("(", "[", "{"):
            return self._group(mark, {"(": ")", "[": "]", "{": "}"}[mark])
        if mark == "|":
            return sp.Abs(self._group("|", "|"))
        if mark == r"\|":
            return self._norm()
        if mark == r"\langle":
            self.take()
            left = self._atom()
            self.take(",")
            right = self._atom()
            self.take(r"\rangle")
            return self._inner(left, right)
        if mark in _AVERAGES:
            return self._average()
        if mark in (r"\sum", r"\prod"):
            return _big(self)
        if mark == r"\int":
            return _integral(self)
        if mark == r"\frac":
            self.take()
            over, under = self.argument(), self.argument()
            return over / under
        if mark == r"\sqrt":
            self.take()
            order = self._group("[", "]") if self.next() == "[" else 2
            return self.argument() ** (sp.S.One / order)
        if mark in (r"\binom", r"\tbinom"):
            self.take()
            upper, lower = self.argument(), self.argument()
            return sp.binomial(upper, lower)
        if mark == "begin:cases":
            return _cases(self)
        if mark == r"\log" and self.left[1:2] == ["_"]:
            del self.left[:2]
            base = self.argument()
            return self._function(lambda x: sp.log(x) / sp.log(base))
        if mark in FUNCTION_OF and self.names.is_new(mark.strip("\\@")):
            return self._function(FUNCTION_OF[self.take()])
        return self._named()

    def _named(self) -> Any:
        mark = self.take()
        accent = ""
        while mark in _ACCENTS:
            accent += mark.strip("\\") + "_"
            braced = self.took("{")
            mark = self.take()
            braced and self.take("}")
        name = mark.strip("\\@")
        if not re.fullmatch(r"[A-Za-z]|@[\w ]+", mark) and name not in LETTERS:
            raise Unread(f"cannot read {mark!r}")
        name = accent + name.replace(" ", "_")
        while self.next() in ("'", r"\prime"):
            name += "p"
            self.take()
        places: list[str] = []
        if self.took("_"):
            places = self.subscript()
        meaning = self.meaning(name)
        if isinstance(meaning, Tensor) and places:
            return self._entry(meaning, places)
        if places:
            full = f"{name}_{''.join(places)}"
            meaning = _listed(self, meaning, full, places) or self.meaning(full)
        if callable(meaning) and not isinstance(meaning, sp.Basic):
            return self._function(meaning)
        if isinstance(meaning, Drawn):
            return meaning.symbol
        return meaning

    def meaning(self, name: str) -> Any:
        for bound in reversed(self.bound):
            if name in bound:
                return bound[name]
        return self.names.of(name)

    def subscript(self) -> list[str]:
        if self.next() != "{":
            mark = self.take()
            if mark[:1].isdigit() and len(mark) > 1:
                self.left.insert(0, mark[1:])
                mark = mark[0]
            return [mark.strip("\\@")]
        return [mark.strip("\\@") for mark in self.group() if mark != ","]

    def group(self) -> list[str]:
        """The marks of a group as they are, or the next one."""
        if not self.took("{"):
            return [self.take()]
        found: list[str] = []
        while not self.took("}"):
            found.append(self.take())
        return found

    def _entry(self, array: Any, places: list[str]) -> sp.Expr:
        indices = []
        for place, size in zip(places, array.sizes, strict=True):
            index = self.meaning(place) if not place.isdigit() else None
            if any(place in bound for bound in self.bound) and not isinstance(index, Index):
                raise Unread(f"cannot read a sum of entries over a part of {place}'s range")
            indices.append(index if isinstance(index, Index) else Index(f"{place}_", size))
        return array[tuple(indices)]

    # ---- functions

    def _function(self, function: Callable[..., sp.Expr]) -> Any:
        power = self.argument() if self.took("^") else None
        brackets = self.next() in ("(", "[", r"\{")
        given = self.given() if brackets else [self._juxtaposed()]
        value = function(*given)
        return value if power is None else value**power

    def given(self) -> list[sp.Expr]:
        """What stands between brackets, separated by commas."""
        closing = {"(": ")", "[": "]", r"\{": r"\}"}[self.take()]
        given = [self.sum()]
        while self.took(","):
            given.append(self.sum())
        self.take(closing)
        return given

    def _juxtaposed(self) -> Any:
        """What a function or an average without brackets takes: factors side by side."""
        value = self._power()
        stop = (
            _ENDS
            | RELATION_MARKS
            | set(FUNCTION_OF)
            | set(_AVERAGES)
            | {r"\cdot", r"\sum", r"\int"}
        )
        while self.left and self.next() not in stop:
            value = value * self._power()
        return value

    def _norm(self) -> sp.Expr:
        self.take(r"\|")
        inside = self._atom()
        self.take(r"\|")
        self.took("_") and self.argument()
        if not isinstance(inside, Tensor):
            raise Unread(f"cannot read the norm of {inside}: say what it is, let … : Tensor(…)")
        indices = [Index(f"{'ijkl'[n]}_", size) for n, size in enumerate(inside.sizes)]
        square = total(inside[tuple(indices)] ** 2, *indices)
        if self.took("^"):
            return square ** (self.argument() / 2)
        return sp.sqrt(square)

    def _average(self) -> sp.Expr:
        kind = _AVERAGES[self.take()]
        if self.took("_"):
            self.subscript()
        power = self.argument() if self.took("^") else None
        if kind == "mean" and self.next() == "(":
            given = [self._power()]  # the mean of a square, where E[x]^2 is the square of a mean
        elif self.next() in ("[", "(", r"\{"):
            given = self.given()
        else:
            given = [self._juxtaposed()]
        value = _average(kind, given, self.names)
        return value if power is None else value**power


def _big(reader: _Reader) -> sp.Expr:
    """Read a sum or a product over indices."""
    mark, lower, upper = reader.take(), [], None
    for _ in range(2):
        if reader.took("_"):
            lower = reader.group()
        elif reader.took("^"):
            upper = reader.argument()
    if not lower:
        raise Unread(f"cannot read {mark} without its index")
    names, _, start = " ".join(lower).partition("=")
    apart = r"\ne" in lower
    names = names.replace(r"\ne", " ")
    variables = [v.strip("\\@ ") for v in names.replace(",", " ").split()]
    bound: dict[str, Any] = {}
    for name in variables:
        known = reader.names.known.get(name)
        whole = start.strip() == "1" and isinstance(known, Index) and upper == known.size
        if isinstance(known, Index) and (not start or whole):
            bound[name] = known
        elif start:
            bound[name] = sp.Symbol(name, integer=True)
        else:
            raise Unread(f"cannot read the range of {name}: write it, or let {name}: Index(…)")
    reader.bound.append(bound)
    body = reader.product()
    reader.bound.pop()
    if apart:
        first, second = bound.values()
        return _summed(_summed(body, first), second) - _summed(body.subs(second, first), first)
    for name, variable in bound.items():
        if isinstance(variable, Index):
            body = _summed(body, variable)
            continue
        first = _Reader(start.split(), reader.names).sum()
        if upper is None:
            raise Unread(f"cannot read the sum over {name} without its end")
        made = sp.Sum if mark == r"\sum" else sp.Product
        body = made(body, (variable, first, upper))
    return body


def _listed(reader: _Reader, meaning: Any, full: str, places: list[str]) -> sp.Expr | None:
    """Read a number of a list, such as a_k where a sum runs over k; None where it is none."""
    if len(places) != 1 or not isinstance(meaning, sp.Symbol) or not reader.names.is_new(full):
        return None
    place = next((b[places[0]] for b in reversed(reader.bound) if places[0] in b), None)
    return entry(meaning, place) if isinstance(place, sp.Symbol) else None


def _integral(reader: _Reader) -> sp.Expr:
    """Read an integral, whose variable stands at its end."""
    reader.take(r"\int")
    low: Any = -sp.oo
    high: Any = sp.oo
    for _ in range(2):
        if reader.took("_"):
            low = _end(reader)
        elif reader.took("^"):
            high = _end(reader)
    depth, end = 0, -1
    for place, mark in enumerate(reader.left):
        depth += {r"\int": 1}.get(mark, 0)
        after = reader.left[place + 1 : place + 2]
        if mark in ("d", "@d") and after and re.fullmatch(r"\\?[a-zA-Z]+", after[0]):
            if depth == 0:
                end = place
                break
            depth -= 1
    if end < 0:
        raise Unread("cannot read an integral without its dx")
    name = reader.left[end + 1].strip("\\")
    variable = sp.Symbol(name, real=True)
    inner = _Reader(reader.left[:end], reader.names)
    inner.bound = [*reader.bound, {name: variable}]
    body = inner.sum() if inner.left else sp.S.One
    if inner.left:
        raise Unread(f"cannot read {inner.left[0]!r} in an integral")
    reader.left = reader.left[end + 2 :]
    return sp.Integral(body, (variable, low, high))


def _end(reader: _Reader) -> Any:
    return -reader.argument() if reader.took("-") else reader.argument()


def _cases(reader: _Reader) -> sp.Expr:
    """Read a function given by cases."""
    reader.take("begin:cases")
    pieces = []
    while not reader.took("end:cases"):
        value = reader.sum()
        reader.took(",")
        reader.took("&")
        words = {"@if", "@for", "@otherwise", "@else", "@when"}
        said = reader.take() if reader.next() in words else ""
        if said in ("@otherwise", "@else"):
            pieces.append((value, True))
        else:
            left, relation, right = reader.sum(), reader.take(), reader.sum()
            made = {"<": sp.Lt, ">": sp.Gt, r"\le": sp.Le, r"\ge": sp.Ge}.get(relation)
            if made is None:
                raise Unread(f"cannot read the case {relation!r}")
            pieces.append((value, made(left, right)))
        reader.took(",")
        reader.took("\\\\")
    return sp.Piecewise(*pieces)


# ---- means


class _Waiting(sp.Function):  # type: ignore[misc]  # SymPy has no types
    """The mean of a polynomial in entries, until the sums around it are read."""

    nargs = 1
    is_commutative = True


def _evaluated(value: sp.Expr) -> sp.Expr:
    """An expression with its means computed by the moment engine."""
    return value.replace(_Waiting, lambda of: mean(of).value)


def _summed(body: sp.Expr, index: Index) -> sp.Expr:
    """A sum over an index's whole size, taken into the means on which it acts."""
    if not body.has(_Waiting):
        return total(body, index) if body.has(index) else body * index.size
    parts = []
    for term in sp.Add.make_args(sp.expand(body)):
        means = [f for f in sp.Mul.make_args(term) if isinstance(f, _Waiting) and f.has(index)]
        others = sp.Mul(*(f for f in sp.Mul.make_args(term) if f not in means))
        if means and not others.has(index) and _independent(means):
            inside = sp.Mul(*(of.args[0] for of in means))
            parts.append(others * _Waiting(total(inside, index)))
        else:
            parts.append(_evaluated(term) * index.size)
    return sp.Add(*parts)


def _independent(means: Sequence[sp.Expr]) -> bool:
    """Whether no two means share an array: then their product is the mean of the product."""
    arrays = [{entry.base.label for entry in of.atoms(sp.Indexed)} for of in means]
    return sum(map(len, arrays)) == len(set().union(*arrays))


def _average(kind: str, given: Sequence[sp.Expr], names: Names) -> sp.Expr:
    """A mean, variance or covariance.

    By the moment engine where entries of tensors occur, an integral over the laws where random
    numbers do, and a symbol of its own where nothing random is known.
    """
    first, second = given[0], given[-1]
    if kind == "mean":
        return _mean(first, names)
    if not any(of.has(sp.Indexed) or _drawn(of, names) for of in given):
        sign = "Var" if kind == "variance" else "Cov"
        return sp.Symbol(f"{sign}{list(given)}", real=True)
    return _mean(first * second, names) - _mean(first, names) * _mean(second, names)


def _mean(of: sp.Expr, names: Names) -> sp.Expr:
    drawn = _drawn(of, names)
    if of.has(sp.Indexed):
        if drawn:
            raise ValueError(f"{of} mixes entries and random numbers; accepted: one of the two")
        return _by_terms(of, lambda part: part.has(sp.Indexed))
    if not drawn:
        new = {s for s in of.free_symbols if not names.is_notation(s.name)}
        return _by_terms(of, lambda part: bool((new or of.free_symbols) & part.free_symbols))
    for one in drawn:
        of = _over(of, one.symbol, one.law)
    return of


def _by_terms(of: sp.Expr, is_random: Callable[[sp.Expr], bool]) -> sp.Expr:
    """The mean of a sum, term by term: by the engine, or a symbol where it cannot say."""
    found, polynomial = [], []
    for term in sp.Add.make_args(sp.expand(of)):
        random = [f for f in sp.Mul.make_args(term) if is_random(f)]
        rest, fixed = (
            sp.Mul(*random),
            sp.Mul(*(f for f in sp.Mul.make_args(term) if f not in random)),
        )
        if not random:
            found.append(term)
        elif _is_polynomial(rest):
            polynomial.append(term)
        else:
            found.append(fixed * sp.Symbol(f"E[{rest}]", real=True))
    return sp.Add(*found, *([_Waiting(sp.Add(*polynomial))] if polynomial else []))


def _is_polynomial(of: sp.Expr) -> bool:
    try:
        refuse_unless_polynomial(of)
    except ValueError:
        return False
    return bool(of.has(sp.Indexed))


def _drawn(of: sp.Expr, names: Names) -> list[Drawn]:
    known = [thing for thing in names.known.values() if isinstance(thing, Drawn)]
    return [thing for thing in known if thing.symbol in of.free_symbols]


def _over(of: sp.Expr, symbol: sp.Symbol, law: Law) -> sp.Expr:
    """Integrate over a law, or sum over its values."""
    if isinstance(law, Discrete):
        pairs = zip(law.values, law.probabilities, strict=True)
        return sp.Add(*(weight * of.subs(symbol, value) for value, weight in pairs))
    integral = sp.Integral(of * density(law, symbol), (symbol, *support(law)))
    try:  # exponentials of wide laws defeat a quadrature
        return integrate_by_parts(integral) if isinstance(law, Normal) else integral
    except (ValueError, TypeError):  # not a polynomial times a Gaussian
        return integral
