"""What one layer of every library starts with is what was recorded, and the page says it."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import one_layer
import pytest
import torch
import transformers
from one_layer import LIBRARIES, SHAPES

KNOWN: dict[str, Any] = json.loads(one_layer.RESULT.read_text(encoding="utf-8"))
FOUND = {name: told for name, told in KNOWN["libraries"].items() if "error" not in told}
KINDS = ("dense", "table")


def apart(told: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """What of two recordings of a library is not the same draw, by layer and shape."""
    found = []
    for kind in KINDS:
        for shape, one in told[kind]["shapes"].items():
            two = other[kind]["shapes"][shape]
            room = 6 * math.hypot(one["error"], two["error"])
            if abs(one["deviation"] - two["deviation"]) > room:
                found.append(f"{kind} {shape}: {one['deviation']} {two['deviation']}")
            found += [f"{kind} {shape}: {one[what]} {two[what]}" for what in ("law", "bias")
                      if one[what] != two[what]]  # fmt: skip
    return found


def test_the_recording_is_of_these_lines_and_of_eight_libraries_or_more() -> None:
    stale = [name for name in LIBRARIES if KNOWN["libraries"][name]["key"] != LIBRARIES[name].key]
    assert stale == [], "python bench/one_layer.py, and the names of these"
    others = {name.split(",")[0] for name in FOUND} - {"PyTorch", "transformers"}
    assert len(others) >= 8
    assert (one_layer.BOOK / "one-layer.txt").read_text("utf-8") == one_layer.page(KNOWN)


@pytest.mark.parametrize("name", ["PyTorch", "transformers"])
def test_the_libraries_that_are_here_draw_what_was_recorded(name: str) -> None:
    here = {"torch": torch.__version__, "transformers": transformers.__version__}
    other = {key: (told, here[key]) for key, told in FOUND[name]["versions"].items()
             if key in here and told.split("+")[0] != here[key].split("+")[0]}  # fmt: skip
    if other:
        pytest.skip(f"recorded with other versions: {other}")
    assert apart(FOUND[name], one_layer.drawn(LIBRARIES[name], sys.executable)) == []


@pytest.mark.canary
def test_another_start_than_the_recorded_one_is_seen() -> None:
    told = json.loads(json.dumps(FOUND["PyTorch"]))
    told["table"]["shapes"]["1000 64"]["deviation"] *= 1.02
    told["dense"]["shapes"]["64 1000"]["law"] = "cut at 2"
    seen = apart(told, FOUND["PyTorch"])
    assert [line.split(":")[0] for line in seen] == ["dense 64 1000", "table 1000 64"]


def test_what_is_kept_of_a_cut_is_the_books_constant() -> None:
    assert math.sqrt(one_layer.kept(2)) == pytest.approx(0.87962566103423978, abs=1e-12)
    torch.manual_seed(0)
    for cut in (1.5, 2, 3):
        drawn = torch.nn.init.trunc_normal_(
            torch.empty(2000, 64), std=0.7, a=-0.7 * cut, b=0.7 * cut
        )
        assert one_layer.law(one_layer.drawn_in(drawn)) == f"cut at {cut:g}"


@pytest.mark.parametrize("name", FOUND)
def test_what_is_due_is_drawn_or_the_page_says_by_how_much_not(name: str) -> None:
    """Those of which the documentation, or the code, does not say what is drawn are known."""
    odd = {
        ("Haiku", "dense"): math.sqrt(one_layer.kept(2)),
        ("Haiku", "table"): math.sqrt(one_layer.kept(2)),
        ("MindSpore", "dense"): 1 / math.sqrt(6),  # a slope of √5, where the default is none
    }
    for kind in KINDS:
        for m, n in SHAPES:
            one = FOUND[name][kind]["shapes"][f"{m} {n}"]
            due = one["asked"] * odd.get((name, kind), 1)
            if (name, kind) == ("unit-scaling", "dense"):
                due = 1.0  # its documentation is PyTorch's
            if (name, kind) == ("TensorLy-Torch", "table"):
                assert one["deviation"] < 0.01 * due
                continue
            assert abs(one["deviation"] - due) < 6 * one["error"], (kind, m, n)


@pytest.mark.nightly  # each gets an environment, which takes minutes
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_draws_today_what_was_recorded(name: str) -> None:
    made = one_layer.made_anew(name)
    if "error" in made:
        pytest.skip(f"{name}: {made['error']}")
    assert name in FOUND, f"{name} runs here: python bench/one_layer.py {name!r} adds it"
    assert apart(FOUND[name], made) == []
