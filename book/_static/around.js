// Formulas of the first screen come first; what scrolls by itself can be reached by keyboard.
window.MathJax ??= {};
window.MathJax.startup = { ...window.MathJax.startup, pageReady: typesetFirstScreenFirst };
window.addEventListener("load", () => {
  Promise.resolve(window.MathJax.startup?.promise).then(() => reachWhatScrolls());
  window.addEventListener("resize", () => reachWhatScrolls());
  document.addEventListener("toggle", (event) => reachWhatScrolls(event.target), true);
});

// In the order of the page, so that numbers of equations stay; not where the address leads further down.
async function typesetFirstScreenFirst() {
  const classes = MathJax.config.options.processHtmlClass.split("|").map((name) => `.${name}`).join();
  const first = location.hash ? [] : [...document.querySelectorAll(classes)].filter(
    (e) => e.getBoundingClientRect().top < innerHeight && !e.parentElement.closest(classes),
  );
  if (first.length) {
    await MathJax.typesetPromise(first);
    performance.mark("first screen typeset");
    await new Promise((shown) => setTimeout(shown));
  }
  await MathJax.typesetPromise();
}

// All is measured before anything is changed: each change would have the page laid out again.
function reachWhatScrolls(root = document) {
  const noTable = (box) => !/\S {2,}\S/.test(box.textContent) || box.scrollWidth > 3 * box.clientWidth;
  for (const box of [...root.querySelectorAll("article .output pre")].filter(noTable)) box.style.whiteSpace = "pre-wrap";
  for (const box of root.querySelectorAll("article :is(pre, table, div, figure, mjx-container)")) {
    const scrolls = box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX);
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
  const kinds = { table: "Table", "mjx-container": "Formula", ".cell_input *": "Code", pre: "Printed", "*": "Figure" };
  const kind = kinds[Object.keys(kinds).find((kind) => box.matches(kind))];
  const heading = box.closest("section")?.querySelector("h1, h2, h3, h4")?.textContent.replace(/#$/, "").trim();
  return heading ? `${kind} in “${heading}”` : kind;
}
