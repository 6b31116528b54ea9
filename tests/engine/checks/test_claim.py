"""The verdict machinery: it accepts what is right, and nothing that it should not."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp
import torch

from verified_transformer.engine.account import registry
from verified_transformer.engine.account.reading import Citation, Reading
from verified_transformer.engine.checks import subject
from verified_transformer.engine.checks.by_measurement import passes
from verified_transformer.engine.checks.claim import ClaimFailed, claim
from verified_transformer.engine.checks.subject import as_much, equation
from verified_transformer.engine.checks.what_ran import watched
from verified_transformer.engine.exact.derivations import Derivation, Oracle
from verified_transformer.engine.exact.formulas.mutants import Mutant, formula_mutants
from verified_transformer.engine.exact.formulas.notation import symbols
from verified_transformer.engine.exact.integrals.closed_forms import integrate_by_parts
from verified_transformer.engine.exact.integrals.law_means import LawMean
from verified_transformer.engine.exact.judging import Comparison
from verified_transformer.engine.exact.laws import General, Normal, Rademacher
from verified_transformer.engine.exact.moments import Index, Tensor, mean, total, variance
from verified_transformer.engine.sampling import measuring as sampling

d, σ, τ, x = symbols("d sigma tau x")
i = Index("i", d)
AT = [{d: 3, σ: 1.3}, {d: 5, σ: 0.7}]


def norm2(law: Any = None) -> Any:
    w = Tensor("w", law or Normal(0, σ), d)
    return total(w[i] ** 2, i)


def squared_norm(w: torch.Tensor) -> torch.Tensor:
    return (w * w).sum(-1)


# ------------------------------------------------------------------ what is right passes


def test_a_proof_says_what_it_did() -> None:
    record = claim("LOSS-14").prove(variance(norm2()))
    assert re.fullmatch(
        r"LOSS-14 proof   Var\(.*\) = 2\*d\*sigma\*\*4   two routes; exact at 2 points; "
        r"(\d+)/\1 mutants; (\d+)/\d+ changed definitions break it   #[0-9a-f]{8}",
        record.line,
    )


def test_a_measurement_says_the_same_on_every_run() -> None:
    first, second = (
        claim("LOSS-14").measure(variance(norm2()), squared_norm, at=AT) for _ in range(2)
    )
    assert first.line == second.line
    assert first.volatile.estimates == second.volatile.estimates


def test_the_articles_own_formula_is_a_mutant_of_the_truth() -> None:
    labels = [mutant.label for mutant in claim("LOSS-21").truth.mutants]
    assert "the article's formula" in labels


# ------------------------------------------------------------------ what is wrong does not


@pytest.fixture(scope="module")
def averages() -> dict[tuple[str, int], float]:
    """What was drawn under each name; a statement changes what draws are held against, not them."""
    return {}


@pytest.mark.canary
@pytest.mark.parametrize("mutant", formula_mutants(2 * d * σ**4), ids=lambda m: m.label)
def test_no_mutant_of_the_norm_variance_is_proved_or_measured(
    mutant: Any,
    reading: Callable[..., None],
    averages: dict[tuple[str, int], float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = sampling._average

    def once(quantity: Any, statistic: Any, point: Any, n: int, name: str, where: Any) -> float:
        if (name, n) not in averages:
            averages[name, n] = drawn(quantity, statistic, point, n, name, where)
        return averages[name, n]

    monkeypatch.setattr(sampling, "_average", once)
    reading(formula=str(mutant.formula))
    with pytest.raises(ClaimFailed, match="LOSS-14"):
        claim("LOSS-14").prove(variance(norm2()))
    with pytest.raises(ClaimFailed, match="LOSS-14"):
        claim("LOSS-14").measure(variance(norm2()), squared_norm, at=AT)


RESULT = 2 * d * σ**4
TYPED: list[tuple[Any, type[Exception], str]] = [
    (RESULT, TypeError, "derived: got Mul"),
    (
        Derivation("collected", d * σ**4 + d * σ**4 + x - x).then("collect", sp.factor),
        TypeError, "starts from the closed form",
    ),
    (
        Derivation("known", sp.Integral(2 * RESULT * x, (x, 0, 1))).then("so", lambda e: RESULT),
        ClaimFailed, "changed definitions do not break",
    ),
    (
        Derivation("of nothing", sp.Integral(RESULT, (x, 0, 1))).then("evaluate", sp.Expr.doit),
        TypeError, "integrates what does not depend on the variable",
    ),
]  # fmt: skip


@pytest.mark.canary
@pytest.mark.parametrize(("given", "error", "message"), TYPED)
def test_a_result_that_is_typed_is_no_derivation(
    given: Any, error: type[Exception], message: str, reading: Callable[..., None]
) -> None:
    reading(formula="2*d*sigma**4")
    with pytest.raises(error, match=message):
        claim("LOSS-14").prove(given)


@pytest.mark.canary
def test_an_oracle_that_knows_the_formula_wrongly_is_caught(
    reading: Callable[..., None],
) -> None:
    reading(formula="2*d*sigma**4")
    quantity = variance(norm2())
    object.__setattr__(quantity, "oracle", lambda point: 2 * point[d] * point[σ] ** 3)
    with pytest.raises(ClaimFailed, match="the definition gives"):
        claim("LOSS-14").prove(quantity)


AGREES, REJECTS = Comparison.agrees.fget, sampling.Measurement.rejects


@pytest.mark.canary
@pytest.mark.parametrize(
    "agrees", [lambda self: not AGREES(self), lambda self: True], ids=["inverted", "always"]
)
def test_a_broken_exact_judge_is_caught(
    agrees: Callable[[Comparison], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Comparison, "agrees", property(agrees))
    with pytest.raises(ClaimFailed):
        claim("LOSS-14").prove(variance(norm2()))


@pytest.mark.canary
@pytest.mark.parametrize(
    "rejects",
    [
        pytest.param(lambda *given: not REJECTS(*given), id="inverted"),
        pytest.param(lambda *given: True, id="rejects all", marks=pytest.mark.slow),
        pytest.param(lambda *given: False, id="rejects none", marks=pytest.mark.slow),
    ],
)
def test_a_broken_statistical_judge_is_caught(
    rejects: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling.Measurement, "rejects", rejects)
    with pytest.raises(ClaimFailed):
        claim("LOSS-14").measure(variance(norm2()), squared_norm, at=AT)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("at", "message"),
    [
        ([{d: 3, σ: 1.3}], "two or more"),
        ([{d: 3, σ: 1}, {d: 5, σ: 0.7}], "a scale of 1"),
    ],
)
def test_points_that_hide_mistakes_are_refused(at: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        claim("LOSS-14").measure(variance(norm2()), squared_norm, at=at)


@pytest.mark.canary
def test_a_wrong_digit_is_caught(reading: Callable[..., None]) -> None:
    reading(formula="2*d*sigma**4", digits=(("pi", "3.1416"),))
    with pytest.raises(ClaimFailed, match=r"3\.1416 is printed"):
        claim("LOSS-14").prove(variance(norm2()))


@dataclasses.dataclass
class Measured:
    mean: float
    resolution: float = 0.1
    expected: float = 1.0

    def can_see(self, value: float) -> bool:
        return abs(value - self.expected) > self.resolution

    def rejects(self, value: float) -> bool:
        return abs(value - self.mean) > self.resolution / 2


@pytest.mark.canary
@pytest.mark.parametrize(
    ("mutant", "mean", "again", "passed"),
    [
        (d + 1, 1.0, 1.0, False),
        (d * sp.Rational(101, 100), 1.0, 1.0, None),  # below the resolution
        (1 / (d - 1), 1.0, 1.0, False),  # it has no value
        (d + 1, 2.0, 2.0, True),
        (d + 1, 2.0, 1.0, False),  # the second look rejects it
    ],
)
def test_a_measurement_rejects_what_it_can_see(
    mutant: Any, mean: float, again: float, passed: bool | None
) -> None:
    found = passes(Mutant("m", mutant), [{d: 1}], [Measured(mean)], lambda _: Measured(again))
    assert found is passed


# ------------------------------------------------------------------ refutations and conditions


@pytest.mark.canary
@pytest.mark.parametrize(
    ("verb", "given", "error", "message"),
    [
        ("refute", {"formula": "2*d*sigma**4", "truth_formula": "3*d*sigma**4"},
         ClaimFailed, "not refuted"),
        ("refute", {"formula": "3*d*sigma**4", "truth_formula": "4*d*sigma**4"},
         ClaimFailed, r"the truth .* is wrong"),
        ("fails_without", {"formula": "2*d*sigma**4", "condition": "on a rainy day"},
         ClaimFailed, "holds without its condition"),
        ("fails_without", {"formula": "2*d*sigma**4"}, ValueError, "names no condition"),
    ],
)  # fmt: skip
def test_what_refutes_nothing_is_caught(
    verb: str, given: Any, error: type[Exception], message: str, reading: Callable[..., None]
) -> None:
    reading(truth="another", **given)
    with pytest.raises(error, match=message):
        getattr(claim("LOSS-14"), verb)(variance(norm2()), at=AT)


# ------------------------------------------------------------------ no formula, no measurement


@pytest.mark.canary
@pytest.mark.parametrize("verb", ["check_that", "refute_that"])
@pytest.mark.parametrize(("on", "other"), [(0, 0), (1, 1)], ids=["false", "cannot fail"])
def test_a_check_that_is_false_or_cannot_fail_is_caught(
    verb: str, on: int, other: int, reading: Callable[..., None]
) -> None:
    reading(kind="statement")
    twin = {"check_that": "not_on", "refute_that": "but_on"}[verb]
    with pytest.raises(ClaimFailed, match=r"not (so|refuted)|cannot fail"):
        getattr(claim("LOSS-14"), verb)("is one", lambda n: n == 1, on=on, **{twin: other})


@pytest.mark.canary
def test_nothing_of_which_everything_is_true_is_refused(reading: Callable[..., None]) -> None:
    reading(kind="statement")
    for check, other in ((claim("LOSS-14").check_that, "not_on"),
                         (claim("LOSS-14").refute_that, "but_on")):  # fmt: skip
        for on, twin, name in (([], [3], "on"), ([4], (), other)):
            with pytest.raises(ValueError, match=f"^{name}: got .*; accepted: a thing that has"):
                check("all even", lambda ns: all(n % 2 == 0 for n in ns), on=on, **{other: twin})


@pytest.mark.canary
def test_a_formula_is_refuted_as_a_formula() -> None:
    with pytest.raises(ValueError, match="has a formula; use refute"):
        claim("LOSS-14").refute_that("even", bool, on=0, but_on=1)


@pytest.mark.canary
def test_a_joint_record_checks_the_digits_of_every_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    real = registry.statement

    def statement(name: str) -> registry.Statement:
        digits = (("pi", "3.1416"),) if name == "LOSS-20" else ()
        return dataclasses.replace(
            real(name), reading=Reading("read", formula="2*d*sigma**4", digits=digits)
        )

    monkeypatch.setattr(registry, "statement", statement)
    with pytest.raises(ClaimFailed, match=r"3\.1416 is printed"):
        claim("LOSS-14", "LOSS-20").prove(variance(norm2()))


@pytest.mark.canary
def test_a_citation_decides_nothing_that_can_be_computed(reading: Callable[..., None]) -> None:
    said = (Citation("someone2020", "supports", "p. 1", "so it is"),)
    for computed in ({"kind": "equation"}, {"kind": "number"}, {"formula": "2*d"}):
        reading(**{"kind": "attribution", "citations": said} | computed)
        with pytest.raises(ValueError, match="can be computed"):
            claim("LOSS-14").cited()
    reading(kind="attribution", citations=said)
    assert len(claim("LOSS-14").cited()) == 1


DAYS = {"first": (4, "one2020"), "second": (19, "two2020")}


@pytest.mark.canary
def test_a_census_counts_its_data(reading: Callable[..., None]) -> None:
    reading(formula="15", kind="number")
    record = claim("LOSS-14").census("days between", DAYS, lambda days: max(days) - min(days))
    assert record.kind == "census" and "2 data" in record.detail
    with pytest.raises(ClaimFailed, match="the definition gives 16"):
        claim("LOSS-14").census("days between", DAYS, lambda days: max(days) - min(days) + 1)
    with pytest.raises(ValueError, match="data: got 1"):
        claim("LOSS-14").census("days", {"first": (4, "one2020")}, len)


@pytest.mark.canary
def test_a_census_that_ignores_its_data_is_refused(reading: Callable[..., None]) -> None:
    reading(formula="15", kind="number")
    for data in (DAYS, {**DAYS, "third": (7, "three2020")}):
        with pytest.raises(ClaimFailed, match="does not depend on any single datum"):
            claim("LOSS-14").census("days between", data, lambda days: 15)


@pytest.mark.canary
def test_a_formula_cannot_be_set_aside() -> None:
    for because, said in (("we would rather not", "decide it"), (" ", "because: got an empty")):
        with pytest.raises(ValueError, match=said):
            claim("LOSS-14" if because.strip() else "LOSS-29").set_aside("opinion", because=because)


def test_an_open_claim_says_what_was_tried() -> None:
    with pytest.raises(ValueError, match="both are needed"):
        claim("LOSS-14").attempt("looked at it", could_have_seen="")


# ------------------------------------------------------------------ smaller promises


def test_unknown_ids_and_cases_are_refused() -> None:
    with pytest.raises(KeyError, match="LOSS-98"):
        claim("LOSS-98")
    with pytest.raises(ValueError, match="has no 'gamma'; accepted: alpha, lambda"):
        _ = claim("INIT-27").case("gamma").formula
    with pytest.raises(ValueError, match="no formula for the reading; accepted: a case"):
        _ = claim("LOSS-17").formula
    with pytest.raises(ValueError, match="have different formulas"):
        claim("LOSS-14", "LOSS-20")


def test_a_claim_without_a_reading_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = dataclasses.replace(registry.statement("LOSS-14"), reading=None)
    monkeypatch.setattr(registry, "statement", lambda _: bare)
    with pytest.raises(ValueError, match="LOSS-14: has no reading"):
        _ = claim("LOSS-14").formula


def test_a_joint_record_counts_for_each_claim() -> None:
    negative = [
        (sp.sqrt(2 * sp.pi) * (1 - sp.exp(x)), -sp.oo, sp.S.Zero),
        (sp.S.Zero, sp.S.Zero, sp.oo),
    ]
    chain = LawMean("E", x, Normal(0, 1), negative).then("by parts", integrate_by_parts)
    record = claim("INIT-27", "INIT-32").case("alpha").prove(chain)
    assert record.claims == ("INIT-27", "INIT-32")
    assert len(record.readings) == 2


def test_exact_checks_take_plain_numbers(reading: Callable[..., None]) -> None:
    record = claim("LOSS-14").check("Var", lambda p: sum([2 * float(p[σ]) ** 4] * p[d]), at=AT)
    assert record.kind == "exact"
    reading(formula="d*sigma**4", truth_formula="d*sigma**2*tau**2")
    oracle = Oracle("E (w.v)**2", lambda p: p[d] * p[σ] ** 2 * p[τ] ** 2)
    refuted = claim("LOSS-19").refute(oracle, at=[{d: 3, σ: 1.3, τ: 0.7}])
    assert refuted.outcome == "contradicts"


def test_a_zero_expectation_is_measured_in_units_of_the_spread() -> None:
    w, v = (Tensor(name, General({1: 0, 2: σ**2}), d) for name in "wv")
    claim("LOSS-18").prove(mean(total(w[i] * v[i], i)))
    drawn = dict.fromkeys("wv", Normal(0, σ))
    record = claim("LOSS-18").measure(lambda w, v: (w * v).sum(-1), laws=drawn, at=AT)
    assert record.mutants.killed >= 2


@pytest.mark.parametrize(
    ("name", "shown"),
    [("mean_square of 5% & more", r"mean\_square of 5\% \& more"), ("(|u|^2)^2", "(|u|**2)**2")],
)
def test_a_quantitys_name_is_a_text_that_mathjax_takes(name: str, shown: str) -> None:
    named = Oracle(name, lambda point: 2.0)
    assert (as_much(3.0, 2.0), as_much(0.5, 0.0)) == ("1.5 times as much", "off by 0.5")
    assert equation(named, sp.Integer(2)) == rf"\text{{{shown}}} = 2"


def test_a_statement_left_out_is_the_reading_s(reading: Callable[..., None]) -> None:
    """Of a truth it is the truth, and the effect that would be seen is what makes it false."""
    reading(truth="it is even $n=2m$", false_if="an odd number")
    even, it = (lambda n: n % 2 == 0), claim("LOSS-14")
    checked, refuted = it.check_that(even, on=2, not_on=3), it.refute_that(even, on=3, but_on=2)
    assert (checked.kind, checked.statement) == ("exact", "read")
    assert (refuted.kind, refuted.statement) == ("counterexample", "read")
    assert it.truth.check_that(even, on=2, not_on=3).statement == "it is even $n=2m$"
    assert it.check_that("two is even", even, on=2, not_on=3).statement == "two is even"
    drawn = it.sampled_that(
        even, draw=lambda name: 2 * int(name.split()[-1]), spoiled=lambda n: n + 1, n=20
    )
    assert drawn.statement == "read" and drawn.sample and drawn.sample.sees == "an odd number"


@pytest.mark.canary
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("two is even",), "predicate: got None"),
        ((" ", bool), "text: got ' '"),
        ((3, bool), "text: got 3"),
        (("two is even", 3), "predicate: got 3"),
    ],
)
def test_a_check_without_its_statement_or_its_predicate_is_named(
    reading: Callable[..., None], given: tuple[Any, ...], message: str
) -> None:
    reading()
    for verb, other in (("check_that", "not_on"), ("refute_that", "but_on")):
        with pytest.raises(TypeError, match=message):
            getattr(claim("LOSS-14"), verb)(*given, on=1, **{other: 0})


def test_the_first_check_of_a_claim_shows_its_card(
    reading: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A joint record shows those of all its claims; a claim shown by itself is shown once."""
    reading()
    outputs: list[str] = []
    monkeypatch.setattr(subject, "display", lambda data, _: outputs.append(data["text/plain"]))
    with watched():  # as in a notebook
        claim("LOSS-16")._repr_mimebundle_()
        for ids in (("LOSS-14",), ("LOSS-14", "LOSS-15"), ("LOSS-16",)):
            claim(*ids).check_that(bool, on=1, not_on=0)
    kinds = [line.split("   ")[0].partition("(")[0] for line in outputs]
    assert kinds == [
        "LOSS-14 ", "LOSS-14 exact", "LOSS-15 ", "LOSS-14 LOSS-15 exact", "LOSS-16 exact",
    ]  # fmt: skip


# ------------------------------------------------------------------ within the setting


NORMAL = {"i": "Index(d)", "w": "Tensor(Normal(0, sigma), d)"}
UNDER = {"condition": "normal entries", "setting": "normal weights", "met_by": "its weights"}


def test_a_condition_is_met_by_a_run_in_the_setting(reading: Callable[..., None]) -> None:
    reading(formula="2*d*sigma**4", **UNDER)
    made = claim("LOSS-14").meets(variance(norm2()), at=AT)
    assert (made.kind, made.outcome) == ("met", "meets")
    assert made.statement.endswith("= 2*d*sigma**4 in the article's setting")
    assert made.detail == "w ~ Normal(0, sigma); d=3, sigma=1.3: 17.1366; d=5, sigma=0.7: 2.401"


def test_the_definition_of_the_reading_is_taken(reading: Callable[..., None]) -> None:
    reading(quantity="variance(total(w[i]**2, i))", where=NORMAL, formula="2*d*sigma**4", **UNDER)
    assert claim("LOSS-14").meets(at=AT).outcome == "meets"


def test_the_tolerance_is_that_of_the_reading(reading: Callable[..., None]) -> None:
    reading(claimed="1", within=0.1, **UNDER)
    near = Oracle("a ratio", lambda _: sum([1.0, 0.05]))
    assert "= 1 within 0.1 in" in claim("LOSS-14").meets(near, at=[{}]).line
    reading(claimed="1", within=0.01, **UNDER)
    with pytest.raises(ClaimFailed, match="fails in the article's own setting"):
        claim("LOSS-14").meets(near, at=[{}])


@pytest.mark.canary
def test_what_fails_in_the_setting_does_not_meet_the_condition(
    reading: Callable[..., None],
) -> None:
    reading(formula="2*d*sigma**4", **UNDER)
    with pytest.raises(ClaimFailed, match=r"fails in the article's own setting: .*d=3.*is wrong"):
        claim("LOSS-14").meets(variance(norm2(Rademacher(σ))), at=AT)


@pytest.mark.canary
@pytest.mark.parametrize("key", ["condition", "setting", "met_by"])
def test_setting_and_condition_stand_in_the_reading(key: str, reading: Callable[..., None]) -> None:
    reading(formula="2*d*sigma**4", **{name: text for name, text in UNDER.items() if name != key})
    with pytest.raises(ValueError, match=f"LOSS-14: its reading has no .*{key}"):
        claim("LOSS-14").meets(variance(norm2()), at=AT)


@pytest.mark.canary
def test_a_quantity_without_an_oracle_is_refused(reading: Callable[..., None]) -> None:
    reading(formula="2*d*sigma**4", **UNDER)
    with pytest.raises(TypeError, match="quantity: got int"):
        claim("LOSS-14").meets(3, at=AT)
