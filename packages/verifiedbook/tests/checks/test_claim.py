"""The verdict machinery: it accepts what is right, and nothing that it should not; what it says."""

from __future__ import annotations

import dataclasses
import linecache
import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp
import torch

from verifiedbook.account import registry
from verifiedbook.account.reading import Citation, Reading
from verifiedbook.checks import subject
from verifiedbook.checks.by_measurement import passes
from verifiedbook.checks.claim import ClaimFailed, claim
from verifiedbook.checks.subject import as_much, equation
from verifiedbook.checks.what_ran import watched
from verifiedbook.exact.derivations import Derivation, Oracle
from verifiedbook.exact.formulas.mutants import Mutant, formula_mutants
from verifiedbook.exact.formulas.notation import symbols
from verifiedbook.exact.integrals.closed_forms import integrate_by_parts
from verifiedbook.exact.integrals.law_means import LawMean
from verifiedbook.exact.judging import Comparison, is_constant, is_typed
from verifiedbook.exact.laws import General, Law, Normal, Rademacher, Uniform
from verifiedbook.exact.moments import (
    Expectation,
    Index,
    Tensor,
    mean,
    total,
    variance,
)
from verifiedbook.sampling import measuring as sampling

d, σ, τ, x, z = symbols("d sigma tau x z")
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
        r"LOSS-14 proof   Var\(.*\) = 2\*d\*sigma\*\*4   pattern by pattern; exact at 2 points; "
        r"(\d+)/\1 mutants   #[0-9a-f]{8}",
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


# ------------------------------------------------------------------ smaller promises


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


# ------------------------------------------------------------------ what is said of a failure


GAIN: Any = {"compares": ("it", "nothing"), "predicts": "positive", "unit": "gain"}
LENGTH = norm2()


@pytest.mark.canary
@pytest.mark.parametrize("sign", [1, -1])
def test_an_infinite_result_is_shown_as_one(sign: int, reading: Callable[..., None]) -> None:
    reading(formula="1")
    start = sp.Integral(sp.exp(-d * x), (x, 0, sp.oo))
    endless = Derivation("endless", start).then("so", lambda e: 1 / d)
    endless.value = sign * sp.oo
    with pytest.raises(ClaimFailed, match=f"that is {'-' * (sign < 0)}inf and not 1: off by inf"):
        claim("LOSS-14").prove(endless)


@pytest.mark.parametrize(
    ("effects", "outcome", "words"),
    [
        ([1.0, 1.1, 0.9], "supports", "gain, it less nothing: positive"),
        (
            [-1.0, -1.1, -0.9],
            "contradicts",
            "gain, it less nothing: negative, where positive was predicted",
        ),
        (
            [1.0, -1.0, 0.5],
            "unsettled",
            "gain, it less nothing: unsettled, where positive was predicted",
        ),
        (
            [1.0, 1.32, 0.68],
            "unsettled",
            "gain, it less nothing: unsettled, where positive was predicted",
        ),
    ],
)
def test_an_experiment_says_what_was_predicted(
    effects: list[float], outcome: str, words: str, reading: Callable[..., None]
) -> None:
    reading(kind="empirical")
    arms = {"it": effects, "nothing": 0}
    record = claim("LOSS-14").experiment(**GAIN, arms=arms)
    assert (record.outcome, record.statement) == (outcome, words)
    interval = record.measured
    assert interval is not None and interval.low < sum(effects) / 3 < interval.high


@pytest.mark.canary
@pytest.mark.parametrize(
    ("at", "error", "message"),
    [
        ([{"d": 3, σ: 1.3}], TypeError, "at: got the key 'd', a str; accepted: the symbol"),
        ([{d: 3}], ValueError, "at: no value for sigma at the point d=3"),
        ([], ValueError, "at: got no points"),
        ({d: 3, σ: 1.3}, TypeError, "accepted: a list of points"),
    ],
)
def test_bad_points_are_named_by_every_verb(at: Any, error: Any, message: str) -> None:
    it = claim("LOSS-14")
    with pytest.raises(error, match=message):
        it.check("text", lambda p: 1.0, at)
    with pytest.raises(error, match=message):
        it.prove(variance(LENGTH), at=at)
    with pytest.raises(error, match=message):
        it.measure(variance(LENGTH), at=at)
    with pytest.raises(error, match=message):
        claim("LOSS-21").refute(at=at) if at != [{d: 3}] else it.check("t", abs, at)


def test_a_statistic_in_torch_needs_no_twin() -> None:
    record = claim("LOSS-14").measure(variance(LENGTH), at=AT)
    assert "summed literally" in record.detail
    other = claim("LOSS-14").measure(variance(LENGTH), lambda w: torch.linalg.vecdot(w, w), at=AT)
    assert "definition agrees on a skewed law" in other.detail


def test_a_notebook_shows_the_readers_line_and_none_of_the_librarys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cell = "d\nclaim('LOSS-14').measure(variance(LENGTH), lambda w: w[:, 0], at=AT)\n"
    monkeypatch.setitem(
        linecache.cache, "<cell>", (len(cell), None, cell.splitlines(True), "<cell>")
    )
    with pytest.raises(ClaimFailed) as failed:
        exec(compile(cell, "<cell>", "exec"), globals())
    asked, empty, said = failed.value._render_traceback_()
    assert asked == f"----> 2 {cell.splitlines()[1]}" and not empty
    assert said.endswith(f"ClaimFailed\x1b[0m: {failed.value}")


# ------------------------------------------------------------------ what the reading defines


NORMAL_LAW = Normal(0, σ)
ANY = {"i": "Index(d)", "w": "Tensor(General({1: 0, 2: sigma**2}), d)"}
SECOND = "Integral(z**2*exp(-z**2/2)/sqrt(2*pi), (z, -oo, oo))"


def test_the_definition_comes_from_the_reading(reading) -> None:
    reading(quantity="variance(total(w[i]**2, i))", where=NORMAL, formula="2*d*sigma**4")
    assert "= 2*d*sigma**4" in claim("LOSS-14").prove(variance(squares())).line
    assert claim("LOSS-14").measure(squared_norm, at=AT, resolution=0.1).outcome == "supports"
    assert claim("LOSS-14").measure(at=AT, resolution=0.1).outcome == "supports"


def squares(name: str = "w", law: Law = NORMAL_LAW, power: int = 2) -> sp.Expr:
    """The sum of an entry's powers, of which LOSS-14 speaks."""
    i, w = Index(f"i_{name}", d), Tensor(name, law, d)
    return total(w[i] ** power, i)


def test_the_definition_may_stand_in_the_cell_by_other_names() -> None:
    plain, again = (claim("LOSS-14").prove(variance(squares(name))) for name in "wu")
    assert (again.statement, again.detail) == (plain.statement, plain.detail)
    u, v = (Tensor(name, General({1: 0, 2: s**2}), d) for name, s in (("u", τ), ("v", σ)))
    inner = mean(total(u[i] * v[i], i) ** 2)  # the reading has v with τ, and w with σ
    assert claim("LOSS-19").case("meant").prove(inner).outcome == "supports"


@pytest.mark.canary
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (variance(squares(power=4)), r"Var\(Sum\(w\[i_w\]\*\*4, .* which is 96\*d\*sigma\*\*8"),
        (mean(squares()), r"E\(Sum\(w\[i_w\]\*\*2, .* which is d\*sigma\*\*2"),
        (variance(squares(law=Uniform(-σ, σ))), r"w = Tensor\(Uniform\(-sigma, sigma\), d\)"),
        (variance(squares() + squares("u")), r"u = Tensor\(.*, w = Tensor"),
    ],
    ids=["another power", "a mean", "another law", "one tensor more"],
)
def test_a_cell_cannot_bring_a_definition_of_its_own(given: Expectation, said: str) -> None:
    ours = (
        r"the reading defines Var\(Sum\(w\[i\]\*\*2, \(i, 1, d\)\)\) with "
        r"w = Tensor\(Normal\(0, sigma\), d\), which is 2\*d\*sigma\*\*4$"
    )
    for use in (claim("LOSS-14").prove, lambda q: claim("LOSS-14").measure(q, at=AT)):
        with pytest.raises(ClaimFailed, match=f"the cell gives .*{said}.*, {ours}"):
            use(given)


def test_a_law_of_which_the_reading_speaks_is_drawn(reading) -> None:
    reading(quantity="mean(total(w[i]**2, i))", where=ANY, formula="d*sigma**2")
    drawn = {"w": Uniform.of_variance(σ**2)}
    record = claim("LOSS-14").measure(squared_norm, laws=drawn, at=AT, resolution=0.1)
    assert "w ~ Uniform(" in record.detail


def test_a_chain_of_steps_begins_with_what_the_reading_defines(reading) -> None:
    reading(quantity=SECOND, formula="1")
    bell = sp.exp(-(z**2) / 2) / sp.sqrt(2 * sp.pi)
    second = Derivation("E z**2", sp.Integral(z**2 * bell, (z, -sp.oo, sp.oo)))
    steps = second.then("integration by parts", integrate_by_parts)
    assert claim("LOSS-14").prove(steps).outcome == "supports"


# ------------------------------------------------------------------ evidence that is none


REAL = 2.0


def scale(value: Any) -> float:
    return float(value)


@pytest.mark.canary
@pytest.mark.parametrize(
    "typed",
    [
        lambda p: 2 * p[d] * p[σ] ** 4,
        lambda p: 2 * int(p[d]) * float(p[σ]) ** 4,
        lambda p: p[d] * (p[σ] ** 2) ** 2 + p[d] * p[σ] ** 4,
        lambda p: p[d] * math.comb(2, 1) * math.sqrt(p[σ]) ** 8,
        lambda p: 5.07,
    ],
)
def test_an_oracle_that_is_the_formula_is_refused(typed: Any) -> None:
    with pytest.raises(ValueError, match="oracle: is a number or the formula itself"):
        claim("LOSS-14").check("Var", typed, at=AT)


def test_an_oracle_that_computes_is_taken() -> None:
    formula = 2 * d * σ**4
    assert not is_typed(lambda p: 2 * scale(p[d]) * p[σ] ** 4, formula)
    assert not is_typed(lambda p: REAL * p[d] * p[σ] ** 4, formula)
    assert not is_typed(lambda p: 3 * p[d] * p[σ] ** 4, formula)
    assert not is_typed(lambda p: sum(2 * p[σ] ** 4 for _ in range(p[d])), formula)
    assert not is_constant(lambda p: REAL) and is_constant(lambda p: -1.5)


# ------------------------------------------------------------------ what is refused

RESULT, LENGTHS = 2 * d * σ**4, variance(norm2())
FOURTH = {"formula": "2*d*sigma**4"}
OF_NORMAL = {"quantity": "variance(total(w[i]**2, i))", "where": NORMAL} | FOURTH
OF_ANY = {"quantity": "mean(total(w[i]**2, i))", "where": ANY, "formula": "d*sigma**2"}
CENSUS = {"formula": "15", "kind": "number"}
SECOND_MOMENT = {"quantity": SECOND, "formula": "1"}
BELL = sp.exp(-(z**2) / 2) / sp.sqrt(2 * sp.pi)
ELSEWHERE = Derivation("E z**0", sp.Integral(2 * BELL, (z, 1, sp.oo)))
W, V = (Tensor(name, General({1: 0, 2: 1 / d}), d) for name in "wv")
UNLUCKY = Oracle("bad luck", lambda p: 99)
KNOWN = Derivation("known", sp.Integral(2 * RESULT * x, (x, 0, 1))).then("so", lambda e: RESULT)
NOTHING = Derivation("nothing", sp.Integral(RESULT, (x, 0, 1))).then("evaluate", sp.Expr.doit)
# the reading, what is asked of LOSS-14, what comes of it
REFUSED: dict[str, tuple[dict[str, Any] | None, Callable[[Any], Any], type[Exception], str]] = {
    # what is typed
    "a result": (None, lambda it: it.prove(RESULT), TypeError,
                 "quantity: got Mul; accepted: what the reading of LOSS-14"),
    "a result for a derivation": (FOURTH, lambda it: it.prove(RESULT), TypeError, "derived: got M"),
    "a closed form": (
        FOURTH,
        lambda it: it.prove(Derivation("c", RESULT / 2 + RESULT / 2 + x - x).then("c", sp.factor)),
        TypeError, "starts from the closed form",
    ),
    "a step": (FOURTH, lambda it: it.prove(KNOWN), ClaimFailed, "changed definitions do not break"),
    "an integral of nothing": (
        FOURTH, lambda it: it.prove(NOTHING), TypeError,
        "integrates what does not depend on the variable",
    ),
    "a number for a witness": (
        FOURTH | {"condition": "on a rainy day"},
        lambda it: it.fails_without(UNLUCKY, at=AT), ValueError,
        "the oracle of bad luck returns a number that is typed in",
    ),
    "a number for a counter-example": (
        FOURTH, lambda it: it.refute(UNLUCKY, at=AT), ValueError, "the oracle of bad luck returns",
    ),
    # what is wrong
    "digits": (FOURTH | {"digits": (("pi", "3.1416"),)}, lambda it: it.prove(LENGTHS), ClaimFailed,
               r"3\.1416 is printed"),
    "a derivation": (
        None, lambda _: claim("LOSS-21").prove(mean(total(W[i] * V[i], i) ** 2)), ClaimFailed,
        r"gives .* at d=.*: .* times as much; look",
    ),
    "an oracle": (
        None, lambda it: it.check("half", lambda p: p[d] * p[σ] ** 4, at=AT), ClaimFailed,
        r"definition gives 8\.5683.*2 times as much; look at",
    ),
    "a standard deviation for a variance": (
        OF_NORMAL | {"where": NORMAL | {"w": "Tensor(Normal(0, sigma**2), d)"}},
        lambda it: it.prove(variance(squares(law=Normal(0, σ**2)))), ClaimFailed,
        r"the derivation gives 2\*d\*sigma\*\*8",
    ),
    "nothing to refute": (FOURTH | {"truth": "another", "truth_formula": "3*d*sigma**4"},
                          lambda it: it.refute(LENGTHS, at=AT), ClaimFailed, "not refuted"),
    "a wrong truth": (
        {"formula": "3*d*sigma**4", "truth": "another", "truth_formula": "4*d*sigma**4"},
        lambda it: it.refute(LENGTHS, at=AT), ClaimFailed, r"the truth .* is wrong",
    ),
    "a needless condition": (
        FOURTH | {"condition": "on a rainy day"}, lambda it: it.fails_without(LENGTHS, at=AT),
        ClaimFailed, "holds without its condition",
    ),
    "what fails in the setting": (
        FOURTH | UNDER, lambda it: it.meets(variance(norm2(Rademacher(σ))), at=AT), ClaimFailed,
        r"fails in the article's own setting: .*d=3.*is wrong",
    ),
    "a count that is off": (
        CENSUS, lambda it: it.census("days", DAYS, lambda days: max(days) - min(days) + 1),
        ClaimFailed, "the definition gives 16",
    ),
    "a count that ignores its data": (
        CENSUS, lambda it: it.census("days", DAYS | {"third": (7, "c")}, lambda days: 15),
        ClaimFailed, "does not depend on any single datum",
    ),
    # what the reading does not define, or defines otherwise
    "no condition": (FOURTH, lambda it: it.fails_without(LENGTHS, at=AT), ValueError,
                     "names no condition"),
    **{f"no {key}": (
        FOURTH | {name: text for name, text in UNDER.items() if name != key},
        lambda it: it.meets(LENGTHS, at=AT), ValueError, f"LOSS-14: its reading has no .*{key}",
    ) for key in UNDER},
    "no definition in the cell": (
        None, lambda it: it.prove(), TypeError,
        r"accepted: variance\(total\(w\[i\]\*\*2, i\)\), written out in the cell, with i = Index",
    ),
    "no definition at all": (FOURTH, lambda it: it.prove(), TypeError,
                             "the reading of LOSS-14 defines none"),
    "a symbol that only looks like ours": (
        None, lambda it: it.prove(variance(squares(law=Normal(0, sp.Symbol("sigma"))))),
        ClaimFailed, r"; sigma: take symbols from symbols",
    ),
    **{f"the law {law.name}": (
        OF_ANY, lambda it, law=law: it.measure(squared_norm, laws={"w": law}, at=AT), ValueError,
        "the reading of LOSS-14 does not speak",
    ) for law in (Normal(0, σ**2), Normal(1, σ), General({1: 0, 2: σ}))},
    "a chain that begins elsewhere": (
        SECOND_MOMENT, lambda it: it.prove(ELSEWHERE.then("by parts", integrate_by_parts)),
        ClaimFailed, r"the derivation begins with .*, the reading defines",
    ),
    "no chain": (SECOND_MOMENT, lambda it: it.prove(), TypeError, "accepted: a Derivation that b"),
    # arguments
    "a wrong statistic": (
        None, lambda it: it.measure(LENGTHS, lambda w: w[:, 0] ** 2, at=AT), ClaimFailed,
        r"not the definition .* gives [\d.]+ where the statistic gives [\d.]+; look at its sums",
    ),
    "one point": (None, lambda it: it.measure(squared_norm, at=AT[:1]), ValueError, "two or more"),
    "no oracle": (None, lambda it: it.check("text", at=AT), TypeError, "oracle: got None"),
    **{f"a number to {verb}": (
        None, lambda it, verb=verb: getattr(it, verb)(3, at=AT), TypeError, "quantity: got int",
    ) for verb in ("check", "measure", "fails_without")},
    "a number to refute": (None, lambda _: claim("LOSS-21").refute(3, at=AT), TypeError, "got int"),
    "a number to meet": (FOURTH | UNDER, lambda it: it.meets(3, at=AT), TypeError, "quantity: got"),
    "a number for a statistic": (None, lambda it: it.measure(LENGTHS, 3, at=AT), TypeError,
                                 "statistic: got 3"),
    "other names": (None, lambda it: it.measure(LENGTHS, lambda x: x, at=AT), TypeError,
                    "statistic: takes x"),
    "a formula refuted by a predicate": (
        None, lambda it: it.refute_that("even", bool, on=0, but_on=1), ValueError,
        "has a formula; use refute",
    ),
    "one datum": (CENSUS, lambda it: it.census("days", {"first": (4, "a")}, len), ValueError,
                  "data: got 1"),
    "a formula set aside": (None, lambda it: it.set_aside("opinion", because="we would rather not"),
                            ValueError, "decide it"),
    "no reason": (None, lambda _: claim("LOSS-29").set_aside("opinion", because=" "), ValueError,
                  "because: got an empty"),
    "no effect": (None, lambda it: it.attempt("looked at it", could_have_seen=""), ValueError,
                  "both are needed"),
    "no such claim": (None, lambda _: claim("LOSS-98"), KeyError, "LOSS-98"),
    "no such case": (None, lambda _: claim("INIT-27").case("gamma").formula, ValueError,
                     "has no 'gamma'; accepted: alpha, lambda"),
    "a formula of its cases alone": (None, lambda _: claim("LOSS-17").formula, ValueError,
                                     "no formula for the reading; accepted: a case"),
    "two formulas": (None, lambda _: claim("LOSS-14", "LOSS-20"), ValueError, "different formulas"),
}  # fmt: skip


@pytest.mark.canary
@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused(what: str, reading: Callable[..., None]) -> None:
    given, asked, error, message = REFUSED[what]
    if given is not None:
        reading(**given)
    with pytest.raises(error, match=message):
        asked(claim("LOSS-14"))
