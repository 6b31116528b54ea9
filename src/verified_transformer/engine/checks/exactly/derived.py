"""Deciding by a derivation that stands in the reader's cell: a function in plain SymPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy as sp

from ...account.hashing import hash_of
from ...account.records.record import Record, Score
from ...exact.definitions import under
from ...exact.formulas.evaluation import (
    Point,
    checked_points,
    equivalent,
    number,
    place,
    small_points,
)
from ...exact.induction import over_layers
from ...exact.laws import General
from ...exact.moments import Expectation
from ...exact.numeric_twin import Shown, moments_of
from ..subject import display
from ..what_ran import watched
from ..wording import as_much, equation
from ..wording import count as counted_noun
from .proofs import ByProof

_HIGHEST = 8  # moment of another density that a quantity may need
_CLOSE = 1e-6  # relative
_LONG = 120  # letters of a formula that nobody reads
_SHOWN_SLIPS = 4  # in a message


class ByShownDerivation(ByProof):
    """The verb that proves a claim by a function of the notebook."""

    @watched()
    def derive(
        self,
        function: Callable[..., sp.Expr],
        *,
        wrong: Mapping[str, Any] | Sequence[Any],
        at: Sequence[Point] | None = None,
        alike: Mapping[str, str] | None = None,
        **objects: Any,
    ) -> Record:
        """Prove that the formula is what a function in plain SymPy derives.

        The function is run, and must return the claim's formula. Its lines are run again in numbers
        (quadrature, addition, root finding), and once more with each slip: a number off by one, an
        operator or a name exchanged, a line left out. Each must give another number. So must each
        wrong object; where the reading defines a mean or a variance, and the object is the density
        of an entry, the lines must give the number that the definition has for it.

        Args:
            function: of the definition's objects, such as a density; each parameter has its
                value as the default.
            wrong: for each parameter other objects; of a single one the objects alone.
            at: points; two small ones by default.
            alike: slips that change nothing, by name, each with the reason.
            objects: values for parameters, other than the defaults.

        Raises:
            ClaimFailed: another formula comes out, a slip or a wrong object changes nothing, or
                the lines do not follow their object.
            TypeError: the function or ``wrong`` is not as described.
            ValueError: nothing is computed in it, or it calls this library.
        """
        if over_layers(self.formula):
            raise TypeError(f"{self.formula} goes over layers; accepted: prove, with an Induction")
        shown = Shown(function, objects)
        others = _others(shown, wrong)
        points = (
            small_points(self.formula.free_symbols)
            if at is None
            else checked_points(at, self.formula)
        )
        derived = f"$${self._equation(shown, shown.value)}$$"
        line = f"{self.name} derivation   #{hash_of(derived)}"
        display({"text/plain": line, "text/markdown": derived}, {})
        if not equivalent(shown.value, self.formula, tolerance=1e-12):
            raise self._failed(f"{shown.name} is {self._told(shown.value, points[0])}")
        if not shown.computes(points[0]):
            raise ValueError(
                f"{function.__name__}: writes the formula down; accepted: a function with an "
                "integral, a sum, a root, a limit or a derivative between definition and formula"
            )
        score = self._judged(shown.numeric, points)
        if isinstance(self.quantity, Expectation):
            self._judged(self.quantity.oracle, points)
        self._check_digits()
        slips = self._slips(shown, points, alike or {})
        for name, other in others:
            self._follows(shown, points, name, other)
        detail = (
            f"in the reader's cell; the same in numbers at {counted_noun(points, 'point')}; "
            f"{score.killed}/{score.total} mutants; {slips}; "
            f"{len(others)}/{len(others)} wrong objects"
        )
        text = getattr(self.quantity, "quantity", shown.name)
        return self._emit(
            "proof", "supports", f"{text} = {self.formula}", detail,
            mutants=Score(score.killed, score.total), given=[function, shown.key, at],
            latex=self._equation(shown, self.formula),
        )  # fmt: skip

    def _told(self, value: sp.Expr, point: Point) -> str:
        """What came out instead: as a formula, or as a number where the formula is no sentence."""
        found, said = (number(formula, point, 15) for formula in (value, self.formula))
        longest = max(len(str(formula)) for formula in (value, self.formula))
        free = value.free_symbols | self.formula.free_symbols
        if None in (found, said) or (free and longest < _LONG):
            return f"{value}{self._example(value, point)}"
        found, said = float(str(found)), float(str(said))
        where = f", at {place(point)}" if free else ""
        return f"{found:.6g}, not {said:.6g}{where}: {as_much(found, said)}"

    def _equation(self, shown: Shown, value: sp.Expr) -> str:
        if isinstance(self.quantity, Expectation):
            return equation(self.quantity, value)
        return rf"\text{{{shown.name}}} = {sp.latex(value)}"

    def _slips(self, shown: Shown, points: Sequence[Point], alike: Mapping[str, str]) -> str:
        """How many slips give another number: all, but for those that are argued."""
        every = dict(shown.slips())
        if strange := set(alike) - set(every):
            raise ValueError(
                f"alike: got {', '.join(sorted(strange))}; accepted: {'; '.join(every)}"
            )
        alive = [
            label
            for label, tree in every.items()
            if not any(shown.differs(point, tree) for point in points)
        ]
        if unseen := [label for label in alive if label not in alike]:
            many = len(unseen) - _SHOWN_SLIPS
            more = f" and {many} more" if many > 0 else ""
            raise self._failed(
                f"{len(unseen)} of {len(every)} slips in {shown.name} give the same number: "
                f"{'; '.join(unseen[:_SHOWN_SLIPS])}{more}; write lines on which the result depends"
            )
        if vain := set(alike) - set(alive):
            raise ValueError(f"alike: {', '.join(sorted(vain))} gives another number; leave it out")
        argued = f", {len(alive)} argued away" if alive else ""
        return f"{len(every) - len(alive)}/{len(every) - len(alive)} slips{argued}"

    def _follows(self, shown: Shown, points: Sequence[Point], name: str, other: Any) -> None:
        """Refuse lines that do not go with their object."""
        if other is shown.objects[name]:
            raise TypeError(f"wrong: {name} is {other} in the cell; accepted: another object")
        if not any(shown.differs(point, **{name: other}) for point in points):
            raise self._failed(f"{shown.name} is the same with {name} = {other}: a result typed in")
        if not isinstance(self.quantity, Expectation):
            return
        for point in points:
            expected = _under_density(self.quantity, shown.objects[name], other, point)
            if expected is None:
                continue
            found = shown.numeric(point, **{name: other})
            if abs(found - expected) > _CLOSE * max(abs(found), abs(expected)):
                raise self._failed(
                    f"with {name} = {other}, at {place(point)}, {shown.name} is {found:.8g} and "
                    f"the definition {expected:.8g}: {as_much(found, expected)}"
                )


def _others(shown: Shown, wrong: Mapping[str, Any] | Sequence[Any]) -> list[tuple[str, Any]]:
    """Pairs of a parameter and another object for it."""
    if not isinstance(wrong, Mapping):
        (name, *more) = shown.objects
        wrong = {name: wrong} if not more else {}
    lists = {k: v if isinstance(v, list | tuple) else [v] for k, v in wrong.items()}
    if set(lists) != set(shown.objects) or not all(lists.values()):
        raise TypeError(
            f"wrong: accepted: another object for each of {', '.join(shown.objects)}, by name"
        )
    return [(name, other) for name, several in lists.items() for other in several]


def _under_density(quantity: Expectation, usual: Any, other: Any, point: Point) -> float | None:
    """The quantity where entries have another density; None where the object is no density."""
    if not isinstance(usual, sp.Expr) or not isinstance(other, sp.Expr):
        return None
    moments = [moments_of(density, point, _HIGHEST) for density in (usual, other)]
    if not all(moments):
        return None
    drawn = [
        name for name, tensor in quantity.draws.items()
        if all(_is(tensor.law.raw_moment(k), moments[0][k], point) for k in (1, 2))
    ]  # fmt: skip
    if not drawn:
        return None
    law = General({k: moments[1][k] for k in range(1, _HIGHEST + 1)})
    value = number(under(quantity, dict.fromkeys(drawn, law)).value, point)
    return None if value is None else float(value)


def _is(moment: sp.Expr, found: float, point: Point) -> bool:
    value = number(moment, point)
    return value is not None and abs(float(value) - found) < _CLOSE
