"""Drawings: the kit's rules, and every drawing of the book, looked at in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import machine
import pytest
from playwright.sync_api import Browser, sync_playwright
from test_browser import CHROMIUM, FLAGS

from verified_transformer.book import drawings
from verified_transformer.book.drawings import ROLES, Drawing, Panel, labels, marks, palette

CHARTS = {"answers", "bars", "heat", "predicted_and_measured", "profiles", "shares"}
NAMES = sorted(n for n in drawings.__all__ if n[0].islower() and n not in CHARTS)
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine; `make browser` installs it where it can")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=CHROMIUM, args=FLAGS, timeout=machine.patient(60) * 1000
        )
        yield found
        found.close()


def faults(browser: Browser, width: int, shown: list[Drawing]) -> list[str]:
    """What is wrong with drawings in a column of a width, in words."""
    page = browser.new_page(viewport={"width": width, "height": 800})
    body = "".join(drawing.html() for drawing in shown)
    page.set_content(
        '<!doctype html><meta name="viewport" content="width=device-width">'
        f'<body style="margin:0 16px;max-width:720px">{body}</body>'
    )
    found: list[str] = page.evaluate(LOOK, SMALLEST)
    page.close()
    return found


@pytest.mark.parametrize("width", [1280, 360])
def test_every_drawing_can_be_read(browser: Browser, width: int) -> None:
    assert faults(browser, width, [getattr(drawings, name)() for name in NAMES]) == []


@pytest.mark.canary
def test_a_drawing_that_cannot_be_read_is_found(browser: Browser) -> None:
    small = marks.text(150, 60, "letters").replace('font-size="15"', 'font-size="10"')
    bad = Panel(
        300, 100, small, marks.text(290, 20, "too far right"),
        marks.text(60, 80, "one text"), marks.text(70, 84, "another"),
    )  # fmt: skip
    found = faults(browser, 360, [Drawing((bad,), "A bad drawing.", "Nothing to see here.")])
    assert found == [
        "small: letters", "outside: too far right", "overlap: one text / another",
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_drawing_is_the_same_each_time_and_needs_no_names_or_scripts(name: str) -> None:
    make = getattr(drawings, name)
    html = make().html()
    assert html == make().html()
    assert not re.search(r"\bid=|<script|url\(|https?:", html)
    numbers = " ".join(re.findall(r'="([\d .MLQAZh-]+)"', html))
    assert not re.search(r"\d\.\d{2,}", numbers), "coordinates are rounded"
    assert len(html) < 20_000
    bundle = make()._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"].startswith("[drawing] ")


def test_the_style_sheet_knows_every_role_in_light_dark_and_print() -> None:
    from pathlib import Path

    css = (Path(__file__).parents[2] / "book/_static/drawings.css").read_text(encoding="utf-8")
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


def test_a_hatch_stays_in_its_rectangle_and_out_of_the_middle() -> None:
    for kind in palette.HATCHES[1:]:
        points = re.findall(r"[ML]([\d.]+) ([\d.]+)", palette.hatch(kind, 10, 20, 40, 30))
        assert points
        assert all(10 <= float(x) <= 50 and 20 <= float(y) <= 50 for x, y in points)
    free = palette.hatch("dots", 0, 0, 40, 40, clear=(20, 20))
    inside = [(x, y) for x, y in re.findall(r"M([\d.]+) ([\d.]+)", free)
              if 10 < float(x) < 30 and 10 < float(y) < 30]  # fmt: skip
    assert inside == []


def test_labels_know_symbols_and_what_stands_below_and_above() -> None:
    assert labels.as_html("*W*_{q}<b>") == "<i>W</i><sub>q</sub>&lt;b&gt;"
    assert labels.as_text("*q*^{2} + 1") == "q2 + 1"
    assert 'dy="3.9"' in labels.text(0, 0, "*x*_{0} y")
    assert 'dy="-3.9"' in labels.text(0, 0, "*x*_{0} y")


def test_the_grown_matrix_computes_what_its_words_say() -> None:
    a, b, c, d, p, q = 2.0, 3.0, 5.0, 7.0, 11.0, 13.0
    grown = [[v / 2 for v in row for _ in range(2)] for row in ((a, b), (c, d)) for _ in range(2)]
    wide = [p, p, q, q]
    found = [sum(w * x for w, x in zip(row, wide, strict=True)) for row in grown]
    assert found == [a * p + b * q] * 2 + [c * p + d * q] * 2
