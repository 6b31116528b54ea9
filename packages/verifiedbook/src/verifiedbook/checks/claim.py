"""Deciding a claim: prove, check, measure, refute, reproduce, count, cite, set aside.

    >>> from verifiedbook import Index, Normal, Tensor, claim, symbols, total, variance
    >>> d, σ = symbols("d sigma")
    >>> i = Index("i", d)
    >>> w = Tensor("w", Normal(0, σ), d)
    >>> claim("LOSS-14").prove(variance(total(w[i] ** 2, i)))  # doctest: +ELLIPSIS
    LOSS-14 proof   Var(Sum(w[i]**2, (i, 1, d))) = 2*d*sigma**4   pattern by pattern; exact at ...
    >>> points = [{d: 3, σ: 1.3}, {d: 5, σ: 0.7}]
    >>> claim("LOSS-14").measure(lambda w: (w * w).sum(-1), at=points)  # doctest: +ELLIPSIS
    LOSS-14 measurement   Var(Sum(w[i]**2, (i, 1, d))) = 2*d*sigma**4   d=3, sigma=1.3; d=5, ...

Every method takes the formula from the registry's reading, never from the cell; runs the check and
its mutants; displays a record; and raises `ClaimFailed`, which names the claim, where the check
fails. The verdict is not typed anywhere: it follows from the records (see `account`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ..account.records.record import Record
from ..exact.formulas.evaluation import Point
from .against import Against
from .by_derivation import ByDerivation
from .by_draws import ByDraws
from .by_experiment import ByExperiment
from .by_measurement import ByMeasurement
from .by_oracle import ByOracle
from .by_sources import BySources
from .subject import ClaimFailed
from .what_ran import watch

__all__ = ["Claim", "ClaimFailed", "Record", "claim", "derive"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

watch()  # in a notebook what ran before the first claim counts as well


def claim(*ids: str) -> Claim:
    """Return a claim to decide; on several ids, a joint one whose records count for each.

    Args:
        ids: ids such as ``"LOSS-14"``; joint claims must have the same formula.

    Raises:
        KeyError: an id is not in the registry, or is retired.
        ValueError: no id, or ids with different formulas.
    """
    watch()
    return Claim(ids)


class Claim(ByDerivation, ByOracle, ByMeasurement, ByDraws, Against, ByExperiment, BySources):
    """One claim (or one case of it, or its truth), ready to be decided.

    Exactly: `derive`, `prove`, `check`, `check_that`, `count`. By measurement: `measure`. On random
    draws: `sampled_that`, `same`. Against it: `refute`, `refute_that`, `fails_without`. Under
    its condition: `meets`. By the world: `experiment`, `census`, `cited`, `set_aside`,
    `attempt`. And `would_be` says what another formula would break.

    Args:
        ids: the claim's id, or several for a joint claim.
        case: name of a case of the reading.
        of: "reading" for what the article says, "truth" for the right statement.
    """


def derive(
    *claims: Claim,
    wrong: Any,
    at: Sequence[Point] | None = None,
    alike: Mapping[str, str] | None = None,
) -> Callable[[_Function], _Function]:
    """Return a decorator: the function below it, in plain SymPy, derives the claims' formula.

    The function is run, and has to return the formula. Then its lines are run in numbers, as they
    are, with each slip of theirs, and with each wrong object; only the first may give its number.

    Args:
        claims: what is proved by it.
        wrong: what has to fail instead of a parameter's value, such as another density: one
            thing or a list, of several parameters a dictionary by their names.
        at: points for the numbers; two small ones by default.
        alike: slips that change nothing, by name, each with the reason.

    Example:
        The squared length of a vector, from the density of its entries:

        >>> from sympy import exp, expand, integrate, oo, pi, sqrt
        >>> from verifiedbook import claim, symbols
        >>> d, x, σ = symbols("d x sigma")
        >>> @derive(claim("LOSS-14"), wrong=exp(-abs(x) / σ) / (2 * σ))
        ... def variance_of_squared_length(density=exp(-(x**2) / (2 * σ**2)) / (σ * sqrt(2 * pi))):
        ...     E = lambda f: integrate(f * density, (x, -oo, oo))
        ...     square, fourth = E(x**2), E(x**4)
        ...     diagonal, rest = d * fourth, d * (d - 1) * square**2
        ...     return expand(diagonal + rest - (d * square) ** 2)
    """

    def decide(function: _Function) -> _Function:
        for claimed in claims:
            claimed.typeset(function)
            claimed.derive(function, wrong=wrong, at=at, alike=alike)
        return function

    return decide
