"""Random draws: arrays that are equal, and predicates that are true on all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from verifiedbook.checks.claim import ClaimFailed, claim
from verifiedbook.checks.layouts import layouts
from verifiedbook.seeds import generator

LAYOUTS = layouts((3, 4))


def weights(name: str) -> torch.Tensor:
    return torch.randn(3, 4, 4, generator=generator(name), dtype=torch.float64)


def stepwise(w: torch.Tensor) -> torch.Tensor:
    return (w[1] @ (w[0] @ w[2]))[:3]


def at_once(w: torch.Tensor) -> torch.Tensor:
    return (w[1] @ w[0] @ w[2])[:3]


def same(first: Any = stepwise, second: Any = at_once, **changes: Any) -> Any:
    return claim("LOSS-14").same("two layers in one", first, second, **{"draw": weights} | changes)


@pytest.fixture(autouse=True)
def equation(reading: Callable[..., None]) -> None:
    reading(kind="equation")


def test_equal_arrays_are_the_same() -> None:
    record = same()
    assert record.kind == "equality" and record.mutants.total == len(LAYOUTS)
    assert record.line == (
        "LOSS-14 equality   two layers in one   16/16 wrong versions differ; 20 draws; would have "
        f"caught a relative difference of 1e-10   #{record.hash}"
    )
    assert same().line == record.line


@pytest.mark.canary
@pytest.mark.parametrize("name", LAYOUTS)
def test_no_other_layout_is_the_same(name: str) -> None:
    with pytest.raises(ClaimFailed, match=r"LOSS-14 .* not equal: two layers in one"):
        same(second=lambda w: LAYOUTS[name](at_once(w), "wrong"))


@pytest.mark.canary
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda w: w.mul_(2), lambda w: w.clone()),
        (lambda w: w, lambda w: w.mul_(2)),
        (lambda w: w.mul_(2), lambda w: w.mul_(1)),
    ],
    ids=["the first", "the second", "both"],
)
def test_a_draw_that_is_changed_in_place_makes_nothing_equal(first: Any, second: Any) -> None:
    with pytest.raises(ClaimFailed, match="not equal: two layers in one"):
        same(first, second)


def test_what_the_first_takes_out_of_a_draw_is_there_for_the_second() -> None:
    def pair(name: str) -> list[torch.Tensor]:
        return [weights(name), weights(name)]

    assert same(lambda pair: pair.pop(), lambda pair: pair[1] + 0, draw=pair).kind == "equality"


def test_every_layout_changes_the_array_and_keeps_its_shape() -> None:
    for shape in ((), (1,), (2,), (5,), (2, 2), (3, 4), (2, 3, 4)):
        x = torch.randn(shape, generator=generator("x"), dtype=torch.float64) + 3
        for name, make in layouts(shape).items():
            assert make(x, "y").shape == x.shape and not torch.equal(make(x, "y"), x), name


def test_noise_at_right_angles_leaves_the_mixed_moment() -> None:
    x = stepwise(weights("x"))
    y = LAYOUTS["noise at right angles"](x, "y")
    assert abs((x * y).sum() / (x * x).sum() - 1) < 1e-12 and (x - y).norm() > 0.009 * x.norm()


def gram(w: torch.Tensor) -> torch.Tensor:
    return w[0].T @ w[0]


def gram_by_rows(w: torch.Tensor) -> torch.Tensor:
    return torch.einsum("ij,ik->jk", w[0], w[0])


def ones(w: torch.Tensor) -> torch.Tensor:
    return torch.ones(3, 4).double()


@pytest.mark.canary
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"first": gram, "second": gram_by_rows},
         "wrong versions are equal: transposed; take other draws"),
        ({"first": ones, "second": lambda w: ones(w)},
         "wrong versions are equal: tiled along axis 0"),
        ({"second": lambda w: at_once(w) * (1 + 1e-9)}, "is 1e-09 of the array's, over 20 draws"),
    ],
    ids=["symmetric", "shows nothing", "differs by little"],
)  # fmt: skip
def test_what_is_not_equal_or_shows_nothing_is_caught(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ClaimFailed, match=message):
        same(**changes)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"first": weights("x")}, TypeError, "first: got a Tensor; accepted: a function of a draw"),
        ({"second": lambda w: 3.0}, TypeError, "second: returned float; accepted: a torch tensor"),
        ({"second": lambda w: at_once(w).float()}, TypeError, "second: returned torch.float32"),
        ({"second": lambda w: at_once(w).T}, ValueError, r"returned shape \(4, 3\); accepted: fir"),
        ({"second": lambda w: at_once(w) / 0}, ValueError, "second: is not finite on 'LOSS-14"),
        ({"first": lambda w: 0 * stepwise(w)}, ValueError, "first: is zero on every draw"),
        ({"second": stepwise}, ValueError, "second: is the first function"),
        (
            {"first": lambda w: at_once(w), "second": lambda w: at_once(w)},
            ValueError,
            "second: is the first function; accepted: another way",
        ),
        ({"n": 3}, ValueError, "n: got 3"),
        ({"draw": lambda name: torch.ones(3, 4, 4)}, ValueError, "draw: gives the same thing"),
    ],
)
def test_bad_arguments_are_named(changes: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        same(**changes)


@pytest.mark.canary
def test_a_formula_is_not_decided_by_arrays(reading: Callable[..., None]) -> None:
    reading(kind="equation", formula="2*d")
    with pytest.raises(ValueError, match="has a formula; use prove"):
        same()


def test_functions_that_hold_other_things_are_two() -> None:
    first, second = (lambda w, way=way: way(w) for way in (stepwise, at_once))
    assert same(first, second).kind == "equality"
    with pytest.raises(ValueError, match="second: is the first function"):
        same(*(lambda w, way=at_once: way(w) for _ in range(2)))


# ------------------------------------------------------------------ a predicate on random draws


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
def test_bad_arguments_of_a_sample_are_named(
    changes: dict[str, Any], error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        sampled(**changes)


@pytest.mark.canary
def test_a_formula_is_not_sampled_by_a_predicate(reading: Callable[..., None]) -> None:
    reading(kind="statement", formula="2*d")
    with pytest.raises(ValueError, match="has a formula; use prove"):
        sampled()
