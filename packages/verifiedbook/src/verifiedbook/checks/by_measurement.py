"""Deciding by measurement: torch draws the definition, calibrated to reject what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sympy as sp

from ..account.records.record import Estimate, Record, Score
from ..exact.formulas.evaluation import (
    Point,
    checked_points,
    number,
    place,
    refuse_points_that_hide,
)
from ..exact.formulas.mutants import Mutant
from ..seeds import finer
from .subject import Subject, as_much, equation, laws_of, require_functions, row
from .what_ran import watched

if TYPE_CHECKING:
    from ..exact.laws import Law
    from ..sampling.measuring import Measurement
    from ..sampling.quantities import Statistic


class ByMeasurement(Subject):
    """The verb that supports a claim by a measurement."""

    @watched()
    def measure(
        self,
        quantity: Any = None,
        statistic: Statistic | None = None,
        *,
        laws: Mapping[str, Law] | None = None,
        at: Sequence[Point] = ({},),
        resolution: float = 0.01,
    ) -> Record:
        """Measure the quantity in torch, with enough draws to reject what is wrong by 1 %.

        Args:
            quantity: gives laws and sizes of the inputs and the replicate's variance; where the
                reading defines it, the same once more, or left out (the statistic may then come
                first).
            statistic: the definition in torch, one number per replicate; never the formula. It runs
                without gradients: one that takes some says ``@torch.enable_grad()``. Without
                it the quantity's own definition is drawn: a `Sampled` one, or the polynomial as it
                is written, by literal summation.
            laws: for a quantity that the reading defines, laws to draw from: by the name of a
                tensor, one of the laws of which the reading speaks.
            at: two or more points where the formula has symbols: sizes small and pairwise
                different, scales not 1.
            resolution: relative error that must be seen.

        Raises:
            ClaimFailed: the formula is off, a mutant above the resolution passes, or the statistic
                is not the quantity's definition.
            TypeError: a quantity without laws and moments, or a statistic that is no function.
            ValueError: points that hide mistakes, a statistic that does not return one finite
                number per replicate, or a single definition that could not be wrong.
        """
        if statistic is None and callable(quantity) and not hasattr(quantity, "quantity"):
            quantity, statistic = None, quantity
        if not isinstance(self.quantity, sp.Expr) or hasattr(quantity, "start"):
            quantity = self._defined(quantity, laws)
        _require_measurable(quantity, statistic)
        points = [dict(point) for point in checked_points(at, self.formula)]
        refuse_points_that_hide(self.formula, points)
        estimates = [self._estimate(quantity, statistic, points, i, resolution)
                     for i in range(len(points))]  # fmt: skip
        for point, found in zip(points, estimates, strict=True):
            if not found.confirmed:
                raise self._failed(_missed(quantity, point, found))

        def again(index: int) -> Measurement:
            return self._estimate(quantity, statistic, points, index, resolution, " second look")

        passed = [(m.label, passes(m, points, estimates, again)) for m in self.mutants]
        killed, below = (sum(how is it for _, how in passed) for it in (False, None))
        if survivors := [label for label, how in passed if how]:
            raise self._failed(
                f"a mutant passes the measurement: {', '.join(survivors)}, twice and above "
                f"the resolution of {resolution:.0%}; look at the points"
            )
        detail = (
            f"{'; '.join(filter(None, map(place, points))) or 'no symbols'}; independent draws, "
            f"{laws_of(quantity)}; sees {resolution:.0%}; {_definitions(quantity, statistic)}; "
            f"{killed}/{killed} mutants" + (f" ({below} below resolution)" if below else "")
        )
        return self._emit(
            "measurement", "supports", f"{quantity.quantity} = {self.formula}", detail,
            mutants=Score(killed, killed, below), given=[quantity, statistic],
            counts={"points": len(points)}, tolerance=f"{100 * resolution:g} %",
            rows=[row(p, e) for p, e in zip(points, estimates, strict=True)],
            estimates=[Estimate(e.z, e.n, e.device) for e in estimates],
            latex=equation(quantity, self.formula),
        )  # fmt: skip

    def _estimate(
        self,
        quantity: Any,
        statistic: Statistic | None,
        points: Sequence[Point],
        index: int,
        resolution: float,
        look: str = "",
    ) -> Measurement:
        from ..sampling.design import Design
        from ..sampling.measuring import measure
        from ..sampling.quantities import OtherStatistic

        point = points[index]
        expected = number(self.formula, point)
        if expected is None:
            raise ValueError(f"at: {self.formula} has no finite value at {place(point)}")
        name = f"{self.name} {self.of} {index}{look}"
        try:
            return measure(quantity, statistic, point, float(expected), name=name,
                           design=Design(resolution=resolution / finer()))  # fmt: skip
        except OtherStatistic as error:
            raise self._failed(str(error)) from None


def passes(
    mutant: Mutant,
    points: Sequence[Point],
    measured: Sequence[Measurement],
    again: Callable[[int], Measurement],
) -> bool | None:
    """Whether a measurement lets a mutant pass; None where it cannot see it at any point.

    It falls where it has no value, or is rejected, if need be at a second look, at each point at
    which it can be seen.
    """
    values = [number(mutant.formula, point) for point in points]
    said = [None if value is None else float(value) for value in values]
    seen = [k for k, value in enumerate(said) if value is None or measured[k].can_see(value)]
    fell = all(
        value is None or measured[k].rejects(value) or again(k).rejects(value)
        for k, value in ((k, said[k]) for k in seen)
    )
    return not fell if seen else None


def _definitions(quantity: Any, statistic: Statistic | None) -> str:
    """Whether there are two definitions, which were compared, or one."""
    if statistic is not None:
        return "definition agrees on a skewed law"
    from ..sampling.quantities import Sampled

    return "one definition" if isinstance(quantity, Sampled) else "summed literally"


def _missed(quantity: Any, point: Point, found: Measurement) -> str:
    where = f" at {place(point)}" if point else ""
    assert found.expected is not None  # a claim's formula has a value
    return (
        f"{quantity.quantity} measured {found.mean:.6g}{where}, the formula says "
        f"{found.expected:.6g}: {as_much(found.mean, found.expected)}, "
        f"z = {found.z:.1f} with {found.n} draws, twice; look at the formula, then at the laws "
        f"({laws_of(quantity)})"
    )


def _require_measurable(quantity: Any, statistic: object) -> None:
    for part in ("quantity", "estimator", "draws", "statistic_moments", "evaluate"):
        if not hasattr(quantity, part):
            raise TypeError(
                f"quantity: got {type(quantity).__name__}; accepted: mean(…), variance(…), "
                "LawMean, Sampled or Piloted, which know their laws and moments"
            )
    if statistic is not None:
        inputs = f"a torch function of the inputs {', '.join(quantity.draws)}"
        accepted = f"{inputs}, or None for the quantity's own definition"
        require_functions(accepted, statistic=statistic)
