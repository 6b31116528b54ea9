"""A check that fails says what was claimed, what came out, how far off, and what to look at."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp
import torch

from verified_transformer.engine.checks.claim import ClaimFailed, claim
from verified_transformer.engine.exact.derivations import Derivation
from verified_transformer.engine.exact.formulas.notation import symbols
from verified_transformer.engine.exact.laws import General, Normal
from verified_transformer.engine.exact.moments import Index, Tensor, mean, total, variance

GAIN: Any = {"compares": ("it", "nothing"), "predicts": "positive", "unit": "gain"}
d, σ, x = symbols("d sigma x")
i = Index("i", d)
AT = [{d: 3, σ: 1.3}, {d: 5, σ: 0.7}]
LENGTH = total(Tensor("w", Normal(0, σ), d)[i] ** 2, i)


@pytest.mark.canary
@pytest.mark.parametrize(
    "statistic",
    [
        lambda w: w[:, 0] ** 2,
        lambda w: torch.full((len(w),), 5.07).to(w),
        lambda w: (w * w).sum(-1) * (len(w) - 1) / len(w),
    ],
    ids=["one entry", "closed form", "off by 1/n"],
)
def test_a_wrong_statistic_is_shown_with_numbers(statistic: Any) -> None:
    said = r"not the definition .* gives [\d.]+ where the statistic gives [\d.]+; look at its sums"
    with pytest.raises(ClaimFailed, match=said):
        claim("LOSS-14").measure(variance(LENGTH), statistic, at=AT)


@pytest.mark.canary
def test_a_wrong_derivation_is_shown_with_numbers() -> None:
    w, v = (Tensor(name, General({1: 0, 2: 1 / d}), d) for name in "wv")
    dot = total(w[i] * v[i], i)
    with pytest.raises(ClaimFailed, match=r"gives .* at d=.*: .* times as much; look"):
        claim("LOSS-21").prove(mean(dot**2))


@pytest.mark.canary
def test_a_wrong_oracle_is_shown_with_numbers() -> None:
    with pytest.raises(ClaimFailed, match=r"definition gives 8\.5683.*2 times as much; look at"):
        claim("LOSS-14").check("half", lambda p: p[d] * p[σ] ** 4, at=AT)


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
    interval = record.volatile.interval
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


@pytest.mark.canary
def test_bad_arguments_are_named() -> None:
    it = claim("LOSS-14")
    bad: list[tuple[Any, str]] = [
        (lambda: it.check("text", at=AT), "oracle: got None"),
        (lambda: it.check(3, at=AT), "quantity: got int"),
        (lambda: it.measure(3, at=AT), "quantity: got int"),
        (lambda: it.measure(variance(LENGTH), 3, at=AT), "statistic: got 3"),
        (lambda: claim("LOSS-21").refute(3, at=AT), "quantity: got int"),
        (lambda: it.fails_without(3, at=AT), "quantity: got int"),
        (lambda: it.measure(variance(LENGTH), lambda x: x, at=AT), "statistic: takes x"),
    ]
    for call, message in bad:
        with pytest.raises(TypeError, match=message):
            call()


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
