"""What the names of a page's formulas stand for: the notation, and what the page says of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from ..definitions import thing
from ..formulas.notation import SYMBOL_KINDS, TABLE, parse, symbols
from ..laws import Law

_KINDS = SYMBOL_KINDS | {"whole": {"integer": True}}
_NAME = re.compile(r"([A-Za-z]\w*)(?:\(([A-Za-z]\w*)\))?")
_OWN = {"lambda": "lam", "gamma": "gam", "varepsilon": "epsilon"}  # LaTeX's name: the notation's
_CONSTANTS = {"pi": sp.pi, "infty": sp.oo, "e": sp.E}


@dataclass(frozen=True)
class Drawn:
    """A random number with a law, such as ``z: Normal(0, 1)``."""

    symbol: sp.Symbol
    law: Law


@dataclass
class Names:
    """What names stand for; what a display defines is added as the page goes on.

    Attributes:
        known: by name: an expression, a `Tensor`, an `Index`, a `Drawn`, or a function of
            expressions.
    """

    known: dict[str, Any] = field(default_factory=dict)

    def let(self, declarations: str) -> None:
        """Take up declarations such as ``w: Tensor(Normal(0, sigma), d); i: Index(d); x: real``.

        Args:
            declarations: a name, a colon, and ``real``, ``positive``, ``size`` or ``whole``, a
                law, ``Index(size)``, ``Tensor(law, *sizes)`` or a formula;
                of a function its name with a letter, ``f(x): x + x**3``; separated by semicolons.

        Raises:
            ValueError: one is none of these.
        """
        for part in filter(None, map(str.strip, declarations.split(";"))):
            name, colon, said = (piece.strip() for piece in part.partition(":"))
            named = _NAME.fullmatch(name)
            if not colon or not named:
                raise ValueError(f"let: {part!r}; accepted: a name, a colon and what it stands for")
            if named[2]:
                body, variable = parse(said), symbols(named[2])
                self.define(named[1], lambda x, body=body, of=variable: body.subs(of, x))
            elif said in _KINDS:
                self.known[name] = sp.Symbol(name, **_KINDS[said])
            else:
                meaning = thing(name, said)
                real = sp.Symbol(name, real=True)
                self.known[name] = Drawn(real, meaning) if isinstance(meaning, Law) else meaning

    def of(self, name: str) -> Any:
        """Return what a name stands for: of the page, of the notation, or a positive number.

        A function with a prime, which is read as ``fp``, stands for its derivative.
        """
        if name in self.known:
            return self.known[name]
        function = self.of(name[:-1]) if len(name) > 1 and name.endswith("p") else None
        if callable(function) and not isinstance(function, sp.Basic):
            at = sp.Dummy("x", real=True)
            slope = sp.diff(function(at), at)
            return lambda x: slope.subs(at, x)
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        own = _OWN.get(name, name)
        if own in _NOTATION:
            return symbols(own)
        return sp.Symbol(name, positive=True)

    def is_new(self, name: str) -> bool:
        """Whether nothing is known of a name."""
        return name not in self.known and name not in _CONSTANTS

    def is_notation(self, name: str) -> bool:
        """Whether a name stands in the book's notation, where it may take any value."""
        return name in {"lambda", "gamma"} or name in _NOTATION

    def define(self, name: str, meaning: sp.Expr | Callable[..., sp.Expr]) -> None:
        """Let a name stand for an expression, or for a function of expressions."""
        self.known[name] = meaning


_NOTATION = {entry.name for entry in TABLE}
