"""Numbers of a list, of which a formula says no more than their name and place."""

from __future__ import annotations

import hashlib

import sympy as sp
from sympy.core.symbol import Str

_REAL = "±"  # before the name of a list whose numbers have either sign


def entry(name: sp.Symbol, place: sp.Expr) -> sp.Expr:
    """Return a number of a list, such as the k-th logit.

    Args:
        name: of the list; its numbers are positive where it is a positive symbol, else real.
        place: where in the list.
    """
    return Listed(Str(name.name if name.is_positive else _REAL + name.name), place)


class Listed(sp.Function):  # type: ignore[misc]
    """A number of a list: where its place is known, a rational number, another one at each place.

    So a sum over the places tells them apart, whatever the list is.
    """

    @classmethod
    def eval(cls, name: Str, place: sp.Expr) -> sp.Expr | None:
        if not place.is_Integer:
            return None
        digest = hashlib.sha256(f"{name} {place}".encode()).digest()
        value = sp.Rational(int.from_bytes(digest[:2], "big") + 1, 40009)
        return value - sp.Rational(3, 4) if str(name).startswith(_REAL) else value

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_positive(self) -> bool | None:
        return None if str(self.args[0]).startswith(_REAL) else True
