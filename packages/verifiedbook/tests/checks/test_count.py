"""Counting is counting: the things are built, and their number is the formula's, exactly."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from math import comb
from typing import Any

import pytest
import torch

from verifiedbook.checks.claim import ClaimFailed, claim
from verifiedbook.exact.formulas.mutants import formula_mutants
from verifiedbook.exact.formulas.notation import parse, symbols
from verifiedbook.exact.judging import judge, typed_formula

d, n, k = symbols("d n k")
AT = [{n: 5, d: 3}, {n: 7, d: 2}]


def entries(point: Any) -> int:
    return torch.nn.Linear(point[d], point[n], bias=False).weight.numel()


def pairs(point: Any) -> Any:
    return product(range(point[n]), range(point[d]))


@pytest.fixture(autouse=True)
def product_of_sizes(reading: Callable[..., None]) -> None:
    reading(kind="number", formula="n*d")


@pytest.mark.parametrize("counted", [entries, pairs, lambda p: set(pairs(p))])
def test_things_are_counted(counted: Any) -> None:
    record = claim("LOSS-14").count("entries of a head", counted, at=AT)
    assert record.kind == "count" and record.volatile.estimates == ()
    assert record.line.startswith(
        "LOSS-14 count   entries of a head = d*n   counted at 2 points; 11/11 mutants   #"
    )


def test_a_number_without_symbols_is_counted_once(reading: Callable[..., None]) -> None:
    reading(kind="number", formula="6")
    assert claim("LOSS-14").count("choices", lambda _: combinations("abcd", 2)).mutants.killed >= 4


@pytest.mark.canary
@pytest.mark.parametrize("mutant", formula_mutants(parse("n*d")), ids=lambda m: m.label)
def test_no_mutant_is_counted(mutant: Any, reading: Callable[..., None]) -> None:
    reading(kind="number", formula=str(mutant.formula))
    with pytest.raises(ClaimFailed, match=r"the definition gives|mutants give the same count"):
        claim("LOSS-14").count("entries", entries, at=AT)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("more", "at", "message"),
    [
        (1, AT, r"gives 16 at n=5, d=3, the formula d\*n gives 15"),
        (0, [{n: 5, d: 1}, {n: 7, d: 1}], "mutants give the same count: factor d dropped"),
    ],
    ids=["one too many", "points that cannot tell"],
)
def test_a_wrong_count_is_caught(more: int, at: Any, message: str) -> None:
    with pytest.raises(ClaimFailed, match=message):
        claim("LOSS-14").count("entries", lambda p: entries(p) + more, at=at)


@pytest.mark.canary
@pytest.mark.parametrize(
    "typed",
    [
        lambda p: p[n] * p[d],
        lambda p: int(p[n]) * int(p[d]),
        lambda p: sum(int(p[d]) for _ in "1234567") * int(p[n]) // 7,
    ],
)
def test_a_typed_formula_counts_nothing(typed: Any) -> None:
    with pytest.raises(ValueError, match="counted: is the formula"):
        claim("LOSS-14").count("entries", typed, at=AT)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"at": AT[:1]}, ValueError, "at: got 1 point; accepted: two or more"),
        ({"at": [{n: 5}]}, ValueError, "at: no value for d"),
        ({"counted": 15}, TypeError, "counted: got 15; accepted: a function"),
        ({"counted": lambda p: entries(p) / 1}, TypeError, "counted: returned 15.0, a float"),
        ({"counted": lambda p: "five"}, TypeError, "counted: returned 'five', a str"),
        ({"counted": lambda p: range(p[n] * p[d])}, TypeError, r"counted: returned range\(0, 15\)"),
        ({"counted": lambda p: True}, TypeError, "counted: returned True, a bool"),
        ({"quantity": " "}, TypeError, "quantity: got ' '; accepted: what is counted"),
    ],
)
def test_bad_arguments_are_named(changes: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        claim("LOSS-14").count(**{"quantity": "entries", "counted": entries, "at": AT} | changes)


def test_a_count_is_compared_as_a_whole_number() -> None:
    big = parse("n**20 + 1")
    assert judge(big, [], lambda _: 10**20 + 1, [{n: 10}], counted=True).agrees
    assert not judge(big, [], lambda _: 10**20, [{n: 10}], counted=True).agrees
    assert judge(parse("log(n)/log(2)"), [], lambda _: 3, [{n: 8}], counted=True).agrees


def test_what_needs_numbers_is_no_typed_formula() -> None:
    assert typed_formula(pairs, [d, n]) is None
    assert typed_formula(lambda p: comb(p[n], 2), [n]) is None
    assert typed_formula(entries, [d, n]) is None
    assert typed_formula(lambda p: 15, [d, n]) is None
