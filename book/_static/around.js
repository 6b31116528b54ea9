// What scrolls by itself can be reached by keyboard; a formula that is copied is its TeX.
window.addEventListener("load", () => {
  reachWhatScrolls();
  window.addEventListener("resize", () => reachWhatScrolls());
});

// Formulas are copied whole, in dollars; what else was chosen is copied as the browser does it.
document.addEventListener("copy", (event) => {
  const chosen = getSelection();
  if (chosen.isCollapsed || !chosen.rangeCount) return;
  const range = chosen.getRangeAt(0).cloneRange();
  const around = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement)?.closest("math");
  const [first, last] = [around(range.startContainer), around(range.endContainer)];
  if (first) range.setStartBefore(first);
  if (last) range.setEndAfter(last);
  const held = document.createElement("div");
  held.append(range.cloneContents());
  const formulas = held.querySelectorAll("math[alttext]");
  if (!formulas.length) return;
  event.clipboardData.setData("text/html", held.innerHTML);
  for (const formula of formulas) {
    const mark = formula.getAttribute("display") === "block" ? "$$" : "$";
    formula.replaceWith(mark + formula.getAttribute("alttext") + mark);
  }
  held.style.cssText = "position: fixed; opacity: 0; white-space: normal"; // a text has its lines only where it is laid out
  document.body.append(held);
  event.clipboardData.setData("text/plain", held.innerText);
  held.remove();
  event.preventDefault();
});

// All is measured before anything is changed: each change would have the page laid out again.
function reachWhatScrolls(...roots) {
  const all = (selector) => (roots.length ? roots : [document]).flatMap((root) => [...root.querySelectorAll(selector)]);
  const noTable = (box) => !/\S {2,}\S/.test(box.textContent) || box.scrollWidth > 3 * box.clientWidth;
  for (const box of all("article .output pre").filter(noTable)) box.style.whiteSpace = "pre-wrap";
  const boxes = all("article :is(pre, table, div, figure, .vt-wide)").map((box) =>
    [box, box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX)]);
  for (const [box, scrolls] of boxes) {
    if (scrolls && !("reached" in box.dataset)) { // the theme lets the keyboard into some, without a name
      box.tabIndex = 0;
      box.dataset.reached = "";
      if (!box.hasAttribute("aria-label")) {
        box.ariaLabel = box.dataset.reached = nameOf(box);
        if (!box.matches("table, figure, [role]")) box.role = "group"; // others may not have a name
      }
    } else if (!scrolls && "reached" in box.dataset) {
      for (const mark of ["tabindex", ...(box.dataset.reached ? ["aria-label"] : [])]) box.removeAttribute(mark);
      if (box.role === "group") box.role = null;
      delete box.dataset.reached;
    }
  }
}

// Who comes by the keyboard hears what scrolls here: its caption, or what it is and under which heading.
function nameOf(box) {
  const caption = box.querySelector("caption, figcaption");
  if (caption) return caption.textContent.trim();
  const kinds = { table: "Table", ".math": "Formula", ".cell_input *": "Code", pre: "Printed", "*": "Figure" };
  const kind = kinds[Object.keys(kinds).find((kind) => box.matches(kind))];
  const heading = box.closest("section")?.querySelector("h1, h2, h3, h4")?.textContent.replace(/#$/, "").trim();
  return heading ? `${kind} in “${heading}”` : kind;
}
