"""What is wrong with the live figures of a page: each slider is moved, each curve compared."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page

from verified_transformer.book.live_figures import text_evaluated

TOLERANCE = 1e-6  # relative
# Moves every slider and list of every figure to its ends and in between, and returns its data and,
# for each setting, ten points of each curve as they are drawn; of a pile, what is predicted.
MOVED = """() => [...document.querySelectorAll("vt-live, vt-pile")].map(figure => {
  const settings = [], pile = figure.localName === "vt-pile";
  const look = () => settings.push({
    at: [...figure.at],
    drawn: pile ? figure.values.slice(1).map(v => [[figure.at[0], v]])
      : figure.drawn.map(points => Array.from({length: 10},
        (_, k) => points[Math.round((points.length - 1) * (k + 0.5) / 10)])),
  });
  const put = (input, value) => {
    input.value = value;
    input.dispatchEvent(new Event("input", {bubbles: true}));
  };
  look();
  for (const slider of figure.spec.sliders) {
    const last = slider.names ? slider.names.length - 1 : Number(slider.input.max);
    const before = slider.input.value;
    for (const value of new Set([0, Math.round(last * 0.37), last])) {
      const heap = String(figure.pile?.bins), where = String(figure.at.slice(1));
      const stack = figure.stack;
      put(slider.input, value);
      if (figure.spec.layers && where !== String(figure.at.slice(1)) && stack === figure.stack)
        settings.push({stuck: "the stack"});
      if (pile && value && String(figure.pile.bins) === heap) settings.push({stuck: "the pile"});
      if (slider.input.value !== String(value)) settings.push({stuck: slider.label});
      look();
    }
    put(slider.input, before);
  }
  for (const button of figure.querySelectorAll(".vt-live-presets button")) {
    button.click();
    if (button.getAttribute("aria-pressed") !== "true") settings.push({stuck: button.textContent});
    look();
  }
  const {sliders, curves, tables} = figure.spec;
  return {settings, tables, curves: curves.slice(+pile).map(({name, text}) => ({name, text})),
          names: sliders.map(slider => slider.name)};
})"""

SMALLEST = 11  # px, of a letter
LETTERS = """() => Math.min(...[...document.querySelectorAll(".vt-live :is(text, p, li)")]
  .filter(e => e.getClientRects().length && e.textContent)
  .map(e => parseFloat(getComputedStyle(e).fontSize) *
    (e.ownerSVGElement ? e.getScreenCTM().a : 1)))"""


def live_faults(page: Page) -> tuple[int, list[str]]:
    """Move every slider of a page, compare what is drawn with Python, and measure its letters.

    Args:
        page: with its figures in place.

    Returns:
        How many figures there are, and what is wrong, in words.
    """
    figures = page.evaluate(MOVED)
    found = [fault for figure in figures for fault in _faults(figure)]
    if figures and (letters := page.evaluate(LETTERS)) < SMALLEST:
        found.append(f"letters of {letters:.1f} px, smaller than {SMALLEST}")
    return len(figures), found


def _faults(figure: dict[str, Any]) -> Iterator[str]:
    names, tables = figure["names"], figure["tables"]
    in_python = [text_evaluated(c["text"], names, tables) for c in figure["curves"]]
    for setting in figure["settings"]:
        if "stuck" in setting:
            yield f"{setting['stuck']}: does not move"
            continue
        rest = setting["at"][1:]
        for curve, value, points in zip(figure["curves"], in_python, setting["drawn"], strict=True):
            wanted = [value([x, *rest]) for x, _ in points]
            scale = max((abs(v) for v in wanted if math.isfinite(v)), default=0.0)
            for (x, y), right in zip(points, wanted, strict=True):
                y = math.nan if y is None else y
                if math.isnan(y) and math.isnan(right):
                    continue
                if not abs(y - right) <= TOLERANCE * max(abs(right), 1e-3 * scale):
                    at = dict(zip(names, [x, *rest], strict=True))
                    yield f"{curve['name']}: drawn {y}, in Python {right}, at {at}"
                    break
