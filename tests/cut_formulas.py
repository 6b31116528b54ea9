"""Formulas that a reader cannot see whole: cut off at an edge, or wide with no hint to scroll."""

from __future__ import annotations

from playwright.sync_api import Page

WIDTH = 360  # px, a phone
# What is drawn of a formula, beside the box that shows it; strips are opened.
MEASURE = """async () => {
  document.querySelectorAll("article details").forEach(fold => { fold.open = true; });
  await new Promise(done => setTimeout(done, 60));
  const found = [];
  for (const box of document.querySelectorAll("article .math")) {
    const column = box.getBoundingClientRect();
    if (!column.width) continue;
    const drawn = [...box.querySelectorAll("mi, mn, mo, mtext, mfrac, msqrt")]
      .map(e => e.getBoundingClientRect()).filter(r => r.width);
    const left = Math.min(...drawn.map(r => r.left)), right = Math.max(...drawn.map(r => r.right));
    const style = getComputedStyle(box), said = box.textContent.trim().slice(0, 50);
    const outer = box.parentElement.closest(".vt-wide, table, .vt-panels");
    const start = column.left - box.scrollLeft - 2;
    if (drawn.length && left < start) found.push(`cut off at its left: ${said}`);
    if (right <= column.right + 2 && column.right <= innerWidth + 2 || outer) continue;
    if (!/auto|scroll/.test(style.overflowX) || column.right > innerWidth + 2)
      found.push(`cut off at its right: ${said}`);
    else if (box.tabIndex < 0 || style.maskImage === "none")
      found.push(`scrolls, and nothing says so: ${said}`);
  }
  return found;
}"""


def cut_off(page: Page) -> list[str]:
    """Say which formulas of an open page are cut off, or scroll without a hint."""
    found: list[str] = page.evaluate(MEASURE)
    return found
