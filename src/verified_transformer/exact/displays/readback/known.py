"""What a formula may have: functions, letters and relations by their LaTeX."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

RELATIONS = {"=", r"\approx", r"\le", r"\ge", "<", ">", r"\ne", r"\equiv", r"\simeq"}
FUNCTIONS: dict[str, Callable[..., sp.Expr]] = {
    r"\log": sp.log, r"\exp": sp.exp, r"\sin": sp.sin, r"\cos": sp.cos, r"\tan": sp.tan,
    r"\tanh": sp.tanh, r"\arcsin": sp.asin, r"\arccos": sp.acos, r"\arctan": sp.atan,
    r"\cosh": sp.cosh, r"\sinh": sp.sinh, r"\Gamma": sp.gamma, r"\max": sp.Max, r"\min": sp.Min,
    "@erf": sp.erf, "@erfc": sp.erfc, "@sgn": sp.sign, "@sign": sp.sign,
    r"\Phi": lambda x: (1 + sp.erf(x / sp.sqrt(2))) / 2,
    "@relu": lambda x: sp.Max(x, 0), "@ReLU": lambda x: sp.Max(x, 0),
}  # fmt: skip
LETTERS = set(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi "
    "pi rho varrho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma "
    "Upsilon Phi Psi Omega ell infty".split()
)


class Unread(ValueError):
    """A formula has a part that cannot be read; the message names it."""
