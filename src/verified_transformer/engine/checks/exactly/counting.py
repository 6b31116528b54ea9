"""Deciding by counting: the things are built, and their number is the formula's."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...account.records.record import Record
from ...exact.formulas.evaluation import Point, checked_points
from ...exact.typed_oracles import typed_formula
from ..subject import Subject
from ..what_ran import watched
from ..wording import count as counted_noun

Countable = int | Iterable[Any]


class ByCount(Subject):
    """The verb that decides a claim by counting."""

    @watched()
    def count(
        self, quantity: str, counted: Callable[[Point], Countable], *, at: Sequence[Point] = ({},)
    ) -> Record:
        """Check the formula by counting what it says how many there are of.

        Args:
            quantity: what is counted, in a line.
            counted: function of a point; builds the things and returns them in a collection, or
                returns how many there are.
            at: points, two or more where the formula has symbols.

        Returns:
            A record of kind "count"; it needs no measurement beside it.

        Raises:
            ClaimFailed: there is another number of them, or a mutant of the formula gives the same.
            TypeError: ``counted`` is no function, or returns what cannot be counted.
            ValueError: a single point, or ``counted`` is a formula and counts nothing.

        Example:
            >>> from verified_transformer import claim, symbols
            >>> import torch
            >>> d, n = symbols("d n")
            >>> def table(point):
            ...     return torch.nn.Embedding(point[n], point[d]).weight.flatten()
            >>> claim("TIE-29").count(
            ...     "entries of an embedding", table, at=[{n: 5, d: 3}, {n: 7, d: 2}]
            ... )  # doctest: +ELLIPSIS
            TIE-29 count   entries of an embedding = d*n   ...
        """
        if not isinstance(quantity, str) or not quantity.strip():
            raise TypeError(f"quantity: got {quantity!r}; accepted: what is counted, in a line")
        if not callable(counted):
            raise TypeError(f"counted: got {counted!r}; accepted: a function of a point")
        points = checked_points(at, self.formula)
        if self.formula.free_symbols and len(points) < 2:
            raise ValueError(f"at: got {len(points)} point; accepted: two or more")
        typed = typed_formula(counted, self.formula.free_symbols)
        if typed is not None:
            raise ValueError(f"counted: is the formula {typed}; accepted: a function that counts")
        score = self._judged(lambda point: how_many(counted(point)), points, counted=True)
        self._check_digits()
        detail = f"counted at {counted_noun(points, 'point')}; {score.killed}/{score.total} mutants"
        return self._emit(
            "count", "supports", f"{quantity} = {self.formula}", detail,
            mutants=score, given=[counted, at],
        )  # fmt: skip


def how_many(things: Countable) -> int:
    """Return how many things there are: a whole number as it is, a collection's length.

    Raises:
        TypeError: something else: a fraction, a text, or a range, which is a number in disguise.
    """
    if isinstance(things, numbers.Integral) and not isinstance(things, bool):
        return int(things)
    if isinstance(things, Iterable) and not isinstance(things, str | bytes | range):
        return sum(1 for _ in things)
    raise TypeError(
        f"counted: returned {things!r}, a {type(things).__name__}; accepted: a whole number, or a "
        "collection of the things"
    )
