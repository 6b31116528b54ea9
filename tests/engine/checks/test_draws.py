"""A predicate on random draws: the library draws, spoils, and bounds what may happen by chance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from verified_transformer.engine.checks.claim import ClaimFailed, claim
from verified_transformer.seeds import generator

Reading = Callable[..., None]


def rotation(name: str) -> torch.Tensor:
    return torch.linalg.qr(
        torch.randn(5, 5, generator=generator(name), dtype=torch.float64)
    ).Q  # fmt: skip


def keeps_length(Q: torch.Tensor) -> bool:
    return bool(abs((Q @ torch.ones(5).double()).norm() - 5**0.5) < 1e-12)


def one_entry_larger(Q: torch.Tensor) -> torch.Tensor:
    return Q * (1 + 0.01 * (torch.arange(25).view(5, 5) == 7))


def sampled(**changes: Any) -> Any:
    given = {
        "predicate": keeps_length, "draw": rotation, "n": 50, "sees": "an entry off by 1 %",
        "spoiled": one_entry_larger,
    } | changes  # fmt: skip
    return claim("LOSS-14").sampled_that("a rotation keeps lengths", **given)


@pytest.fixture(autouse=True)
def statement(reading: Reading) -> None:
    reading(kind="statement")


def test_a_sampled_record_says_how_many_draws_and_what_they_would_have_caught() -> None:
    record = sampled()
    assert record.kind == "sampled" and record.sample.n == 50
    assert record.line == (
        "LOSS-14 sampled   a rotation keeps lengths   true on every draw, so false on less than "
        "8.8% (99% sure); 50 draws; would have caught an entry off by 1 %   #" + record.hash
    )
    assert record.sample.seeds == ("LOSS-14 reading draw 0 … 49",)


def test_every_draw_has_a_name_of_its_own_and_the_same_on_every_run() -> None:
    names: list[str] = []

    def noted(name: str) -> torch.Tensor:
        names.append(name)
        return rotation(name)

    first = sampled(draw=noted)
    assert len(names) == 51  # each once, and the first again, to see that it depends on its name
    assert len(set(names)) == 50 and all(name.startswith("LOSS-14 reading") for name in names)
    assert sampled(draw=noted).line == first.line


def once_wrong(name: str) -> torch.Tensor:
    return rotation(name) * (2 if name == "LOSS-14 reading draw 17" else 1)


BY_CHANCE = {  # its false alarm is 1.2 %: on one draw it would have passed
    "predicate": lambda sample: bool(abs(sample.mean()) < 2.5 / len(sample) ** 0.5),
    "draw": lambda name: torch.randn(400, generator=generator(name), dtype=torch.float64),
    "sees": "a mean of 0.3", "n": 200, "spoiled": lambda sample: sample + 0.3,
}  # fmt: skip


@pytest.mark.canary
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"predicate": lambda Q: True}, "cannot see an entry off by 1 %: it is true on 50 of 50"),
        ({"spoiled": lambda Q: Q}, "cannot see"),
        ({"spoiled": lambda Q: Q.flip(0)}, "cannot see"),
        ({"predicate": lambda Q: False}, "false on 50 of 50"),
        ({"draw": once_wrong}, r"false on 1 of 50 draws, the first of them .*draw 17"),
        (BY_CHANCE, r"false on \d of 200 draws"),
    ],
    ids=["always true", "spoils nothing", "spoils what it does not see", "always false",
         "false once", "false by chance"],
)  # fmt: skip
def test_a_check_that_is_false_or_cannot_fail_is_caught(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ClaimFailed, match=message):
        sampled(**changes)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"n": 5}, ValueError, "n: got 5; accepted: a whole number, at least 20"),
        ({"n": 50.0}, ValueError, "n: got 50.0"),
        ({"sees": " "}, ValueError, "sees: got ' '; accepted: the effect"),
        ({"draw": rotation("x")}, TypeError, "draw: got a Tensor; accepted: a function of a name"),
        ({"draw": lambda name: torch.eye(5)}, ValueError, "draw: gives the same thing"),
        ({"draw": lambda name: torch.randn(5, 5)}, ValueError, "draw: gives another thing for the"),
        ({"predicate": lambda Q: Q.norm()}, TypeError, "predicate: returned tensor.*True or False"),
        (
            {"predicate": lambda Q: bool(Q.mul_(2).norm())},
            ValueError,
            "predicate: changed the draw",
        ),
        ({"predicate": 3}, TypeError, "predicate: got 3"),
        ({"spoiled": None}, TypeError, "spoiled: got None"),
    ],
)
def test_bad_arguments_are_named(changes: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        sampled(**changes)


@pytest.mark.canary
def test_a_formula_is_not_sampled_by_a_predicate(reading: Reading) -> None:
    reading(kind="statement", formula="2*d")
    with pytest.raises(ValueError, match="has a formula; use prove"):
        sampled()
