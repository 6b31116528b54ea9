// Formulas of the first screen come first; what scrolls by itself can be reached by keyboard.
window.MathJax ??= {};
window.MathJax.startup = { ...window.MathJax.startup, pageReady: typesetFirstScreenFirst };
window.addEventListener("load", () => {
  Promise.resolve(window.MathJax.startup?.promise).then(reachWhatScrolls);
  window.addEventListener("resize", reachWhatScrolls);
  document.addEventListener("toggle", reachWhatScrolls, true);
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

function reachWhatScrolls() {
  for (const box of document.querySelectorAll("article :is(pre, table, div, figure, mjx-container)")) {
    const scrolls = box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX);
    if (scrolls && box.tabIndex < 0) {
      box.tabIndex = 0;
      box.dataset.reached = "";
    } else if (!scrolls && "reached" in box.dataset) {
      box.removeAttribute("tabindex");
      delete box.dataset.reached;
    }
  }
}
