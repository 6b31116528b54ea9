"""Bad input to the public functions of the laboratory: the error names the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp
import torch

from verified_transformer import (
    Index,
    Normal,
    Tensor,
    book,
    generator,
    half_line_power,
    mean,
    symbols,
)
from verified_transformer.book.drawings.charts.chart import label_width
from verified_transformer.book.drawings.palette import hatch, role_of
from verified_transformer.book.live_figures.measured import placed
from verified_transformer.book.live_figures.translation import formula_of, script_of
from verified_transformer.book.tying.first_losses import losses_by_turn

σ, d = symbols("sigma d")
x = sp.Symbol("x")
POINTS = [book.points_of("curve", (1.0,), [1.0], [0.1])]
SLIDER = book.slider(σ, "standard deviation σ", 0, 1, start=0.5)


def squared(law_of: Any) -> Any:
    entry = Tensor("w", Normal(0, law_of), 2)
    return mean(entry[Index("i", 2)] ** 2)


CASES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a generator for nothing": (lambda: generator(""), ValueError, "name: got ''; accepted"),
    "no panel": (lambda: book.figure("x", "y", panels=0), ValueError, "panels: got 0; accepted"),
    "a point without an error": (
        lambda: book.measured(None, [1, 2], [1, 2], [1], "drawn"), ValueError, "got 2, 2, 1 numb",
    ),
    "no builder": (lambda: book.on_meta(torch.nn), TypeError, "build: got module; accepted"),
    "no auto-class": (
        lambda: book.of_kind("gpt2", auto="ForNothing"), ValueError, "auto: got 'ForNothing'",
    ),
    "an unknown kind": (lambda: book.of_kind("gpt0"), ValueError, "gpt0"),
    "weights for a module": (
        lambda: book.randomised(torch.ones(2), "a name"), TypeError, "module: got Tensor; accepted",
    ),
    "a negative spread": (
        lambda: book.randomised(torch.nn.Linear(2, 2), "a name", scale=-1.0), ValueError,
        "scale: got -1.0; accepted",
    ),
    "a live figure of nothing": (
        lambda: book.live({}, x=SLIDER, y="loss", caption="", alt=""), ValueError, "accepted",
    ),
    "a stack without units": (
        lambda: book.stack(x, unit=x, state=sp.Function("h"), drawn={}, units=0), ValueError,
        "units: got 0; accepted",
    ),
    "an integral without end": (lambda: half_line_power(-1), ValueError, "s: got -1; accepted"),
    "a label wider than a phone": (
        lambda: label_width(["wide " * 40], 100.0), ValueError, "rows: got the label 'wide",
    ),
    "no such role": (lambda: role_of("villain"), ValueError, "role: got 'villain'; accepted"),
    "no such hatch": (lambda: hatch("waves", 0, 0, 9, 9), ValueError, "hatch: got 'waves'"),
    "points of no curve": (
        lambda: placed(POINTS, ["another"], [SLIDER]), ValueError, "measured: points of 'curve'",
    ),
    "a list for a curve": (lambda: formula_of([1], "curves"), TypeError, "curves: got"),
    "a symbol that nothing moves": (
        lambda: script_of(x + d, ["x"], "curves"), ValueError, "curves: has d, which nothing moves",
    ),
    "a vocabulary of one": (
        lambda: losses_by_turn(1, 8, [1.0], [torch.neg]), ValueError, "n: got 1; accepted: 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_named(name: str) -> None:
    call, error, says = CASES[name]
    with pytest.raises(error, match=says):
        call()
