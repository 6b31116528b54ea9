"""How soon the formulas of a page stand: built books side by side, in a browser, from the disk.

    python bench/maths_ready.py BEFORE/_build/html AFTER/_build/html [--rounds 7] [--throttle 1]

Pages are opened in turn, a book after the other, each in a context of its own, so that neither the
machine's load nor what a browser keeps falls on one book alone. `all` goes from the navigation
until MathJax says that all of a page is typeset; `work` is what the page's thread computes until
then, which other processes do not disturb; `first screen` is when what is in view stands, where a
book typesets that first and it has formulas. Medians over the rounds, and the median of the pages'
ratios to the first book.
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from pathlib import Path

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
WATCH = """const look = () => window.MathJax?.startup?.promise
  ? MathJax.startup.promise.then(() => { window.vtReady = performance.now(); })
  : setTimeout(look, 1);
look();"""
FIRST = "performance.getEntriesByName('first screen typeset')[0]?.startTime ?? null"


def opened(browser: Browser, page: Path, throttle: float) -> dict[str, float]:
    """The times of one page in a browser that has not seen it, in seconds."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True)
    context.add_init_script(WATCH)
    tab = context.new_page()
    session = context.new_cdp_session(tab)
    session.send("Performance.enable")
    session.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    tab.goto(page.as_uri(), wait_until="commit")
    tab.wait_for_function("window.vtReady", timeout=120_000)
    told = session.send("Performance.getMetrics")["metrics"]
    work = next(metric["value"] for metric in told if metric["name"] == "ThreadTime")
    ready, first = tab.evaluate("window.vtReady"), tab.evaluate(FIRST)
    context.close()
    seen = {"first screen": first / 1000} if first is not None else {}
    return {"all": ready / 1000, "work": work} | seen


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
    print(f"{'page':56}{'book':>5}{'kB':>6}{'all, s':>9}{'work, s':>9}{'first screen, s':>17}")
    for (name, book), said in sorted(found.items(), key=lambda row: PAGES.index(row[0][0])):
        first = said.get("first screen")
        size = (book / name).stat().st_size / 1000
        shown = f"{first:17.2f}" if first is not None else f"{'–':>17}"
        print(
            f"{name:56}{books.index(book):5}{size:6.0f}{said['all']:9.2f}{said['work']:9.2f}{shown}"
        )
    for number, book in enumerate(books[1:], start=1):
        for kind in ("all", "work"):
            ratios = [found[name, book][kind] / found[name, books[0]][kind] for name in PAGES]
            print(f"book {number}, {kind}: {statistics.median(ratios):.2f} of book 0")


if __name__ == "__main__":
    main()
