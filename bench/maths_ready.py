"""How soon the formulas of a page stand, and what it loads: built books side by side, in a browser.

    python bench/maths_ready.py BEFORE/_build/html AFTER/_build/html [--rounds 7] [--throttle 1]

Pages are opened from the disk in turn, a book after the other, each in a context of its own, so
that neither the machine's load nor what a browser keeps falls on one book alone. `all` goes from
the navigation to the frame in which every formula stands: in a book that typesets in the page, when
MathJax says so; in one that is built typeset, when the page is read and its fonts are there. `work`
is what the page's thread has computed a moment later, which other processes do not disturb. `moved`
is the browser's cumulative layout shift. `page` and `visit` are kB as a server sends them (gzip;
pictures and fonts as they are): the HTML, and all that a first visit loads. Medians over the
rounds, and the median of the pages' ratios to the first book.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
from collections import defaultdict
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, sync_playwright

BROWSERS = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PAGES = (
    "notebooks/1-initialisation/2-second-moments.html",
    "notebooks/2-tied-head/3-what-it-does-to-learning.html",
    "notebooks/3-first-loss/4-the-first-loss.html",
    "notebooks/4-growth/5-rotary-positions.html",
    "notebooks/5-factorised-tables/8-four-families.html",
)
WATCH = """
window.vtMoved = 0;
new PerformanceObserver(seen => seen.getEntries().forEach(e => { window.vtMoved += e.value; }))
  .observe({type: "layout-shift", buffered: true});
document.addEventListener("readystatechange", async () => {
  if (document.readyState !== "interactive") return;
  while (document.querySelector("script[src*=tex-svg]") && !window.MathJax?.startup?.promise)
    await new Promise(done => setTimeout(done, 1));
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  requestAnimationFrame(() => { window.vtReady = performance.now(); });
});"""
KINDS = ("all", "work", "visit", "moved")
SENT_AS_THEY_ARE = {".woff2", ".png", ".jpg", ".zip"}


@cache
def sent(file: Path) -> float:
    """The size of a file as a server sends it, in kB."""
    data = file.read_bytes()
    return len(data if file.suffix in SENT_AS_THEY_ARE else gzip.compress(data)) / 1000


def opened(browser: Browser, page: Path, throttle: float) -> dict[str, float]:
    """What is measured of one page, in a browser that has not seen it."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True)
    context.add_init_script(WATCH)
    tab, files = context.new_page(), set[Path]()
    tab.on("request", lambda asked: files.add(Path(unquote(urlsplit(asked.url).path))))
    session = context.new_cdp_session(tab)
    session.send("Performance.enable")
    session.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    tab.goto(page.as_uri(), wait_until="commit")
    tab.wait_for_function("window.vtReady", timeout=120_000)
    told = session.send("Performance.getMetrics")["metrics"]
    work = next(metric["value"] for metric in told if metric["name"] == "ThreadTime")
    ready = tab.evaluate("window.vtReady")
    tab.wait_for_load_state("load")
    moved = tab.evaluate("window.vtMoved")
    context.close()
    visit = sum(sent(file) for file in files if file.is_file())
    return {"all": ready / 1000, "work": work, "visit": visit, "moved": moved}


def measured(
    books: list[Path], rounds: int, throttle: float
) -> dict[tuple[str, Path], dict[str, float]]:
    """Medians by page and book; the first round is thrown away."""
    times: defaultdict[tuple[str, Path], defaultdict[str, list[float]]]
    times = defaultdict(lambda: defaultdict(list))
    with sync_playwright() as playwright:
        command = next(name for name in BROWSERS if Path(name).exists())
        browser = playwright.chromium.launch(executable_path=command, args=FLAGS)
        for turn in range(rounds + 1):
            for name in PAGES:
                for book in books if turn % 2 else reversed(books):
                    told = opened(browser, book / name, throttle)
                    for kind, said in told.items() if turn else ():
                        times[name, book][kind].append(said)
        browser.close()
    return {
        of: {kind: statistics.median(said) for kind, said in kinds.items()}
        for of, kinds in times.items()
    }


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    asked.add_argument("books", nargs="+", type=Path, help="folders of built pages")
    asked.add_argument("--rounds", type=int, default=7)
    asked.add_argument("--throttle", type=float, default=1, help="times slower, as on a phone")
    given = asked.parse_args()
    books = [book.resolve() for book in given.books]
    found = measured(books, given.rounds, given.throttle)
    print(f"{'page':56}{'book':>5}{'page':>6}{'visit':>7}{'all, s':>8}{'work, s':>9}{'moved':>7}")
    for (name, book), said in sorted(found.items(), key=lambda row: PAGES.index(row[0][0])):
        row = f"{name:56}{books.index(book):5}{sent(book / name):6.1f}{said['visit']:7.0f}"
        print(f"{row}{said['all']:8.2f}{said['work']:9.2f}{said['moved']:7.3f}")
    for number, book in enumerate(books[1:], start=1):
        for kind in KINDS[:3]:
            ratios = [found[name, book][kind] / found[name, books[0]][kind] for name in PAGES]
            print(f"book {number}, {kind}: {statistics.median(ratios):.2f} of book 0")
    for number, book in enumerate(books):
        pages = sorted(sent(page) for page in book.glob("notebooks/*/*.html"))
        middle = statistics.median(pages)
        print(
            f"book {number}, HTML of {len(pages)} sections: {middle:.1f}, at most {pages[-1]:.1f}"
        )


if __name__ == "__main__":
    main()
