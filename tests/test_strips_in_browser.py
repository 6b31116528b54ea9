"""Strips of evidence in a real browser: opened, led into, printed, and without their script."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser
from test_browser import fill_strips


def test_a_strip_opens_where_an_address_leads(browser: Browser, html: Path) -> None:
    page = browser.new_page()
    home = html / "notebooks/3-first-loss/3-norm-variance.html"
    page.goto(home.as_uri())
    strip = page.locator("details#LOSS-14")
    assert "wrong versions rejected" in strip.locator("summary").first.inner_text()
    record, filled = strip.locator(".vt-record").first, page.locator("#LOSS-14[data-filled]")
    assert page.locator(".vt-record").count() == 0
    strip.locator("summary").first.focus()
    page.keyboard.press("Enter")
    filled.wait_for()
    assert record.is_visible() and strip.get_by_text("The article").first.is_visible()
    assert strip.locator("math").count() > 5 and "\\(" not in strip.inner_text()
    assert page.locator("[data-filled]").count() == 1
    page.goto((html / "claims/LOSS-14.html").as_uri())
    page.locator('a[href$="#LOSS-14"]').last.click()
    filled.wait_for()  # the script runs when the page has been read
    assert page.url.endswith("#LOSS-14") and record.is_visible()
    inside = record.locator("..").locator("..").get_attribute("id")
    page.goto("about:blank")
    page.goto(f"{home.as_uri()}#{inside}")
    filled.wait_for()
    assert record.is_visible() and strip.evaluate("e => e.open")
    with_code = page.locator("details#LOSS-17")
    with_code.locator("summary").first.click()
    page.locator("#LOSS-17[data-filled]").wait_for()
    assert with_code.locator("pre").count() == with_code.locator(".copybtn").count() > 0
    page.close()


def test_what_is_folded_is_found_by_the_keys_of_a_search(browser: Browser, html: Path) -> None:
    page = browser.new_page()
    page.goto((html / "notebooks/1-initialisation/10-gradients-that-fade.html").as_uri())
    assert page.locator(".vt-record").count() == 0
    fill_strips(page)
    assert page.locator(".vt-record").count() > 3 == page.locator(".vt-record:visible").count() + 3
    page.close()


def test_a_strip_without_its_script_leads_to_the_page_of_its_claim(
    browser: Browser, html: Path
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((html / "notebooks/3-first-loss/3-norm-variance.html").as_uri())
    page.locator("details#LOSS-14 > summary").click()
    page.get_by_role("link", name="all about LOSS-14").click()
    assert page.url.endswith("claims/LOSS-14.html")
    context.close()


def test_printed_pages_show_strips_and_whole_code(browser: Browser, html: Path) -> None:
    page = browser.new_page(viewport={"width": 720, "height": 1000})
    page.goto((html / "notebooks/3-first-loss/3-norm-variance.html").as_uri())
    page.emulate_media(media="print")
    assert page.locator(".vt-strip:visible").count() > 5
    assert page.locator("details.vt-code > summary:visible").count() == 0
    cut = "e => e.scrollWidth > e.clientWidth + 1"
    assert page.evaluate(f"[...document.querySelectorAll('article pre')].some({cut})") is False
    page.close()
