"""Cells that derive, edited and run in the published page: green as it stands, red after a dare."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator
from test_browser import Tab

from verifiedbook.account.registry import contents
from verifiedbook.pytest_plugin import machine

ROOT = Path(__file__).parents[1]
DARES = contents(ROOT / "tests" / "break_it.yaml")
CHOSEN = ["bent = exp(2 * z) - 1", "density=box", "turns=1"]  # of chapters 1, 3 and 5
SCRIPT = ROOT / "book" / "_static" / "run_here.js"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def served(html: Path) -> Iterator[str]:
    """The address of the book on this machine."""
    if not (html / "_static" / "kernel").is_dir():
        pytest.skip("the book was built without Python for the page; `make kernel` fetches it")
    handler = functools.partial(_Quiet, directory=str(html))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Served(Tab):
    """A tab that may load from the book's own address, and lists what it has loaded."""

    def __init__(self, browser: Browser, address: str) -> None:
        super().__init__(browser, 1280, "light")
        self.context.set_offline(False)
        self.address, self.loaded = address, list[str]()

    def _only_files(self, request: Any) -> None:
        if request.url.startswith(self.address):
            self.loaded.append(request.url)
        else:
            super()._only_files(request)

    def run(self, cell: Locator) -> str:
        """Press the button, wait for an answer, and return it."""
        cell.get_by_role("button", name="Run it here").click()
        said = cell.locator(".vt-here-said")
        cell.locator(".vt-here-said[aria-busy=false]").wait_for(timeout=machine.patient(90) * 1000)
        return said.inner_text()


def dare_of(change: str) -> dict[str, Any]:
    """The first dare with this change, of a cell that derives."""
    return next(dare for dare in DARES if dare["change"][1] == change)


@pytest.mark.nightly  # a minute: each page loads Python anew
@pytest.mark.parametrize("change", CHOSEN)
def test_a_dare_is_taken_up_in_the_page(browser: Browser, served: str, change: str) -> None:
    dare = dare_of(change)
    old, new = dare["change"]
    with Served(browser, served) as tab:
        tab.page.goto(f"{served}notebooks/{dare['notebook']}.html")
        cell = tab.page.locator("div.cell.tag_open", has=tab.page.locator("pre", has_text=old))
        cell = cell.and_(tab.page.locator(".tag_derives")).first
        assert not [url for url in tab.loaded if "/kernel/" in url]
        assert "wrong versions rejected" in tab.run(cell)
        assert cell.locator(".vt-here-said math").count()
        text = cell.get_by_role("textbox")
        assert text.input_value().count(old) == 1
        text.fill(text.input_value().replace(old, new))
        before = len(tab.loaded)
        said = tab.run(cell)
        assert dare["says"] in said and cell.locator(".vt-here-failed").is_visible()
        assert len(tab.loaded) == before, "the second run loads nothing"
        cell.get_by_role("button", name="Reset").click()
        assert text.is_hidden() and old in cell.locator(".cell_input pre").inner_text()
        assert not tab.found


@pytest.mark.nightly  # it loads Python three times
def test_an_endless_loop_costs_neither_the_page_nor_the_edit(browser: Browser, served: str) -> None:
    dare = dare_of("density=box")
    endless = "while True:\n    pass"
    with Served(browser, served) as tab:
        page = f"{served}notebooks/{dare['notebook']}.html"
        tab.page.goto(page)
        cell = tab.page.locator("div.cell.tag_derives").first
        text, button = cell.get_by_role("textbox"), functools.partial(cell.get_by_role, "button")
        tab.run(cell)
        text.fill(endless)
        button(name="Run it here").click()
        cell.get_by_text("Deriving").wait_for(timeout=machine.patient(90) * 1000)
        button(name="Stop").click()
        assert "Stopped. Your text is as it was" in cell.locator(".vt-here-said").inner_text()
        assert text.input_value() == endless and button(name="Stop").is_hidden()
        button(name="Reset").click()
        button(name="Undo").click()
        assert text.input_value() == endless and button(name="Undo").is_hidden()
        button(name="Reset").click()
        assert "wrong versions rejected" in tab.run(cell)
        # the same page, of less patience
        source = SCRIPT.read_text(encoding="utf-8")
        assert source.count("LIMIT = 60") == 1
        tab.page.route("**/run_here.js*", lambda route: route.fulfill(
            body=source.replace("LIMIT = 60", "LIMIT = 1"), content_type="text/javascript"
        ))  # fmt: skip
        tab.page.goto(page)
        tab.run(cell)
        text.fill(endless)
        assert "Stopped after 1 seconds without an answer" in tab.run(cell)
        assert text.input_value() == endless and not tab.found


def test_a_page_that_nobody_runs_loads_one_small_script(browser: Browser, served: str) -> None:
    assert SCRIPT.stat().st_size < 9_500
    page = f"{served}notebooks/{dare_of('density=box')['notebook']}.html"
    with Served(browser, served) as tab:
        tab.page.goto(page)
        tab.page.get_by_role("button", name="Run it here").first.wait_for()
        ours = [url for url in tab.loaded if "run_here" in url or "/kernel/" in url]
        assert len(ours) == 1 and not tab.found


def test_a_page_opened_as_a_file_says_what_to_do(browser: Browser, html: Path, served: str) -> None:
    with Tab(browser, 360, "dark") as tab:
        tab.page.goto((html / f"notebooks/{dare_of('density=box')['notebook']}.html").as_uri())
        button = tab.page.get_by_role("button", name="Run it here").first
        button.focus()
        tab.page.keyboard.press("Enter")
        assert tab.page.get_by_text("make serve").first.is_visible()
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 360
        assert not tab.found
