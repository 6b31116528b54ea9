"""What is wrong with the live figures of a page: each slider is moved, each curve compared."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import sympy as sp
from playwright.sync_api import Page

from verifiedbook.live_figures.curves import evaluated
from verifiedbook.live_figures.simulated import repeatedly
from verifiedbook.live_figures.tables import interpolated

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


def text_evaluated(
    text: Any, names: Sequence[str], tables: Sequence[dict[str, Any]]
) -> Callable[[Sequence[float]], float]:
    """Return the curve that a figure's data describe in SymPy's words, not in the script's.

    Args:
        text: as `Curve.text`.
        names: of the horizontal axis and of the sliders.
        tables: the figure's.

    Example:
        >>> text_evaluated("2*sigma**2", ["sigma"], [])([3.0])
        18.0
    """
    if isinstance(text, str):
        known = {f"{name}_": sp.Symbol(name) for name in names}  # lambda is a word of Python's
        said = re.sub(rf"\b({'|'.join(names)})\b", r"\1_", text) if names else text
        return evaluated(sp.sympify(said, locals=known), names)
    if "choice" in text:
        place, made = text["choice"], [text_evaluated(one, names, tables) for one in text["of"]]
        return lambda v: made[int(v[place])](v)
    if "iterated" in text:
        once = text_evaluated(text["iterated"], [*names, text["state"]], tables)
        return repeatedly(once, text["start"])
    if "table" in text:
        return lambda v: interpolated(tables[text["table"]], v)
    return lambda v: math.exp(interpolated(tables[text["exp of table"]], v))
