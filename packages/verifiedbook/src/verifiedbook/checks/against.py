"""Against a claim: counter-examples; and runs in which its condition is missing, or is met."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from ..account.records.record import Record
from ..exact.formulas.evaluation import Point, checked_points, place
from ..exact.formulas.notation import parse
from ..exact.judging import Comparison, approximation, is_constant, refuse_nothing
from .subject import Predicate, Subject, apart, equation, instead, laws_of
from .what_ran import watched


class Against(Subject):
    """The verbs that refute a claim, or try it without its condition and with it."""

    @watched()
    def refute(self, quantity: Any = None, *, at: Sequence[Point]) -> Record:
        """Show by a counter-example that runs that the article's formula is wrong.

        Args:
            quantity: an oracle for what the formula is about, with `oracle` and `quantity`; left
                out where the reading defines it.
            at: points; at each the article's formula must fail and the truth must hold.

        Raises:
            ClaimFailed: the article's formula is right at one of them, or the truth is not.
            TypeError: a quantity without an oracle, or points that are none.
        """
        if not isinstance(self.quantity, sp.Expr):
            quantity = self._defined(quantity)
        _require_oracle(quantity)
        if self.of != "reading" or not self.reading.truth_formula:
            raise ValueError(f"{self.name}: to refute, its reading must give the truth's formula")
        truth, shown = parse(self.reading.truth_formula), []
        for point in checked_points(at, self.formula, truth):
            exact = approximation(quantity.oracle(point))
            said = Comparison.of(self.formula, exact, point)
            if said.agrees:
                raise self._failed(
                    f"not refuted: {self.formula} is right at {place(point)}, where "
                    f"{quantity.quantity} is {exact.value:.8g}"
                )
            right = Comparison.of(truth, exact, point)
            if not right.agrees:
                raise self._failed(
                    f"the truth {truth} is wrong at {place(point)}: {apart(right, truth)}; look at "
                    "the reading's truth"
                )
            shown.append(instead(point, exact.value, _finite(said.said)))
        about = f"{quantity.quantity} != {self.formula}"
        shown_as = equation(quantity, self.formula, r"\neq")
        return self._decided("counterexample", "contradicts", about, quantity, at, shown, shown_as)

    @watched()
    def refute_that(
        self,
        text: str | Predicate,
        predicate: Predicate | None = None,
        *,
        on: Any,
        but_on: Any,
    ) -> Record:
        """Refute a statement without a formula: it is false on a thing that it speaks of.

        Args:
            text: what is refuted, in a line; left out where the reading's text says it.
            predicate: the statement, as a check.
            on: the counter-example, for which it must be false.
            but_on: something for which it is true, so that the check is not vacuous.

        Raises:
            ClaimFailed: the statement is true on the counter-example, or false on the other thing.
            ValueError: the reading has a formula, which must be refuted instead; or a thing is
                empty.
        """
        text, predicate = self._stated(text, predicate)
        if self.reading.formula:
            raise ValueError(f"{self.name}: has a formula; use refute")
        refuse_nothing(on=on, but_on=but_on)
        found = predicate(on), predicate(but_on)
        if found[0] is not False or found[1] is not True:
            raise self._failed(
                f"not refuted: {text}; on the counter-example the predicate gave {found[0]!r} "
                f"(False was needed), on the other thing {found[1]!r} (True was needed)"
            )
        return self._emit(
            "counterexample", "contradicts", text, "false on the counter-example",
            given=[predicate, on, but_on],
        )  # fmt: skip

    @watched()
    def fails_without(self, quantity: Any, *, at: Sequence[Point]) -> Record:
        """Show that the claim fails where its condition does not hold.

        Args:
            quantity: the quantity with the condition violated, with `oracle` and `quantity`.
            at: points; the claim must fail at each.

        Raises:
            ClaimFailed: the claim holds at one of them, so the condition is not needed there.
            TypeError: a quantity without an oracle, or points that are none.
        """
        _require_oracle(quantity)
        if not self.reading.condition:
            raise ValueError(f"{self.name}: its reading names no condition")
        claimed, compared = self._beside(quantity, at)
        shown = []
        for found in compared:
            said, exact = _finite(found.said), found.exact.value
            if self._is_near(found):
                raise self._failed(
                    f"holds without its condition at {place(found.point) or 'no symbols'}: "
                    f"{quantity.quantity} is {exact:.8g}, {said:.8g} was claimed"
                )
            shown.append(instead(found.point, exact, said))
        about = f"{quantity.quantity} != {claimed}"
        shown_as = equation(quantity, claimed, r"\neq")
        return self._decided("witness", "fails", about, quantity, at, shown, shown_as)

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
        for key, there in (
            ("condition", self.reading.condition),
            ("setting", self.reading.setting),
            ("condition: met_by", self.reading.met_by),
        ):
            if not there:
                raise ValueError(f"{self.name}: its reading has no {key}")
        quantity = self._defined(quantity)
        _require_oracle(quantity)
        claimed, compared = self._beside(quantity, at)
        for found in compared:
            if not self._is_near(found):
                raise self._failed(
                    f"fails in the article's own setting: {apart(found, claimed)}; where nothing "
                    "of the setting meets a condition, the claim is wrong"
                )
        shown = [": ".join(filter(None, [place(found.point), f"{found.exact.value:.6g}"]))
                 for found in compared]  # fmt: skip
        within = f" within {self.reading.within:g}" if self.reading.within else ""
        about = f"{quantity.quantity} = {claimed}{within} in the article's setting"
        shown_as = equation(quantity, claimed, r"\approx" if within else "=")
        return self._decided("met", "meets", about, quantity, at, shown, shown_as)

    def _beside(self, quantity: Any, at: Sequence[Point]) -> tuple[sp.Expr, list[Comparison]]:
        """What is claimed, and how it compares with a quantity at each point."""
        claimed = parse(self.reading.claimed) if self.reading.claimed else self.formula
        points = checked_points(at, claimed)
        return claimed, [
            Comparison.of(claimed, approximation(quantity.oracle(p)), p) for p in points
        ]

    def _is_near(self, found: Comparison) -> bool:
        """Whether what is claimed is the value: within what the reading allows, or a millionth."""
        size = max(abs(float(found.said or 0)), abs(found.exact.value))
        return found.within(self.reading.within or 1e-6 * size)

    def _decided(
        self,
        kind: str,
        outcome: str,
        about: str,
        quantity: Any,
        at: Sequence[Point],
        shown: Sequence[str],
        latex: str,
    ) -> Record:
        detail = "; ".join([*filter(None, [laws_of(quantity)]), *shown])
        return self._emit(kind, outcome, about, detail, given=[quantity], latex=latex)


def _finite(said: Any) -> float:
    if said is None:
        raise ValueError("at: the formula has no finite value at one of the points")
    return float(said)


def _require_oracle(quantity: Any) -> None:
    """Refuse a quantity that has no oracle, or a typed one."""
    if not (hasattr(quantity, "oracle") and hasattr(quantity, "quantity")):
        raise TypeError(
            f"quantity: got {type(quantity).__name__}; accepted: a thing with an oracle, such as "
            "an engine's expectation or an Oracle"
        )
    if is_constant(quantity.oracle):
        raise ValueError(
            f"quantity: the oracle of {quantity.quantity} returns a number that is typed in; "
            "accepted: one that computes it"
        )
