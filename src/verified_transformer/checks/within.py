"""A condition that the article's own setting meets, shown by a run in which the claim holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..account.records.record import Record
from ..exact.formulas.evaluation import Point
from ..exact.formulas.notation import parse
from ..exact.formulas.points import checked_points, place
from ..exact.judging import approximation, compare
from .against import require_oracle
from .subject import Subject
from .what_ran import watched
from .wording import apart, equation
from .wording import laws as laws_of


class Within(Subject):
    """The verb that shows a claim under its condition, within the article's setting."""

    @watched()
    def meets(self, quantity: Any = None, *, at: Sequence[Point]) -> Record:
        """Show that the claim holds in the article's own setting, where its condition is met.

        The reading names the setting, the condition, and what of the setting meets it (`met_by`);
        the cell takes its sizes and scales from there. The counterpart of `fails_without`, with
        the same tolerance: the reading's ``within``, else a millionth.

        Args:
            quantity: the quantity under the condition, with `oracle` and `quantity`; left out where
                the reading defines it.
            at: points of the setting; the claim must hold at each.

        Raises:
            ClaimFailed: the claim fails at one of them.
            TypeError: a quantity without an oracle, or points that are none.
            ValueError: the reading lacks setting, condition or what meets it.
        """
        self._check_setting()
        quantity = self._defined(quantity)
        require_oracle(quantity)
        claimed = parse(self.reading.claimed) if self.reading.claimed else self.formula
        shown = []
        for point in checked_points(at, claimed):
            found = compare(claimed, approximation(quantity.oracle(point)), point)
            exact = found.exact.value
            allowed = self.reading.within or 1e-6 * max(abs(float(found.said or 0)), abs(exact))
            if found.said is None or not found.within(allowed):
                raise self._failed(
                    f"fails in the article's own setting: {apart(found, claimed)}; where nothing "
                    "of the setting meets a condition, the claim is wrong"
                )
            shown.append(f"{place(point)}: {exact:.6g}" if point else f"{exact:.6g}")
        about = f" within {self.reading.within:g}" if self.reading.within else ""
        return self._emit(
            "met", "meets", f"{quantity.quantity} = {claimed}{about} in the article's setting",
            "; ".join([*filter(None, [laws_of(quantity)]), *shown]),
            given=[quantity, at], latex=equation(quantity, claimed, r"\approx" if about else "="),
        )  # fmt: skip

    def _check_setting(self) -> None:
        for key, there in (
            ("condition", self.reading.condition),
            ("setting", self.reading.setting),
            ("condition: met_by", self.reading.met_by),
        ):
            if not there:
                raise ValueError(f"{self.name}: its reading has no {key}")
