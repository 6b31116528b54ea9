"""Drawings: the kit's rules, and every drawing and chart of the book, looked at in a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from verifiedbook.drawings import ROLES, Drawing, Panel, marks

ROOT = Path(__file__).parents[2]
SMALLEST = 11.0  # pixels of a letter on a screen

# Letters that are too small, texts that leave their panel, and texts that lie on each other.
LOOK = """smallest => [...document.querySelectorAll(".vt-drawing svg")].flatMap(svg => {
  const frame = svg.getBoundingClientRect(), scale = frame.width / svg.viewBox.baseVal.width;
  const texts = [...svg.querySelectorAll("text")]
    .map(t => [t.textContent, t.getBoundingClientRect()]);
  const small = [...svg.querySelectorAll("text, tspan")]
    .filter(t => parseFloat(getComputedStyle(t).fontSize) * scale < smallest)
    .map(t => "small: " + t.textContent);
  const out = texts.filter(([, b]) => b.left < frame.left - 0.5 || b.right > frame.right + 0.5
    || b.top < frame.top - 1 || b.bottom > frame.bottom + 1).map(([t]) => "outside: " + t);
  const over = texts.flatMap(([t, a], i) => texts.slice(i + 1)
    .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
    .map(([u]) => "overlap: " + t + " / " + u));
  return [...small, ...out, ...over];
}).concat(document.documentElement.scrollWidth > window.innerWidth ? ["too wide"] : [])"""


def shown_in_notebooks() -> dict[str, str]:
    """The drawings and charts that the notebooks show, by notebook and cell."""
    return {
        f"{path.stem} {cell['id']}": "".join(output["data"]["text/html"])
        for path in sorted((ROOT / "notebooks").glob("*/*.ipynb"))
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", [])
        if "".join(output.get("data", {}).get("text/html", "")).startswith(
            '<figure class="vt-drawing'
        )
    }


def faults(browser: Browser, width: int, shown: list[str]) -> list[str]:
    """What is wrong with drawings in a column of a width, in words."""
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.set_content(
        '<!doctype html><meta name="viewport" content="width=device-width">'
        f'<body style="margin:0 16px;max-width:720px">{"".join(shown)}</body>'
    )
    found: list[str] = page.evaluate(LOOK, SMALLEST)
    page.close()
    return found


@pytest.mark.parametrize("width", [1280, 360])
def test_every_drawing_can_be_read(browser: Browser, width: int) -> None:
    shown = shown_in_notebooks()
    assert len(shown) > 90
    assert faults(browser, width, [*shown.values()]) == []


@pytest.mark.canary
def test_a_drawing_that_cannot_be_read_is_found(browser: Browser) -> None:
    small = marks.text(150, 60, "letters").replace('font-size="15"', 'font-size="10"')
    bad = Panel(
        300, 100, small, marks.text(290, 20, "too far right"),
        marks.text(60, 80, "one text"), marks.text(70, 84, "another"),
    )  # fmt: skip
    drawn = Drawing((bad,), "A bad drawing.", "Nothing to see here.")
    found = faults(browser, 360, [drawn.html()])
    assert found == [
        "small: letters", "outside: too far right", "overlap: one text / another",
    ]  # fmt: skip


def test_a_drawing_needs_no_names_or_scripts_and_says_in_text_what_it_shows() -> None:
    for where, html in shown_in_notebooks().items():
        assert not re.search(r"\bid=|<script|url\(|https?:", html), where
        numbers = " ".join(re.findall(r'(?<!opacity)="([\d .MLQAZh-]+)"', html))
        assert not re.search(r"\d\.\d{2,}", numbers), f"{where}: coordinates are rounded"
        assert len(html) < 30_000, where
    bundle = Drawing((Panel(9, 9, "x"),), "Two sentences.", "Nothing to see.")._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"] == "[drawing] Two sentences."


def test_the_style_sheet_knows_every_role_in_light_dark_and_print() -> None:
    css = (ROOT / "book/_static/drawings.css").read_text(encoding="utf-8")
    for name in set(ROLES) - {"quiet"}:
        assert css.count(f"--vtd-{name}: #") == 3, name
        assert f".vtd-{name} {{ fill: var(--vtd-{name}); stroke: var(--vtd-{name}); }}" in css


def test_two_panels_need_a_caption_and_words() -> None:
    panel = Panel(100, 50, marks.line((0, 0), (9, 9)))
    with pytest.raises(ValueError, match="caption: got ''; accepted: a sentence"):
        Drawing((panel,), "", "A line from one corner.")
    with pytest.raises(ValueError, match="alt: got 'A line'; accepted: a sentence"):
        Drawing((panel,), "A line, to begin with.", "A line")
    with pytest.raises(ValueError, match="panels: got 4; accepted: one to three"):
        Drawing((panel,) * 4, "A line, to begin with.", "A line from one corner.")


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="width: got 640; accepted: at most 320"):
        Panel(640, 100, marks.line((0, 0), (9, 9)))
    with pytest.raises(ValueError, match="marks: got none"):
        Panel(100, 100)
    with pytest.raises(ValueError, match="role: got 'red'; accepted: input, weight"):
        marks.box(0, 0, 9, 9, role="red")
    with pytest.raises(ValueError, match="hatch: got 'grid'; accepted: plain"):
        marks.box(0, 0, 9, 9, fill="grid")
    with pytest.raises(ValueError, match="size: got 8; accepted: 12"):
        marks.text(0, 0, "small", size=8)
    with pytest.raises(ValueError, match="anchor: got 'left'"):
        marks.text(0, 0, "x", anchor="left")
    with pytest.raises(ValueError, match="points: got 1; accepted: two or more"):
        marks.arrow((0, 0))
