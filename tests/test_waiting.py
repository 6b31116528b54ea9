"""What a dare or a guess comes to is nowhere on a page before the reader has said something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from test_browser import Tab

from verifiedbook.account.rendering.held_answers import answers_last

SECTION = "notebooks/3-first-loss/3-norm-variance.html"
DARE = "The rest does not move"  # what follows "Break it" there
GUESSES = ("0.554", "a right one")
TEXT = "document.querySelector('article').innerText"
# As the browser's own search does; what a reader of screens is told.
FOUND = "text => window.find(text, false, false, true)"


def told_early(page: Page, answers: tuple[str, ...]) -> list[str]:
    """Which of the answers can be seen, found or heard."""
    heard = page.locator("article").aria_snapshot()
    shown = page.evaluate(TEXT)
    return [a for a in answers if a in shown or a in heard or page.evaluate(FOUND, a)]


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    with Tab(browser, 360, "light") as made:
        yield made


def test_nothing_is_told_before_the_reader_has_said_something(tab: Tab, html: Path) -> None:
    page, address = tab.page, (html / SECTION).as_uri()
    page.goto(address)
    assert not told_early(page, (DARE, *(f"is {g}" for g in GUESSES)))
    dare = page.locator(".vt-waits").first
    dare.get_by_role("textbox").fill("the rest")
    dare.get_by_role("textbox").press("Enter")
    assert dare.inner_text().startswith("You said: the rest") and DARE in dare.inner_text()
    page.locator(".vt-guess + input").first.fill("0.6")
    page.locator(".vt-guess + input").first.blur()
    assert "0.554 (you said 0.6)" in page.evaluate(TEXT)
    assert "Within 10 %: 1 of 1" in page.locator(".vt-guesses").inner_text()
    for guess, near in (("11/20", 1), ("5.5e-1", 1), ("1/2", 1), ("1/20", 0)):
        page.locator(".vt-guess + input").first.fill(guess)
        page.locator(".vt-guess + input").first.blur()
        assert f"Within 10 %: {near} of 1" in page.locator(".vt-guesses").inner_text()
    page.get_by_role("button", name="Show what came out").last.click()
    page.goto(address)  # what was said is kept, what was only looked at is not
    assert told_early(page, (DARE, "a right one")) == [DARE]
    assert not tab.found


def test_a_changed_cell_that_ran_has_shown_it(tab: Tab, html: Path) -> None:
    """Here the cell stands in for one that a build with a kernel would make runnable."""
    tab.page.goto((html / SECTION).as_uri())
    tab.page.evaluate(
        """() => {
            const cell = Object.assign(document.createElement("div"), { className: "vt-here" });
            document.querySelector(".vt-waits").before(cell);
            cell.dispatchEvent(new CustomEvent("vt-ran", { bubbles: true }));
        }"""
    )
    assert told_early(tab.page, (DARE,)) == [DARE]


def test_a_search_shows_no_answer(tab: Tab, html: Path) -> None:
    tab.page.goto((html / "search.html").as_uri())
    source = (html / SECTION).read_text(encoding="utf-8")
    assert DARE in source
    shown = tab.page.evaluate("html => Search.htmlToText(html)", source)
    assert "Break it" in shown and not [a for a in (DARE, *GUESSES[1:]) if a in shown]


def test_on_paper_answers_come_last(tab: Tab, html: Path) -> None:
    tab.page.goto((html / SECTION).as_uri())
    tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    printed = tab.page.evaluate(TEXT)
    assert printed.index("Exercise 3.3.7") < printed.index("What came out") < printed.index(DARE)
    tab.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not told_early(tab.page, (DARE,))
    whole = answers_last((html / SECTION).read_text(encoding="utf-8"))
    assert whole.index("Exercise 3.3.7") < whole.index("What came out") < whole.index(DARE)


def test_without_scripts_a_dare_is_a_fold(browser: Browser, html: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((html / SECTION).as_uri())
    fold = page.locator(".vt-waits details")
    assert fold.count() and DARE not in page.locator("article").inner_text()
    fold.first.locator("summary").click()
    assert DARE in fold.first.inner_text()
    context.close()


@pytest.mark.canary
def test_an_answer_in_the_open_is_found(tab: Tab, html: Path, tmp_path: Path) -> None:
    spoilt = re.sub("</?noscript>", "", (html / SECTION).read_text(encoding="utf-8"))
    (tmp_path / "told.html").write_text(spoilt, encoding="utf-8")
    tab.page.goto((tmp_path / "told.html").as_uri())
    assert told_early(tab.page, GUESSES) == [*GUESSES]


def test_every_dare_waits(html: Path) -> None:
    """But for those whose next cell is the changed program itself."""
    pages = [p.read_text(encoding="utf-8") for p in html.glob("notebooks/*/*.html")]
    dares, held = (sum(p.count(what) for p in pages) for what in
                   ("<strong>Break it", '<div class="vt-waits">'))  # fmt: skip
    assert dares - held == 4


def styled(names: set[str], sheets: str) -> list[str]:
    """The names of guesses that a style sheet takes for its own."""
    return [n for n in sorted(names) if re.search(rf"(?:^|[}},])\s*\.{n}\s*[,{{]", sheets, re.M)]


def test_no_guess_is_named_as_a_style_is(html: Path) -> None:
    pages = [p.read_text(encoding="utf-8") for p in html.glob("notebooks/*/*.html")]
    names = {name for page in pages for name in re.findall(r'"vt-guess ([\w-]+)"', page)}
    sheets = [p.read_text(encoding="utf-8") for p in html.glob("_static/**/*.css")]
    assert len(names) > 40 and styled(names, "\n".join(sheets)) == []


@pytest.mark.canary
def test_a_guess_that_is_named_row_is_found() -> None:
    """It was as wide as the page."""
    assert styled({"row", "loss"}, "a{b:c}.row{display:flex}\n.loss-of{d:e}") == ["row"]
