"""Bad input to the public functions of the laboratory: the error names the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp
import torch

from verified_transformer import book, generator, half_line_power, symbols
from verified_transformer.book.tying.first_losses import losses_by_turn

σ = symbols("sigma")
x = sp.Symbol("x")
SLIDER = book.slider(σ, "standard deviation σ", 0, 1, start=0.5)


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
    "a vocabulary of one": (
        lambda: losses_by_turn(1, 8, [1.0], [torch.neg]), ValueError, "n: got 1; accepted: 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_named(name: str) -> None:
    call, error, says = CASES[name]
    with pytest.raises(error, match=says):
        call()
