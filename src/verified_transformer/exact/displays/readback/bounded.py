"""Parts of a formula with limits, read: sums, products and integrals; and cases."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import sympy as sp

from ...formulas.listed import entry
from ...moments.written import Index
from .averages import summed
from .known import Unread

if TYPE_CHECKING:
    from .reading import Reader


def big(reader: Reader) -> sp.Expr:
    """Read a sum or a product over indices."""
    mark, lower, upper = reader.take(), [], None
    for _ in range(2):
        if reader.took("_"):
            lower = _raw(reader)
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
        return summed(summed(body, first), second) - summed(body.subs(second, first), first)
    for name, variable in bound.items():
        if isinstance(variable, Index):
            body = summed(body, variable)
            continue
        first = type(reader)(start.split(), reader.names).sum()
        if upper is None:
            raise Unread(f"cannot read the sum over {name} without its end")
        made = sp.Sum if mark == r"\sum" else sp.Product
        body = made(body, (variable, first, upper))
    return body


def listed(reader: Reader, meaning: Any, full: str, places: list[str]) -> sp.Expr | None:
    """Read a number of a list, such as a_k where a sum runs over k; None where it is none."""
    if len(places) != 1 or not isinstance(meaning, sp.Symbol) or not reader.names.is_new(full):
        return None
    place = next((b[places[0]] for b in reversed(reader.bound) if places[0] in b), None)
    return entry(meaning, place) if isinstance(place, sp.Symbol) else None


def _raw(reader: Reader) -> list[str]:
    if reader.next() != "{":
        return [reader.take()]
    reader.take("{")
    found: list[str] = []
    while not reader.took("}"):
        found.append(reader.take())
    return found


def integral(reader: Reader) -> sp.Expr:
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
    inner = type(reader)(reader.left[:end], reader.names)
    inner.bound = [*reader.bound, {name: variable}]
    body = inner.sum() if inner.left else sp.S.One
    if inner.left:
        raise Unread(f"cannot read {inner.left[0]!r} in an integral")
    reader.left = reader.left[end + 2 :]
    return sp.Integral(body, (variable, low, high))


def _end(reader: Reader) -> Any:
    return -reader.argument() if reader.took("-") else reader.argument()


def cases(reader: Reader) -> sp.Expr:
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
