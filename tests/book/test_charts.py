"""Charts: what they tell is what they show, and what they cannot show they refuse."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser
from test_drawings import faults

from verified_transformer.book import drawings
from verifiedbook.drawings import Chart

SAID = "A caption of the chart under test."
CHARTS = (
    drawings.bars({"GPT-2 124M": (5.4, 5.5), "Qwen2.5 0.5B": (9.1, 14.1)}, SAID,
                  series=("counted", "rule (1)"), form="{:.1f}", unit="layers"),
    drawings.bars({"plain": 24, "built": 3894}, SAID, log=True, form="{:.0f} ms", unit="time"),
    drawings.bars({"a": 3.0, "b": 2.0}, SAID, kinds={"a": "tied", "b": "untied"}),
    drawings.bars({"own": -0.25, "a label too long for a column": 8}, SAID, form="{:+.2f}"),
    drawings.predicted_and_measured({"*σ* = 0.02": (11, 11, 0.1), "*σ* = 1": (394.8, 117.4, 2)},
                                    SAID, log=True, form="{:.1f}", unit="nats"),
    drawings.profiles({"forward": {"a": [1, 2, 4], "b": [1, 1, 1.01]}, "back": {"a": [4, 2, 1]}},
                      SAID, log=True, named_first=("back",)),
    drawings.profiles({"": {"relu": [0.3, 0.8, 0.95], "linear": [0.0, -0.1, 0.02]}}, SAID,
                      at=[8, 768, 3072], log_x=True, ticks=(8, 768), rules={"alike": 1}),
    drawings.predicted_and_measured({"layer 1": (0.425, 0.416, 0.005)}, SAID, log=True,
                                    ticks=(0.2, 0.3, 0.5)),
    drawings.heat({"*q*_{1}": (0.9, 0.1), "*q*_{2}": (0.2, 0.5)}, SAID, columns=("it", "was")),
    drawings.answers({".half()": (True, False, None)}, SAID, columns=("kept", "shared", "moved")),
)  # fmt: skip


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.told[0])
def test_a_chart_shows_every_number_that_it_tells_and_says_it_to_a_screen_reader(
    chart: Chart,
) -> None:
    shown, told = re.sub("<[^>]+>", " ", chart.html()), repr(chart).splitlines()
    assert told == [f"[chart] {SAID}", *chart.told]
    for line in chart.told:
        assert line in chart.alt
        if "at " not in line:  # a curve is told at three of its points
            for number in re.findall(r"[−+]?\d+\.\d+", line.split(":", 1)[1].split("±")[0]):
                assert number in shown, (line, number)


@pytest.mark.parametrize("width", [1280, 360])
def test_letters_of_charts_are_large_inside_and_apart(browser: Browser, width: int) -> None:
    assert faults(browser, width, [chart.html() for chart in CHARTS]) == []


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: drawings.bars({}, SAID), "rows: got none"),
        (lambda: drawings.bars({"a": (1, 2)}, SAID), "rows: got 2 numbers of 'a'; accepted: 1"),
        (lambda: drawings.bars({"a": float("nan")}, SAID), "rows: got nan"),
        (lambda: drawings.bars({"a": 0.0}, SAID, log=True), "log: got 0.0"),
        (lambda: drawings.bars({"a": 1.0}, SAID, kinds={"b": "tied"}), "kinds: got ['b']"),
        (lambda: drawings.bars({"a" * 60: 1.0}, SAID), "rows: got the label"),
        (lambda: drawings.predicted_and_measured({"a": (1,)}, SAID), "accepted: two or three"),
        (lambda: drawings.profiles({"a": {"b": [1, 2], "c": [1]}}, SAID), "panels: got curves"),
        (lambda: drawings.profiles({"a": {"b": [1, 2]}}, SAID, at=[1, 2, 3]), "that of at, 3"),
        (
            lambda: drawings.profiles({str(k): {"b": [1, 2]} for k in range(4)}, SAID),
            "three panels",
        ),
        (lambda: drawings.profiles({"": {"b": [1, 2]}}, SAID, ticks=(3,)), "ticks: got [3]"),
        (lambda: drawings.profiles({"": {"b": [1, 2]}}, SAID, named_first=("a",)), "got ['a']"),
        (lambda: drawings.heat({"a": (1,)}, SAID, columns=("b", "c")), "rows: got 1 of 'a'"),
        (lambda: drawings.answers({}, SAID, columns=()), "rows: got none"),
        (lambda: drawings.bars({"a": 1.0}, "short"), "caption: got 'short'"),
    ],
)
def test_what_a_chart_cannot_show_is_refused_by_name(made: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        made()
