"""How the height of each page is shared: `python tests/page_shares.py [_build/html]` prints it.

Measured in a browser at 1280 px, without anything that is folded.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

SHARES = ("code", "evidence", "figures", "displays", "printed", "prose")
READ = ("prose", "figures", "displays")
SCREEN = 900  # px
# Of the notebooks' pages: screens, screens, share. A section written out, with its derivations and
# its exercises, is longer than its evidence was; so is one whose program stands open, and whose
# exercises have lines to answer in.
LONGEST, MEDIAN, LEAST_READ = 15, 11, 0.6
MEASURED = "shares.json"
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
# An element counts for the first of these that it, or something around it, matches.
MEASURE = """() => {
  const article = document.querySelector("article");
  const kinds = {
    figures: "figure, .cell_output img, article > section svg.vt-drawing, .vt-live, .vt-figure",
    evidence: ".vt-strip, .vt-card, .vt-record, .vt-claim, .vt-ledger",
    code: ".cell_input, details.vt-set-up, div[class*=highlight-]:not(.output)",
    printed: ".output.stream, .output.text_plain, .output.traceback",
    displays: ".math.math-block, div.math, .output.text_latex",
  };
  const made = {}, seen = new Set();
  for (const [kind, selector] of Object.entries(kinds)) {
    made[kind] = 0;
    for (const e of article.querySelectorAll(selector)) {
      if ([...seen].some(other => other.contains(e))) continue;
      seen.add(e);
      made[kind] += e.getBoundingClientRect().height;
    }
  }
  const total = article.getBoundingClientRect().height;
  const rest = Object.values(made).reduce((sum, px) => sum + px, 0);
  const cut = e => e.clientWidth && e.scrollWidth > e.clientWidth + 1;
  const code = [...article.querySelectorAll(".cell pre, .output pre")];
  const clipped = code.filter(cut).map(e => e.innerText.slice(0, 60));
  const page = document.documentElement.scrollHeight;
  return {...made, clipped, prose: total - rest, total, page};
}"""


def measured(browser: Browser, files: Sequence[Path], html: Path) -> Iterator[dict[str, Any]]:
    """Measure pages at 1280 px: heights in px by what stands there, and kB of HTML.

    Args:
        browser: a running one.
        files: of the pages.
        html: the folder of the pages, to which their names are relative.
    """
    view = {"width": 1280, "height": SCREEN}
    context = browser.new_context(viewport=view, offline=True)
    page = context.new_page()
    for file in files:
        page.goto(file.as_uri())
        name = file.relative_to(html).with_suffix("").as_posix()
        yield {"name": name, "kB": file.stat().st_size / 1000} | page.evaluate(MEASURE)
    context.close()


def kept(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what was measured of the pages of a book that passed, by their stems."""
    file = folder / MEASURED
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}


def keep(folder: Path, rows: dict[str, dict[str, Any]]) -> None:
    """Keep beside a book what was measured of its pages."""
    (folder / MEASURED).write_text(json.dumps(rows), encoding="utf-8")


def faults(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Say which of the measured pages are too long, are cut off, or have too much besides reading.

    The limits are what is reached; they may only become stricter.
    """
    found = [
        f"{row['name']}: {row['page'] / SCREEN:.1f} screens, more than {LONGEST}"
        for row in rows
        if row["page"] > LONGEST * SCREEN
    ]
    found += [f"{row['name']}: cut off: {text!r}" for row in rows for text in row["clipped"]]
    median = statistics.median(row["page"] / SCREEN for row in rows)
    if median > MEDIAN:
        found.append(f"the median page has {median:.1f} screens, more than {MEDIAN}")
    read = sum(row[name] for row in rows for name in READ) / sum(row["total"] for row in rows)
    if read < LEAST_READ:
        found.append(f"prose, figures and displays are {read:.0%} of the height")
    return found


def table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Lines of a table of what was measured, the median and the shares of all at its end."""
    yield f"{'page':62}{'screens':>8}{'kB':>6}" + "".join(f"{name:>10}" for name in SHARES)
    for row in rows:
        shares = "".join(f"{row[name] / row['total']:10.0%}" for name in SHARES)
        yield f"{row['name'][-60:]:62}{row['page'] / SCREEN:8.1f}{row['kB']:6.0f}{shares}"
    total = sum(row["total"] for row in rows)
    screens = statistics.median(row["page"] / SCREEN for row in rows)
    size = statistics.median(row["kB"] for row in rows)
    shares = "".join(f"{sum(row[name] for row in rows) / total:10.0%}" for name in SHARES)
    yield f"{f'median and shares of {len(rows)}':62}{screens:8.1f}{size:6.0f}{shares}"


def main(html: Path) -> None:
    """Print the table of a built book: its notebooks, then the pages around them."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for pattern in ("notebooks/*/*.html", "book/*.html"):
            rows = list(measured(browser, sorted(html.glob(pattern)), html))
            print("\n".join(table(rows)), end="\n\n")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "_build/html").resolve())
