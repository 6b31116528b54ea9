"""Formulas as the book is built: drawn in one font, copied as TeX."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page
from test_browser import fill_strips

from verifiedbook.sphinx.formulas import font, mathml

ROOT = Path(__file__).parent.parent

SECTION = "notebooks/3-first-loss/3-norm-variance.html"


def strange_letters(html: Path) -> Iterator[str]:
    """Formulas with a letter that the font does not have, once each."""
    drawn, seen = font.letters(), set[str]()
    for page in sorted([*html.rglob("*.html"), *html.rglob("*.evidence.js")]):
        text = page.read_text(encoding="utf-8")
        for formula in (
            BeautifulSoup(text, "html.parser").find_all("math") if "<math" in text else ()
        ):
            if strange := {c for c in formula.text if not c.isspace()} - {*map(chr, drawn)} - seen:
                seen |= strange
                yield f"{page.relative_to(html)}: {''.join(sorted(strange))}: {formula['alttext']}"


def test_the_font_has_every_letter_of_the_formulas(html: Path) -> None:
    assert list(strange_letters(html)) == []


@pytest.mark.canary
def test_a_letter_that_the_font_lacks_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(mathml(r"\text{ж}+1"), encoding="utf-8")
    assert list(strange_letters(tmp_path)) == [r"a.html: ж: \text{ж}+1"]


@pytest.fixture
def section(browser: Browser, html: Path) -> Iterator[Page]:
    page = browser.new_page()
    page.goto((html / SECTION).as_uri())
    yield page
    page.close()


COPIED = """html => {
  const held = document.createElement("article");
  held.innerHTML = html;
  document.body.prepend(held);
  const chosen = getSelection(), data = new DataTransfer();
  chosen.selectAllChildren(held);
  document.dispatchEvent(new ClipboardEvent("copy", { clipboardData: data, bubbles: true }));
  return [data.getData("text/plain"), data.getData("text/html")];
}"""


def test_a_formula_is_copied_as_tex(section: Page) -> None:
    line, display = mathml(r"\sigma^2<1"), mathml(r"\frac12.\tag{3}", display=True)
    text, html = section.evaluate(COPIED, f"<p>So {line}, and</p><div>{display}</div><p>holds.</p>")
    assert text.split() == ["So", r"$\sigma^2<1$,", "and", r"$$\frac12.\tag{3}$$", "holds."]
    assert html.count("<math") == 2
    assert section.evaluate(COPIED, "<p>No formula.</p>") == ["", ""]  # as the browser copies it


def test_a_part_of_a_formula_is_copied_as_all_of_it(section: Page) -> None:
    found = section.evaluate(
        """() => {
      const chosen = getSelection(), data = new DataTransfer();
      const formula = document.querySelector("article math:has(msup)");
      chosen.selectAllChildren(formula.querySelector("msup"));
      document.dispatchEvent(new ClipboardEvent("copy", { clipboardData: data, bubbles: true }));
      return [data.getData("text/plain"), formula.getAttribute("alttext")];
    }"""
    )
    assert found[0] == f"${found[1]}$"


def test_assistive_technology_gets_the_formula(section: Page) -> None:
    """Chromium hands on the tree of a formula, each part with its role."""
    session = section.context.new_cdp_session(section)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    roles = [node["role"]["value"] for node in nodes if not node["ignored"]]
    assert roles.count("MathMLMath") == section.locator("article math:visible").count() > 40
    assert {"MathMLFraction", "MathMLSup", "MathMLOperator"} <= set(roles)


def test_every_formula_of_a_strip_is_typeset(section: Page) -> None:
    before = section.locator("article math").count()
    fill_strips(section)
    assert section.locator("article math").count() > before + 50
