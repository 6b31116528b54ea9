"""An imitated processor moves last digits, the same ones each time, and nothing that is exact."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from verifiedbook.commands.notebooks.other_processor import VARIABLE, environment

# What is exact, what is rounded, and the state of the global draws.
CALLS = """
import json, os, sys, threading
import torch
from torch import nn
from verifiedbook.commands.notebooks import other_processor
def calls():
    source = torch.Generator().manual_seed(1)
    def some(*sizes, dtype=torch.float32):
        return torch.rand(sizes, dtype=dtype, generator=source) - 0.5
    whole = torch.randint(-9, 10, (64, 64), generator=source).float()
    large = torch.randint(-9, 10, (200, 99), generator=source).float()
    many = some(200, 99)
    a, x = some(64, 64), some(2, 3, 16, 16).requires_grad_()
    norm = nn.functional.layer_norm(x, (16,))
    attended = nn.functional.scaled_dot_product_attention(x, norm, x)
    attended.pow(2).mean().backward()
    beside = []
    thread = threading.Thread(target=lambda: beside.append(a @ a))
    thread.start(), thread.join()
    places = torch.tensor([0, 1, 0, 2, 1, 0, 2, 2])
    exact = [whole @ whole, large @ large.T, large.sum(0), large.sum(), whole.sum(),
             whole.mean(0), whole.softmax(0) * 0,
             torch.zeros(3, 64).index_add(0, places, whole[:8]), torch.rand(9), torch.randn(0),
             a + a, a * a, a.sqrt(), a / 3, torch.zeros(3).exp(), torch.full((3,), 99.0).tanh()]
    moved = {
        "product": a @ a, "double product": a.double() @ some(64, 64, dtype=torch.float64),
        "large product": many @ many.T, "large softmax": many.softmax(1), "power": 10000.0 ** a,
        "large sum": many.sum(1), "large log": many.log_softmax(0),
        "softmax": a.softmax(1), "sum": a.sum(1), "norm": a.norm(dim=1), "exp": a.exp(),
        "batches": torch.func.vmap(lambda row: row @ a)(a), "attention": attended,
        "layer norm": norm, "gradient": x.grad, "normal": torch.empty(99).normal_(generator=source),
        "convolution": nn.functional.conv1d(a[None], a[:, :, None]), "logsumexp": a.logsumexp(0),
        "thread": beside[0],
    }
    state = torch.get_rng_state().sum().item()
    return [[t.tolist() for t in exact], {n: t.tolist() for n, t in moved.items()}, state]
torch.manual_seed(0)
for variables in json.loads(sys.argv[1]):
    if os.fork() == 0:
        os.environ.update(variables)
        other_processor.install()
        print(json.dumps(calls()), flush=True)
        os._exit(0)
    os.wait()
"""


def results(*environments: dict[str, str], start: dict[str, str]) -> list[Any]:
    """What each environment makes of the calls, in forks of one process that has torch."""
    plain = {name: value for name, value in os.environ.items() if name != VARIABLE}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", CALLS, json.dumps(environments)],
        env={**plain, **start}, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def flat(values: Any) -> list[float]:
    return (
        [one for value in values for one in flat(value)] if isinstance(values, list) else [values]
    )


def farthest(one: Any, other: Any) -> float:
    return max(abs(a - b) for a, b in zip(flat(one), flat(other), strict=True))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_what_is_rounded_moves_a_little_and_nothing_else() -> None:
    drawn = [environment(7), environment(8), environment(7, loud=True)]
    (exact, plain, state), seven, eight, loud = results({}, *drawn, start={})
    assert seven[0] == eight[0] == exact
    assert seven[2] == state
    assert seven[1] != eight[1]
    for name, values in plain.items():
        largest = max(map(abs, flat(values)))
        unit = largest * 2.0 ** (-52 if name.startswith("double") else -23)
        assert 0 < farthest(values, seven[1][name]) <= 8 * unit, name
        assert 1e-5 * largest < farthest(values, loud[1][name]) < 1e-3 * largest, name
    (again,) = results({}, start=environment(7))
    assert again == seven
