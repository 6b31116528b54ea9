"""The built pages in a real browser, with the network off: desktop and phone, light and dark."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

import around_gates
import changed
import page_shares
import pytest
from cut_formulas import WIDTH, cut_off
from live_faults import live_faults
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from verifiedbook.account.registry import contents

LAYOUTS = [(1280, "light"), (1280, "dark"), (360, "light")]  # every page is shown in the fourth
CANARIES = Path(__file__).parent / "canaries" / "browser"
NOTEBOOK = "notebooks/1-initialisation/1-sampling-laws.html"
SEARCHES = Path(__file__).with_name("searches.yaml")

# What the page itself tells; TeX that is still in its text is a fault.
REPORT = """() => {
  const root = document.documentElement;
  const article = document.querySelector("article") ?? document.body;  // the search page has none
  // Code may hold what looks like TeX, such as a regular expression.
  article.querySelectorAll("pre").forEach(code => { code.style.display = "none"; });
  const text = article.innerText;
  article.querySelectorAll("pre").forEach(code => { code.style.display = ""; });
  // The contrast of a text with what lies under it, by WCAG's formula.
  const rgba = colour => colour.match(/[\\d.]+/g).map(Number);
  const luminance = colour => rgba(colour).slice(0, 3).map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = element => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if ((rgba(colour)[3] ?? 1) > 0.5) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const contrast = element => {
    const pair = [getComputedStyle(element).color, ground(element)].map(luminance);
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  };
  const faint = [...document.querySelectorAll("article p, [class*=vt-]")]
    .filter(e => contrast(e) < 4.5 && e.innerText);
  return {
    faint: [...new Set(faint.map(e => e.className + ": " + e.innerText.slice(0, 40)))],
    overflow: root.scrollWidth - window.innerWidth,
    formulas: document.querySelectorAll("math").length,
    left: text.match(/\\\\[([]|\\$[^$]+\\$/g) || [],
    theme: root.dataset.theme,
  };
}"""

# A page hears of another scheme with its next frame, and its colours take a moment.
TURNED = f"() => {around_gates.AT_REST}"


class Tab:
    """A tab; every page opened in it comes from the disk, the network is off.

    One process shows all its pages: less time than a tab for each.
    Requests are watched, not routed: a third of a page's time went into asking us for every file.
    """

    def __init__(self, browser: Browser, width: int, scheme: str) -> None:
        self.scheme = scheme
        self.found: list[str] = []
        self.context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True
        )
        self.page = self.context.new_page()
        self.page.on("request", self._only_files)
        self.page.on("pageerror", lambda error: self.found.append(f"page error: {error}"))
        self.page.on("console", self._console)

    def __enter__(self) -> Tab:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def _only_files(self, request: Request) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.found.append(f"foreign request: {request.url}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.found.append(f"console: {message.text}")

    def look(self, file: Path, maths: bool = True) -> list[str]:
        """Open a page and return what is wrong with it, in words."""
        self.page.goto(file.as_uri())
        fill_strips(self.page)
        return self.faults(maths)

    def turn(self, width: int, scheme: str) -> None:
        """Show the open page in another layout."""
        self.scheme = scheme
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        self.page.evaluate(TURNED)

    def faults(self, maths: bool = True) -> list[str]:
        """Return what is wrong with the page as it is shown, in words."""
        report = self.page.evaluate(REPORT)
        found, self.found = self.found, []
        if report["overflow"] > 0:
            found.append(f"{report['overflow']} px wider than the window")
        if maths and not report["formulas"]:
            found.append("no formula was rendered")
        if report["left"]:
            found.append(f"TeX left in the text: {report['left'][:3]}")
        if report["faint"]:
            found.append(f"too little contrast: {report['faint'][:5]}")
        if report["theme"] not in (self.scheme, None):
            found.append(f"asked for {self.scheme}, shown as {report['theme']}")
        return found


def fill_strips(page: Page) -> None:
    """Let every fold of an open page be filled, as the keys of a search do, and show what waits."""
    page.evaluate("document.querySelectorAll('.vt-show').forEach(asks => asks.click())")
    if page.locator('meta[name="vt-evidence"]').count():
        page.keyboard.press("Control+f")
        page.wait_for_function("!document.querySelector('details[id]:not([data-filled])')")


@pytest.fixture(scope="module")
def phone(browser: Browser) -> Iterator[Tab]:
    """A tab for the known-bad pages: one process shows them all."""
    with Tab(browser, WIDTH, "light") as tab:
        yield tab


def test_pages_in_the_browser(browser: Browser, html: Path) -> None:
    """Each is opened once, and turned: every page on a phone in the dark is opened below."""
    plain = ("book/ledger.html", "book/errata.html", "book/errata-3.html")
    faults: dict[tuple[str, int, str], list[str]] = {}
    with Tab(browser, *LAYOUTS[0]) as tab:
        for name in ("book/welcome.html", *plain, "claims/LOSS-14.html", NOTEBOOK):
            faults[name, *LAYOUTS[0]] = tab.look(html / name, maths=name not in plain)
            for layout in LAYOUTS[1:]:
                tab.turn(*layout)
                faults[name, *layout] = tab.faults(maths=name not in plain)
            tab.turn(*LAYOUTS[0])
    assert len(faults) == 18 and not any(faults.values()), faults


def test_every_page_on_a_phone(browser: Browser, html: Path) -> None:
    claims = json.loads((html / "claims.json").read_text(encoding="utf-8"))["claims"]
    longest = [c["id"] for c in sorted(claims, key=lambda claim: len(str(claim)))[-4:]]
    chosen = {claim["verdict"]: claim["id"] for claim in claims}  # one for each
    pages = sorted([*html.glob("book/*.html"), *html.glob("notebooks/*/*.html")])
    pages += [html / f"claims/{name}.html" for name in {"LOSS-14", *longest, *chosen.values()}]
    faults, formulas, live = {}, 0, 0
    pages = to_look_at(html, pages)
    with Tab(browser, WIDTH, "dark") as tab:
        for page in pages:  # opened once, and asked for all that is to be known of it
            faults[page.stem] = tab.look(page, maths=False)
            drawn, wrong = live_faults(tab.page)
            faults[page.stem] += wrong
            live += drawn
            if page.parent.parent.name == "notebooks":
                faults[page.stem] += cut_off(tab.page)
                formulas += tab.page.locator("article math").count()
    assert not any(faults.values()), faults
    assert live == written(pages, 'class="vt-live"')
    if not changed.partly():
        every = list(html.rglob("*.html"))
        assert len(faults) >= 14 and formulas > 1000
        assert live == written(every, 'class="vt-live"') >= 40
    assert not written(html.rglob("*.html"), "vt-live-script")


def to_look_at(html: Path, pages: Iterable[Path]) -> list[Path]:
    """All pages; where a part is run, those that are others than before."""
    return [page for page in pages if changed.is_new(html, page.relative_to(html).as_posix())]


def written(pages: Iterable[Path], words: str) -> int:
    """How often words stand in some pages."""
    return sum(page.read_text(encoding="utf-8").count(words) for page in pages)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("kind", "finding"),
    [
        ("left", "cut off at its left: "),
        ("right", "cut off at its right: "),
        ("hint", "scrolls, and nothing says so: "),
    ],
)
def test_a_formula_that_is_cut_off_is_found(phone: Tab, kind: str, finding: str) -> None:
    phone.page.goto((CANARIES / f"cut-formula-{kind}.html").as_uri())
    assert cut_off(phone.page) == [f"{finding}wide"]


def test_pages_are_short_enough_and_nothing_is_cut_off(browser: Browser, html: Path) -> None:
    pages = sorted(html.glob("notebooks/*/*.html"))
    known = page_shares.kept(changed.BOOK) if changed.partly() else {}
    new = [page for page in pages if page.stem not in known or page in to_look_at(html, [page])]
    known |= {page.stem: row for page, row in zip(
        new, page_shares.measured(browser, new, html), strict=True)}  # fmt: skip
    page_shares.keep(html.parents[1], known)
    rows = [known[page.stem] for page in pages]
    print("\n".join(page_shares.table(rows)))
    assert len(rows) >= 39 and page_shares.faults(rows) == []


@pytest.mark.canary
@pytest.mark.parametrize(
    ("canary", "finding"),
    [
        ("cut-off.html", "cut-off: cut off: 'a line of code"),
        ("too-long.html", "screens, more than 15"),
        ("all-code.html", "prose, figures and displays are"),
    ],
)
def test_a_page_that_does_not_read_is_found(browser: Browser, canary: str, finding: str) -> None:
    (row,) = page_shares.measured(browser, [CANARIES / canary], CANARIES)
    found = page_shares.faults([row])
    assert any(finding in line for line in found), found


def test_ledger_filter(browser: Browser, html: Path) -> None:
    page = browser.new_page()
    page.goto((html / "book/ledger.html").as_uri() + "?verdict=wrong")
    rows = page.locator(".vt-row")
    wrong = page.locator(".vt-row[data-verdict=wrong]").count()
    assert 0 < page.locator(".vt-row:visible").count() == wrong < rows.count()
    ours = page.locator(".vt-row[data-chapter=own]").count()
    assert 0 < ours < rows.count() - 300  # articles' statements are more
    page.get_by_label("verdict").select_option("")
    page.get_by_label("words, formulas or names").fill("selu lambda")
    assert 0 < page.locator(".vt-row:visible").count() < 60
    page.get_by_label("words, formulas or names").fill("2dσ⁴")
    assert page.locator("#LOSS-14:visible").count() == 1
    page.get_by_label("words, formulas or names").fill("zzz")
    assert page.locator(".vt-row:visible").count() == 0
    assert page.get_by_text("Nothing found.").is_visible()
    page.get_by_role("button", name="show all").click()
    assert page.locator(".vt-row:visible").count() == rows.count()
    page.close()


def test_ledger_filter_stands_in_the_address(browser: Browser, html: Path) -> None:
    page = browser.new_page()
    page.goto((html / "book/ledger.html").as_uri())
    page.get_by_label("chapter").focus()
    page.keyboard.type("chapter 3")  # by the keyboard alone
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("variance")
    shown = page.locator(".vt-row:visible").count()
    assert 0 < shown < 52 and page.url.endswith("ledger.html?chapter=3&words=variance")
    page.reload()
    assert page.locator(".vt-row:visible").count() == shown
    page.close()


def test_ledger_is_light(browser: Browser, html: Path) -> None:
    with Tab(browser, 1280, "light") as tab:
        tab.page.goto((html / "book/ledger.html").as_uri())
        rows = tab.page.locator(".vt-row").count()
        assert tab.page.evaluate("document.documentElement.scrollHeight") < 35 * rows
        assert tab.page.locator("math").count() == 0
        tallest = "Math.max(...[...document.querySelectorAll('.vt-row')].map(r => r.offsetHeight))"
        assert tab.page.evaluate(tallest) < 40  # a line


def test_search_finds_a_claim(browser: Browser, html: Path) -> None:
    page = browser.new_page()
    page.goto((html / "search.html").as_uri())
    page.wait_for_function("typeof Search !== 'undefined' && Search.hasIndex()")
    asked = "words => Search._performSearch(...Search._parseQuery(words)).map(r => r[0]).reverse()"
    for words, first in {"LOSS-14": 1, "TIE-06": 1, "2dσ⁴": 3, "norm variance": 3}.items():
        found = page.evaluate(asked, words)[:first]
        assert f"claims/{words if first == 1 else 'LOSS-14'}" in found, (words, found)
    page.close()


def test_search_puts_the_page_that_answers_first(browser: Browser, html: Path) -> None:
    """One is asked by its address, as a reader asks; the others of the index that it has loaded."""
    wanted = contents(SEARCHES)
    by_address = next(iter(wanted))
    page = browser.new_page()
    page.goto(f"{(html / 'search.html').as_uri()}?q={quote(by_address)}")
    page.wait_for_function("typeof Search !== 'undefined' && Search.hasIndex()")
    first = "words => Search._performSearch(...Search._parseQuery(words)).map(r => r[0]).pop()"
    found = {by_address: page.evaluate(first, by_address)}
    ask = "words => { asked.clear(); stems(words).forEach(word => asked.add(word)); }"
    for words in list(wanted)[1:]:
        page.evaluate(ask, words)
        found[words] = page.evaluate(first, words)
    assert found == wanted
    page.close()


SENTENCES = """<main role=main><button>Open</button><article><p>Nothing.</p><p>Its
kurtosis, \\(3+\\frac1n\\), is large. The kurtosis is 3. So it is.</p></article></main>"""


def test_a_sentence_stands_under_a_result(browser: Browser, html: Path) -> None:
    page = browser.new_page()
    page.goto((html / "search.html").as_uri())
    said = "text => Search.makeSearchSummary(text, new Set(['kurtosi'])).textContent"
    assert page.evaluate(said, SENTENCES) == "The kurtosis is 3."
    marked = "() => [...Search._parseQuery('loss above log n')[3]]"
    assert page.evaluate(marked) == ["loss", "log"]
    page.close()


def test_ledger_reads_without_javascript(browser: Browser, html: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((html / "book/ledger.html").as_uri())
    assert page.locator(".vt-row:visible").count() == page.locator(".vt-row").count() >= 300
    assert page.locator(".vt-filter").count() == 0
    page.get_by_role("link", name="LOSS-14", exact=True).click()
    assert page.url.endswith("claims/LOSS-14.html")
    page.get_by_text("make verify CLAIM=LOSS-14").wait_for()
    context.close()


@pytest.mark.canary
@pytest.mark.parametrize(
    ("canary", "finding"),
    [
        ("throws.html", "page error: thrown on load"),
        ("logs-an-error.html", "console: something is broken"),
        ("asks-elsewhere.html", "foreign request: https://example.org/data.json"),
        ("too-wide.html", "px wider than the window"),
        ("raw-tex.html", "TeX left in the text"),
        ("no-maths.html", "no formula was rendered"),
        ("faint.html", "too little contrast"),
    ],
)
def test_browser_catches(phone: Tab, canary: str, finding: str) -> None:
    found = phone.look(CANARIES / canary, maths=canary == "no-maths.html")
    assert any(finding in line for line in found), found
