"""What stands around the pages: how heavy they are, and whether everybody can read them."""

from __future__ import annotations

import importlib
import json
import random
import re
from collections.abc import Iterable
from pathlib import Path

import around_gates
import pytest
from playwright.sync_api import Browser
from test_browser import Tab

ROOT = Path(__file__).parent.parent
CANARIES = Path(__file__).parent / "canaries" / "browser"
SECTION = "notebooks/1-initialisation/1-sampling-laws.html"
SAMPLE = ("book/welcome.html", "book/bibliography.html", "claims/LOSS-14.html", SECTION)


def test_pages_are_light(html: Path) -> None:
    assert not around_gates.heavy_pages(html)
    assert not [line for page in SAMPLE for line in around_gates.heavy_load(html, page)]


@pytest.mark.canary
def test_a_heavy_section_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "notebooks" / "1"
    folder.mkdir(parents=True)
    heavy = around_gates.PAGE_KB + 1
    (folder / "a.html").write_bytes(random.Random(1).randbytes(1000 * heavy))
    assert around_gates.heavy_pages(tmp_path) == [f"the median section has {heavy} KB of HTML"]


@pytest.mark.canary
def test_a_heavy_script_is_found(tmp_path: Path) -> None:
    (tmp_path / "icons.js").write_bytes(random.Random(1).randbytes(300_000))
    (tmp_path / "a.html").write_text('<script src="icons.js?v=1"></script>', encoding="utf-8")
    (line,) = around_gates.heavy_load(tmp_path, "a.html")
    assert line == "a.html: 300 KB of style sheets and scripts, most of all icons.js"


def test_every_figure_has_its_number_and_a_caption(html: Path) -> None:
    assert not around_gates.unnumbered(html)


@pytest.mark.canary
def test_a_plot_without_a_caption_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "notebooks" / "1"
    folder.mkdir(parents=True)
    (folder / "a.html").write_text(
        '<article><figure><figcaption><span class="vt-number">Figure 1.1.2</span> x</figcaption>'
        '</figure><div class="cell_output"><img src="a.png"></div></article>',
        encoding="utf-8",
    )
    assert around_gates.unnumbered(tmp_path) == [
        "notebooks/1/a.html: figure 1 has Figure 1.1.2",
        "notebooks/1/a.html: a plot without a caption",
    ]


def test_every_page_says_what_it_is_about(html: Path) -> None:
    assert not around_gates.undescribed(html)
    listed = re.findall(r"<loc>(.*?)</loc>", (html / "sitemap.xml").read_text(encoding="utf-8"))
    assert len(listed) == len(set(listed)) > 350 and all(a.startswith("https://") for a in listed)
    assert [a for a in listed if a.endswith("/claims/LOSS-14.html")]
    assert (html / "_static/card.png").exists()


def test_the_page_for_a_lost_reader_works_anywhere(html: Path) -> None:
    text = (html / "404.html").read_text(encoding="utf-8")
    links = re.findall(r'href="([^"]*)"', text)
    base = re.match(r"https://[^/]+/[^/]+/", links[0])[0]
    assert len(links) == 3 and all((html / link.removeprefix(base)).exists() for link in links)
    assert not re.search(r"<(link|img)| src=", text)
    moved = json.loads(re.search(r"entries\((.*?)\)\)", text)[1])
    pages = {page.relative_to(html / "notebooks").as_posix() for page in html.rglob("*/*/*.html")}
    assert len(moved) == 5 and {f"{now}.html" for now in moved.values()} <= pages
    assert not {f"{old}.html" for old in moved} & pages


@pytest.mark.canary
def test_a_page_without_a_description_is_found(tmp_path: Path) -> None:
    marks = '<meta property="og:image" content=""><link rel="canonical"><link rel="icon">'
    (tmp_path / "a.html").write_text(f"<head>{marks}</head>", encoding="utf-8")
    assert around_gates.undescribed(tmp_path) == ['a.html: no name="description" content="']


def test_every_icon_is_drawn(html: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    icons = importlib.import_module("around.icons")
    sheet = (html / "_static/icons.css").read_text(encoding="utf-8")
    drawn = set(re.findall(r"^\.fa-([\w-]+)\{", sheet, re.M))
    assert drawn == icons.used(html) and len(drawn) > 10
    assert not (html / "_static/scripts/fontawesome.js").exists()
    with pytest.raises(ValueError, match="no-such-icon"):
        icons.style_sheet({"no-such-icon"})


def test_a_sample_is_accessible(browser: Browser, html: Path) -> None:
    assert not _barriers(browser, html, SAMPLE)


@pytest.mark.nightly
def test_every_page_is_accessible(browser: Browser, html: Path) -> None:
    kinds = ("book/*.html", "notebooks/*/*.html", "claims/*.html", "search.html")
    pages = [page for kind in kinds for page in html.glob(kind)]
    names = sorted(page.relative_to(html).as_posix() for page in pages)
    assert not _barriers(browser, html, names)


def _barriers(
    browser: Browser,
    html: Path,
    names: Iterable[str],
) -> dict[tuple[str, str], list[str]]:
    """What keeps somebody from reading pages, each opened once and shown in both schemes."""
    found, rules = {}, {"light": around_gates.EVERY_RULE, "dark": around_gates.COLOURS}
    with Tab(browser, 1280, "light") as tab:
        for name in names:
            tab.look(html / name, maths=False)
            for scheme, asked in rules.items():
                tab.turn(1280, scheme)
                found[name, scheme] = around_gates.barriers(tab.page, asked)
            tab.turn(1280, "light")
    return {place: lines for place, lines in found.items() if lines}


@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_jumps_while_a_page_loads(browser: Browser, html: Path, width: int) -> None:
    with Tab(browser, width, "light") as tab:
        tab.look(html / "notebooks/3-first-loss/4-the-first-loss.html")
        assert tab.page.evaluate(around_gates.JUMPED) < 0.01


@pytest.mark.canary
@pytest.mark.parametrize(
    ("canary", "finding"),
    [
        ("nameless-button.html", "button-name (critical)"),
        ("pale-code.html", "color-contrast (serious)"),
        ("out-of-reach.html", "scrollable-region-focusable (serious)"),
    ],
)
def test_axe_catches(browser: Browser, canary: str, finding: str) -> None:
    with Tab(browser, 360, "light") as tab:
        tab.look(CANARIES / canary, maths=False)
        found = around_gates.barriers(tab.page)
    assert any(finding in line for line in found), found
