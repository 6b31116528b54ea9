// The ledger's filter; wide formulas and figures that scroll in themselves. Pages read without it.
document.querySelectorAll(".vt-ledger").forEach(addFilter);
window.addEventListener("load", () => window.MathJax?.startup?.promise?.then(holdWideFormulas));

document.querySelectorAll(".cell_output img").forEach((image) => {
  if (image.complete) holdPanels(image);
  else image.addEventListener("load", () => holdPanels(image));
});

// A figure of several panels, shrunk to a phone's width, has letters that nobody can read.
function holdPanels(image) {
  if (image.naturalWidth > 2 * image.naturalHeight) image.parentElement.classList.add("vt-panels");
}

function addFilter(ledger) {
  const rows = [...ledger.querySelectorAll(".vt-row")];
  const text = new Map(rows.map((row) => [row, row.textContent.toLowerCase()])); // before MathJax: TeX
  const bar = document.createElement("form");
  bar.className = "vt-filter";
  bar.onsubmit = () => false;
  const selects = ["chapter", "verdict", "kind"].map((key) => {
    const values = [...new Set(rows.map((row) => row.dataset[key]))].sort();
    const select = document.createElement("select");
    select.setAttribute("aria-label", key);
    select.add(new Option(`every ${key}`, ""));
    values.forEach((v) => select.add(new Option(key !== "chapter" ? v : v === "own" ? "the book's own" : `chapter ${v}`, v)));
    select.value = new URLSearchParams(location.search).get(key) || "";
    if (values.length > 1) bar.append(select);
    return [key, select];
  });
  const words = document.createElement("input");
  words.type = "search";
  words.placeholder = words.ariaLabel = "words or TeX";
  const shown = document.createElement("output");
  bar.append(words, shown);
  ledger.prepend(bar);
  bar.oninput = () => {
    const needles = words.value.toLowerCase().split(/\s+/);
    let count = 0;
    for (const row of rows) {
      row.hidden = !(selects.every(([key, s]) => !s.value || row.dataset[key] === s.value)
        && needles.every((word) => text.get(row).includes(word)));
      count += !row.hidden;
    }
    for (const group of ledger.querySelectorAll("tbody"))
      group.hidden = !group.querySelector(".vt-row:not([hidden])");
    shown.value = `${count} of ${rows.length}`;
  };
  bar.oninput();
}

function holdWideFormulas() {
  for (const formula of document.querySelectorAll("mjx-container:not([display])"))
    if (formula.scrollWidth > formula.closest("p, li, td, div").clientWidth)
      formula.classList.add("vt-wide");
}
