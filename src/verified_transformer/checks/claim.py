"""Deciding a claim: prove, check, measure, refute, bound, reproduce, cite, set aside.

    claim("LOSS-14").prove(variance(total(w[i] ** 2, i)))
    claim("LOSS-14").measure(variance(total(w[i] ** 2, i)), squared_norm, at=[{d: 3, σ: 1.3}, …])

Every method takes the formula from the registry's reading, never from the cell; runs the check and
its mutants; displays a record; and raises `ClaimFailed`, which names the claim, where the check
fails. The verdict is not typed anywhere: it follows from the records (see `ledger`).
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp

from ..account import registry, rendering
from ..account.margins import Interval
from ..account.records import Estimate as Found
from ..account.records import Record, Recorded, Score, Volatile
from ..exact.derivations import Derived
from ..exact.evaluation import Approximation, Point, equivalent, number
from ..exact.mutants import Mutant, formula_mutants
from ..exact.notation import parse

if TYPE_CHECKING:
    from ..account.stored_runs import Recording
    from ..sampling.measuring import Estimate

_EXACT = 1e-10  # relative; oracles are good to 1e-13, mutants differ by 1e-3 and more
_LONGEST_SHOWN = 20  # operations in a quantity that is typeset; longer ones are named in words
_UNEVALUATED = (sp.Integral, sp.Sum, sp.Product, sp.Limit, sp.Derivative)
_SCALES = (sp.Rational(13, 10), sp.Rational(7, 10), sp.Rational(17, 10), sp.Rational(3, 5))


class ClaimFailed(AssertionError):
    """A check of a claim failed: the article, the library or the check is wrong."""


def claim(*ids: str) -> Claim:
    """Return a claim to decide; on several ids, a joint one whose records count for each.

    Args:
        ids: ids such as ``"LOSS-14"``; joint claims must have the same formula.

    Raises:
        KeyError: an id is not in the registry, or is retired.
    """
    return Claim(ids)


class Claim:
    """One claim (or one case of it, or its truth), ready to be decided.

    Args:
        ids: the claim's id, or several for a joint claim.
        case: name of a case of the reading.
        of: "reading" for what the article says, "truth" for the right statement.
    """

    def __init__(self, ids: Sequence[str], case: str | None = None, of: str = "reading") -> None:
        self.statements = [registry.statement(id) for id in ids]
        if not self.statements:
            raise ValueError("ids: none given; accepted: at least one id such as 'LOSS-14'")
        self._case, self.of = case, of
        readings = [self._reading_of(s) for s in self.statements if s.reading]
        if len({(r.formula, r.truth_formula) for r in readings}) > 1:
            raise ValueError(f"ids: {' '.join(ids)} have different formulas; decide them apart")

    def case(self, name: str) -> Claim:
        """Return the named case of the reading."""
        return Claim([s.id for s in self.statements], name, self.of)

    @property
    def truth(self) -> Claim:
        """The right statement that the reading puts in the place of a wrong one."""
        return Claim([s.id for s in self.statements], self._case, "truth")

    @property
    def name(self) -> str:
        """Ids and case, as messages show them."""
        ids = " ".join(s.id for s in self.statements)
        return ids + (f" [{self._case}]" if self._case else "")

    def _reading_of(self, statement: registry.Statement) -> registry.Reading:
        if statement.reading is None:
            raise ValueError(f"{statement.id}: has no reading in the registry; write it first")
        if self._case is None:
            return statement.reading
        if self._case not in statement.reading.cases:
            accepted = ", ".join(statement.reading.cases) or "none"
            raise ValueError(f"case: {statement.id} has no {self._case!r}; accepted: {accepted}")
        return statement.reading.cases[self._case]

    @cached_property
    def reading(self) -> registry.Reading:
        """The registry's reading of this claim or case."""
        return self._reading_of(self.statements[0])

    @cached_property
    def formula(self) -> sp.Expr:
        """The formula under test, as the registry has it."""
        text = self.reading.formula if self.of == "reading" else self.reading.truth_formula
        if text is None:
            raise ValueError(f"{self.name}: its reading has no formula for the {self.of}")
        return parse(text)

    @cached_property
    def mutants(self) -> list[Mutant]:
        """Wrong versions of the formula; for a truth, the article's own formula among them."""
        found = formula_mutants(self.formula)
        if self.of == "truth" and self.reading.formula:
            found.append(Mutant("the article's formula", parse(self.reading.formula)))
        return found

    # ------------------------------------------------------------------ deciding

    def prove(self, derived: Derived, *, at: Sequence[Point] | None = None) -> Record:
        """Prove that the formula is what an engine or a chain of checked steps derives.

        The derivation must end at the formula; the oracle, which evaluates the definition
        numerically, must agree with the formula and reject each of its mutants at small points; and
        the derivation must end elsewhere when the definition is changed.

        Args:
            derived: an expectation of the moment engine, or a `Derivation`.
            at: points for the oracle; two small ones by default.

        Raises:
            ClaimFailed: one of these did not happen.
            TypeError: the derivation was not made by an engine or a chain.
        """
        if not all(hasattr(derived, part) for part in ("steps", "oracle", "definition_mutants")):
            raise TypeError(
                f"derived: got {type(derived).__name__}; accepted: an engine's expectation or a "
                "Derivation, not a typed expression"
            )
        start = getattr(derived, "start", None)
        if start is not None and not start.has(*_UNEVALUATED):
            raise TypeError(f"derived: starts from the closed form {start}; accepted: a definition")
        started = time.perf_counter()
        if not equivalent(derived.value, self.formula, tolerance=1e-15):
            raise self._failed(f"the derivation gives {derived.value}, not {self.formula}")
        points = list(at) if at else small_points(derived.free_symbols | self.formula.free_symbols)
        score = self._reject_exactly(derived.oracle, points)
        self._check_digits()
        broken = self._break(derived)
        detail = (
            f"{derived.route}; exact at {_count(points, 'point')}; "
            f"{score['killed']}/{score['total']} mutants; "
            f"{broken}/{broken} changed definitions break it"
        )
        steps = [(s.reason, _shown(s.expression)) for s in derived.steps]
        return self._emit(
            "proof", "supports", f"{derived.quantity} = {self.formula}", detail,
            started=started, mutants=score, steps=steps, latex=_equation(derived, self.formula),
        )  # fmt: skip

    def check(self, quantity: str, oracle: Callable[[Point], Any], at: Sequence[Point]) -> Record:
        """Check the formula against an exact oracle, such as an enumeration in rationals.

        Args:
            quantity: what the oracle computes, in a line.
            oracle: function of a point; returns a number or an `Approximation`.
            at: points to check at.

        Raises:
            ClaimFailed: the formula is off, or a mutant passes.
        """
        started = time.perf_counter()
        score = self._reject_exactly(oracle, at)
        self._check_digits()
        detail = f"exact at {_count(at, 'point')}; {score['killed']}/{score['total']} mutants"
        return self._emit(
            "exact", "supports", f"{quantity} = {self.formula}", detail,
            started=started, mutants=score,
        )  # fmt: skip

    def check_that(
        self, text: str, predicate: Callable[[Any], bool], *, on: Any, not_on: Any
    ) -> Record:
        """Check a statement that has no formula, on a thing and on its broken twin.

        Args:
            text: what is checked, in a line.
            predicate: the check.
            on: the thing for which it must be true.
            not_on: a broken version, for which it must be false, so that the check can fail.

        Raises:
            ClaimFailed: the predicate is false on the thing, or true on its broken twin.
            ValueError: the reading has a formula, which must be checked instead.
        """
        started = time.perf_counter()
        if self.reading.formula and self.of == "reading":
            raise ValueError(f"{self.name}: has a formula; use prove, check or measure")
        if predicate(on) is not True:
            raise self._failed(f"not so: {text}")
        if predicate(not_on) is not False:
            raise self._failed(f"the check cannot fail: {text}")
        detail = "true as defined, false on a broken version"
        score = {"killed": 1, "total": 1}
        return self._emit("exact", "supports", text, detail, started=started, mutants=score)

    def measure(
        self,
        quantity: Any,
        statistic: Callable[..., Any] | None = None,
        *,
        at: Sequence[Point] = ({},),
        resolution: float = 0.01,
    ) -> Record:
        """Measure the quantity in torch, with enough draws to reject what is wrong by 1 %.

        Args:
            quantity: gives laws and sizes of the inputs and the replicate's variance.
            statistic: the definition in torch, one number per replicate; never the formula. Without
                it the quantity's own definition is drawn: a `Sampled` one, or the polynomial as it
                is written, by literal summation.
            at: two or more points where the formula has symbols: sizes small and pairwise
                different, scales not 1.
            resolution: relative error that must be seen.

        Raises:
            ClaimFailed: the formula is off, a mutant above the resolution passes, or the statistic
                is not the quantity's definition.
        """
        from ..sampling import measuring
        from ..sampling.design import Design
        from ..sampling.quantities import literal_statistic

        started = time.perf_counter()
        points = [dict(point) for point in at]
        _refuse_points(self.formula, points)
        second = "definition agrees on a skewed law" if statistic else "the definition, literally"
        statistic = statistic or literal_statistic(quantity)
        off = max(measuring.disagreement(quantity, statistic, p, self.name) for p in points)
        if not off < 1e-9:
            raise self._failed("the torch statistic is not the definition (skewed law)")
        design = Design(resolution=resolution)

        def estimate(index: int, look: str = "") -> Estimate:
            expected = float(number(self.formula, points[index]))
            name = f"{self.name} {self.of} {index}{look}"
            return measuring.measure(
                quantity, statistic, points[index], expected, name=name, design=design
            )

        estimates = [estimate(index) for index in range(len(points))]
        for point, found in zip(points, estimates, strict=True):
            if found.rejects(found.expected):
                raise self._failed(
                    f"measured {found.mean:.6g} at {_place(point)}, the formula says "
                    f"{found.expected:.6g}: z = {found.z:.1f}, twice"
                )
        score = self._reject_by_measurement(
            points, estimates, lambda index: estimate(index, " second look")
        )
        below = f" ({score['below']} below resolution)" if score["below"] else ""
        detail = (
            f"{'; '.join(filter(None, map(_place, points))) or 'no symbols'}; independent draws, "
            f"{_laws(quantity)}; sees {resolution:.0%}; {second}; "
            f"{score['killed']}/{score['total']} mutants{below}"
        )
        rows = [_row(p, e) for p, e in zip(points, estimates, strict=True)]
        return self._emit(
            "measurement", "supports", f"{quantity.quantity} = {self.formula}", detail,
            started=started, mutants=score, rows=rows,
            estimates=[Found(e.z, e.n, e.device) for e in estimates],
            latex=_equation(quantity, self.formula),
        )  # fmt: skip

    def refute(self, quantity: Any, *, at: Sequence[Point]) -> Record:
        """Show by a counter-example that runs that the article's formula is wrong.

        Args:
            quantity: an oracle for what the formula is about, with `oracle` and `quantity`.
            at: points; at each the article's formula must fail and the truth must hold.

        Raises:
            ClaimFailed: the article's formula is right at one of them, or the truth is not.
        """
        started = time.perf_counter()
        if self.of != "reading" or not self.reading.truth_formula:
            raise ValueError(f"{self.name}: to refute, its reading must give the truth's formula")
        truth, shown = parse(self.reading.truth_formula), []
        for point in at:
            exact = _approximation(quantity.oracle(point))
            if _agrees(self.formula, exact, point):
                raise self._failed(f"not refuted: {self.formula} is right at {_place(point)}")
            if not _agrees(truth, exact, point):
                raise self._failed(f"the truth {truth} is wrong at {_place(point)}")
            said = float(number(self.formula, point))
            shown.append(_instead(point, exact.value, said))
        return self._emit(
            "counterexample", "contradicts", f"{quantity.quantity} != {self.formula}",
            "; ".join([*filter(None, [_laws(quantity)]), *shown]), started=started,
            latex=_equation(quantity, self.formula, r"\neq"),
        )  # fmt: skip

    def refute_that(
        self, text: str, predicate: Callable[[Any], bool], *, on: Any, but_on: Any
    ) -> Record:
        """Refute a statement without a formula: it is false on a thing that it speaks of.

        Args:
            text: what is refuted, in a line.
            predicate: the statement, as a check.
            on: the counter-example, for which it must be false.
            but_on: something for which it is true, so that the check is not vacuous.

        Raises:
            ClaimFailed: the statement is true on the counter-example, or false on the other thing.
            ValueError: the reading has a formula, which must be refuted instead.
        """
        started = time.perf_counter()
        if self.reading.formula:
            raise ValueError(f"{self.name}: has a formula; use refute")
        if predicate(on) is not False or predicate(but_on) is not True:
            raise self._failed(f"not refuted: {text}")
        return self._emit(
            "counterexample", "contradicts", text, "false on the counter-example", started=started
        )

    def fails_without(self, quantity: Any, *, at: Sequence[Point]) -> Record:
        """Show that the claim fails where its condition does not hold.

        Args:
            quantity: the quantity with the condition violated, with `oracle` and `quantity`.
            at: points; the claim must fail at each.

        Raises:
            ClaimFailed: the claim holds at one of them, so the condition is not needed there.
        """
        started = time.perf_counter()
        if not self.reading.condition:
            raise ValueError(f"{self.name}: its reading names no condition")
        claimed = parse(self.reading.claimed) if self.reading.claimed else self.formula
        shown = []
        for point in at:
            exact = _approximation(quantity.oracle(point))
            said = float(number(claimed, point))
            allowed = self.reading.within or 1e-6 * max(abs(said), abs(exact.value))
            if abs(said - exact.value) <= allowed + exact.error:
                raise self._failed(f"holds without its condition at {_place(point)}")
            shown.append(_instead(point, exact.value, said))
        return self._emit(
            "witness", "fails", f"{quantity.quantity} != {claimed}",
            "; ".join([*filter(None, [_laws(quantity)]), *shown]), started=started,
            latex=_equation(quantity, claimed, r"\neq"),
        )  # fmt: skip

    def experiment(
        self,
        effect: Mapping[int, float],
        *,
        predicts: str,
        unit: str,
        replicate: str = "seed",
        recorded: Recording | None = None,
    ) -> Record:
        """Decide an empirical remark from an effect measured in independent runs.

        Args:
            effect: the effect by seed; at least three.
            predicts: "positive" or "negative", the sign that the claim predicts.
            unit: what the effect is, in a line.
            replicate: what one run is.
            recorded: the recording that the effect was computed from, where it was not run live.

        Returns:
            A record whose outcome is "supports" or "contradicts" where the 99 % interval of the
            mean lies on one side of zero, else "unsettled".
        """
        from ..sampling.design import mean_interval

        if predicts not in ("positive", "negative"):
            raise ValueError(f"predicts: got {predicts!r}; accepted: 'positive', 'negative'")
        if len(effect) < 3:
            raise ValueError(f"effect: got {len(effect)} runs; accepted: at least 3")
        started = time.perf_counter()
        interval = Interval(*mean_interval(list(effect.values())))
        low, high = interval.low, interval.high
        found = "positive" if low > 0 else "negative" if high < 0 else "unsettled"
        outcome = (
            "unsettled"
            if found == "unsettled"
            else ("supports" if found == predicts else "contradicts")
        )
        row = {"99 % interval": f"{low:.4g} … {high:.4g}", "runs": str(len(effect))}
        row["margin"] = f"{interval.margin:.2g}"
        return self._emit(
            "experiment", outcome, f"{unit}: {found}",
            f"{len(effect)} runs, replicate: {replicate}" + (f"; {recorded!r}" if recorded else ""),
            started=started, rows=[row], recorded=recorded, interval=interval,
        )  # fmt: skip

    def census(
        self,
        quantity: str,
        data: Mapping[str, tuple[Any, str]],
        count: Callable[[list[Any]], Any],
    ) -> Record:
        """Decide a number that says something of the world by counting published data.

        Args:
            quantity: what is counted, in a line.
            data: by name, a datum and the key of its source in the book's bibliography.
            count: function of the list of data; returns the number.

        Raises:
            ClaimFailed: the count is not the reading's formula, a mutant is, or the count does not
                depend on the data.
            ValueError: fewer than two data.
        """
        started = time.perf_counter()
        if len(data) < 2:
            raise ValueError(f"data: got {len(data)}; accepted: at least two, with their sources")
        values = [value for value, _ in data.values()]
        score = self._reject_exactly(lambda _: count(values), [{}])
        fewer = [count(values[:i] + values[i + 1 :]) for i in range(len(values))]
        if all(f == count(values) for f in fewer):
            raise self._failed("the count does not depend on any single datum")
        detail = f"{_count(values, 'datum')}; {score['killed']}/{score['total']} mutants"
        steps = [(name, html.escape(f"{value} [{key}]")) for name, (value, key) in data.items()]
        return self._emit(
            "census", "supports", f"{quantity} = {self.formula}", detail.replace("datums", "data"),
            started=started, mutants=score, steps=steps,
        )  # fmt: skip

    def cite(self, key: str, *, says: str, at: str, quote: str) -> Record:
        """Judge a claim by a source; refused for what can be computed.

        Args:
            key: key in the book's bibliography.
            says: "supports", "contradicts" or "partly".
            at: where in the source.
            quote: the deciding words, at most 25.
        """
        if any(s.kind in ("equation", "number") for s in self.statements) or self.reading.formula:
            raise ValueError(f"{self.name}: can be computed; a citation cannot decide it")
        if says not in ("supports", "contradicts", "partly"):
            raise ValueError(f"says: got {says!r}; accepted: supports, contradicts, partly")
        words = len(quote.split())
        if not 1 <= words <= 25:
            raise ValueError(f"quote: got {words} words; accepted: 1 to 25")
        return self._emit("citation", says, f"{key} {says}", f"judged; {at}: “{quote}”", cited=key)

    def set_aside(self, nature: str, *, because: str) -> Record:
        """Say that a claim is nothing to be true or false.

        Args:
            nature: "definition", "plan", "opinion" or "picture".
            because: the reason, in a line.
        """
        if nature not in ("definition", "plan", "opinion", "picture"):
            raise ValueError(
                f"nature: got {nature!r}; accepted: definition, plan, opinion, picture"
            )
        if self.reading.formula or any(s.kind == "number" for s in self.statements):
            raise ValueError(f"{self.name}: has a formula or a number; decide it")
        return self._emit("set-aside", "none", nature, because)

    def attempt(self, tried: str, *, could_have_seen: str) -> Record:
        """Record what was tried on a claim that stays open.

        Args:
            tried: the experiment, or the datum that cannot be had.
            could_have_seen: the smallest effect that it would have shown.
        """
        if not tried or not could_have_seen:
            raise ValueError("tried, could_have_seen: both are needed for an open verdict")
        return self._emit("attempt", "none", tried, f"could have seen {could_have_seen}")

    # ------------------------------------------------------------------ inner workings

    def _failed(self, why: str) -> ClaimFailed:
        return ClaimFailed(f"{self.name} ({self.of}): {why}")

    def _reject_exactly(self, oracle: Callable[[Point], Any], at: Sequence[Point]) -> dict:
        exact = [(point, _approximation(oracle(point))) for point in at]
        for point, value in exact:
            if not _agrees(self.formula, value, point):
                raise self._failed(
                    f"the definition gives {value.value!r} at {_place(point)}, the formula "
                    f"{self.formula} gives {number(self.formula, point, 15)}"
                )
        passed = [m.label for m in self.mutants if all(_agrees(m.formula, v, p) for p, v in exact)]
        if passed:
            raise self._failed(f"mutants pass the exact check: {', '.join(passed)}")
        return {"killed": len(self.mutants), "total": len(self.mutants)}

    def _reject_by_measurement(
        self,
        points: Sequence[Point],
        estimates: Sequence[Estimate],
        again: Callable[[int], Estimate],
    ) -> dict[str, int]:
        killed = below = 0
        for mutant in self.mutants:
            seen = False
            for index, (point, found) in enumerate(zip(points, estimates, strict=True)):
                value = number(mutant.formula, point)
                if value is not None and not found.can_see(float(value)):
                    continue
                seen = True
                if (
                    value is None
                    or found.rejects(float(value))
                    or again(index).rejects(float(value))
                ):
                    continue
                raise self._failed(f"a mutant passes the measurement: {mutant.label}")
            killed, below = killed + seen, below + (not seen)
        return {"killed": killed, "total": killed, "below": below}

    def _break(self, derived: Derived) -> int:
        broken, unmoved = 0, []
        for label, recompute in derived.definition_mutants():
            try:
                value = recompute()
            except (ValueError, TypeError, ArithmeticError, sp.PolynomialError):
                continue  # the changed definition is none: the rules do not apply to it
            if equivalent(value, self.formula):
                unmoved.append(label)
            broken += 1
        if unmoved or not broken:
            which = ", ".join(unmoved) or "there is none"
            raise self._failed(f"changed definitions do not break the derivation: {which}")
        return broken

    def _check_digits(self) -> None:
        readings = [self._reading_of(s) for s in self.statements] if self.of == "reading" else []
        for formula, printed in {pair for reading in readings for pair in reading.digits}:
            value = number(parse(formula), {}, 25)
            if value is None or not digits_match(value, printed):
                raise self._failed(f"{formula} = {value}, but {printed} is printed")

    def _emit(
        self,
        kind: str,
        outcome: str,
        statement: str,
        detail: str,
        *,
        started: float | None = None,
        mutants: dict | None = None,
        steps: Sequence[tuple[str, str]] = (),
        rows: Sequence[Mapping[str, str]] = (),
        estimates: Sequence[Found] = (),
        interval: Interval | None = None,
        cited: str | None = None,
        latex: str | None = None,
        recorded: Recording | None = None,
    ) -> Record:
        record = Record(
            claims=tuple(s.id for s in self.statements),
            readings=tuple(s.fingerprint for s in self.statements),
            kind=kind, of=self.of, case=self._case, outcome=outcome,
            statement=statement, detail=detail, cited=cited, latex=latex,
            mutants=Score(**mutants) if mutants else None, uses=tuple(self.reading.uses),
            recorded=Recorded(recorded.name, recorded.data_hash) if recorded else None,
            margin=interval.printed if interval else None,
            volatile=Volatile(
                tuple(rows), tuple(estimates), interval,
                time.perf_counter() - started if started else 0.0,
            ),
            steps=tuple(steps),
        )  # fmt: skip
        _display(*rendering.record(record))
        return record

    def _repr_mimebundle_(self, **_: Any) -> rendering.Bundle:
        return rendering.card(self.statements[0], self._case)


def digits_match(value: sp.Expr, printed: str) -> bool:
    """Whether printed digits are the leading digits of a value, cut off and not rounded."""
    places = len(printed.partition(".")[2])
    step = sp.Integer(10) ** -places
    distance = abs(value) - abs(sp.Rational(printed))
    return bool(0 <= distance < step) and (value < 0) == printed.startswith("-")


def small_points(symbols: set[sp.Symbol]) -> list[dict[sp.Symbol, sp.Expr]]:
    """Return two points with small, pairwise different sizes and scales that are not 1."""
    names = sorted(symbols, key=lambda s: s.name)
    if not names:
        return [{}]
    sizes, others = [s for s in names if s.is_integer], [s for s in names if not s.is_integer]
    points = []
    for shift in (0, 1):
        sizes_here = [2 + (index + 1 + shift) % max(2, len(sizes)) for index in range(len(sizes))]
        point = dict(zip(sizes, map(sp.Integer, sizes_here), strict=True))
        for index, symbol in enumerate(others):
            point[symbol] = _SCALES[(index + shift) % 4] + index // 4 + int(symbol.name == "kappa")
        points.append(point)
    return points


def _refuse_points(formula: sp.Expr, points: Sequence[Point]) -> None:
    if not points or (formula.free_symbols and len(points) < 2):
        raise ValueError(f"at: got {len(points)} points; accepted: two or more")
    for point in points:
        sizes = [v for s, v in point.items() if s.is_integer]
        if len(set(sizes)) < len(sizes):
            raise ValueError(f"at: equal sizes in {_place(point)} hide swapped dimensions")
        if any(s.is_positive and not s.is_integer and v == 1 for s, v in point.items()):
            raise ValueError(f"at: a scale of 1 in {_place(point)} hides wrong powers")


def _agrees(formula: sp.Expr, exact: Approximation, point: Point) -> bool:
    value = number(formula, point)
    if value is None:
        return False
    room = _EXACT * max(abs(exact.value), abs(float(value)), 1e-6) + exact.error
    return abs(float(value) - exact.value) <= room


def _approximation(value: Any) -> Approximation:
    if isinstance(value, Approximation):
        return value
    if value is None:
        raise ValueError("oracle: gave no value at this point")
    return Approximation(float(value), 0.0)


def _place(point: Point) -> str:
    return ", ".join(
        f"{s}={int(v)}" if s.is_integer else f"{s}={float(v):g}" for s, v in point.items()
    )


def _instead(point: Point, found: float, said: float) -> str:
    where = f"{_place(point)}: " if point else ""
    return f"{where}{found:.6g}, not {said:.6g}"


def _count(things: Sequence, noun: str) -> str:
    return f"{len(things)} {noun}{'s' if len(things) != 1 else ''}"


def _row(point: Point, found: Estimate) -> dict[str, str]:
    return {
        "point": _place(point) or "–",
        "formula": f"{found.expected:.8g}",
        "measured": f"{found.mean:.8g}",
        "standard error": f"{found.standard_error:.2g}",
        "z": f"{found.z:+.2f}",
        "draws": f"{found.n:,}".replace(",", "\u202f"),
        "would have caught": f"{found.detectable:.2%}",
        "seconds": f"{found.seconds:.2f}",
        "device": found.device + (" (confirmation)" if found.confirmed else ""),
    }


def _latex(formula: sp.Expr) -> str:
    # to sort terms SymPy evaluates every integral among them, which can take minutes
    return sp.latex(formula, order="none" if formula.has(sp.Integral) else None)


def _equation(quantity: Any, formula: sp.Expr, relation: str = "=") -> str:
    statistic = getattr(quantity, "statistic", None)
    if isinstance(statistic, sp.Expr) and sp.count_ops(statistic) < _LONGEST_SHOWN:
        sign = r"\mathbb{E}" if quantity.estimator == "mean" else r"\operatorname{Var}"
        return rf"{sign}\left[{_latex(statistic)}\right] {relation} {_latex(formula)}"
    # MathJax refuses a circumflex in a text
    name = re.sub(r"[_#%&{}$]", r"\\\g<0>", quantity.quantity.replace("^", "**"))
    return rf"\text{{{name}}} {relation} {_latex(formula)}"


def _laws(quantity: Any) -> str:
    def short(law: Any) -> str:
        return law.name if len(law.name) < 80 else f"{type(law).__name__}(…)"

    draws = getattr(quantity, "draws", {})
    return "; ".join(f"{name} ~ {short(item.law)}" for name, item in sorted(draws.items()))


def _shown(expression: sp.Expr | str) -> str:
    if isinstance(expression, str):
        return html.escape(expression)
    return rf"\({html.escape(_latex(expression))}\)"


def _display(data: dict[str, str], metadata: dict[str, Any]) -> None:
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        return
    if get_ipython() is not None:
        display(data, raw=True, metadata=metadata)
