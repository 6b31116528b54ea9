"""A condition that the article's own setting meets, shown by a run in which the claim holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..account.records.record import Record
from ..exact.formulas.evaluation import Point
from ..exact.formulas.notation import parse
from ..exact.formulas.points import checked_points, place
from ..exact.judging import approximation, compare
from .against import require_oracle
from .subject import Predicate, Subject
from .what_ran import aside, watched
from .wording import apart, equation
from .wording import laws as laws_of

if TYPE_CHECKING:
    from ..exact.laws import Law


class Within(Subject):
    """The verbs that show a claim under its condition, within the article's setting."""

    @watched()
    def meets(
        self,
        quantity: Any = None,
        *,
        laws: Mapping[str, Law] | None = None,
        at: Sequence[Point],
    ) -> Record:
        """Show that the claim holds in the article's own setting, where its condition is met.

        The reading names the setting, the condition, and what of the setting meets it (`met_by`);
        the cell takes its sizes and scales from there. The counterpart of `fails_without`, with
        the same tolerance: the reading's ``within``, else a millionth.

        Args:
            quantity: the quantity under the condition, with `oracle` and `quantity`; left out where
                the reading defines it.
            laws: by the name of a tensor, a law of which the reading speaks.
            at: points of the setting; the claim must hold at each.

        Raises:
            ClaimFailed: the claim fails at one of them.
            TypeError: a quantity without an oracle, or points that are none.
            ValueError: the reading lacks setting, condition or what meets it.
        """
        self._check_setting()
        quantity = self._defined(quantity, laws)
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

    @watched()
    def meets_that(
        self,
        text: str | Predicate,
        predicate: Predicate | None = None,
        *,
        on: Any,
        not_on: Any,
    ) -> Record:
        """Show a claim without a formula in the article's own setting, where its condition is met.

        Args:
            text: what is true there, in a line; left out where the reading's text says it.
            predicate: the claim, as a check.
            on: a thing of the article's setting that meets the condition; there it must be true.
            not_on: a thing that does not meet it; there it must be false.

        Raises:
            ClaimFailed: it is false in the setting, or true without the condition.
            ValueError: the reading has a formula, or lacks setting, condition or what meets it.
        """
        text, predicate = self._stated(text, predicate)
        self._check_setting()
        if self.reading.formula or self.reading.claimed:
            raise ValueError(f"{self.name}: has a formula; use meets")
        with aside():
            without = predicate(not_on)
        found = predicate(on), without
        if found[0] is not True or found[1] is not False:
            raise self._failed(
                f"not so in the article's own setting: {text}; there the predicate gave "
                f"{found[0]!r} (True was needed), without the condition {found[1]!r} (False was "
                "needed)"
            )
        return self._emit(
            "met", "meets", text, "in the article's setting; false without the condition",
            given=[predicate, on], broken=[not_on],
        )  # fmt: skip

    def _check_setting(self) -> None:
        for key, there in (
            ("condition", self.reading.condition),
            ("setting", self.reading.setting),
            ("condition: met_by", self.reading.met_by),
        ):
            if not there:
                raise ValueError(f"{self.name}: its reading has no {key}")
