// The ledger's filter, kept in the address; wide formulas and figures that scroll in themselves. Pages read without it.
document.querySelectorAll(".vt-ledger").forEach(addFilter);
holdWideFormulas();

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
  const text = new Map(rows.map((row) => [row, `${row.id} ${row.dataset.words} ${row.textContent}`.toLowerCase()]));
  const asked = new URLSearchParams(location.search);
  const bar = document.createElement("form");
  bar.className = "vt-filter";
  bar.setAttribute("role", "search");
  bar.setAttribute("aria-label", "claims");
  bar.onsubmit = () => false;
  const fields = ["chapter", "verdict", "kind"].map((key) => {
    const values = [...new Set(rows.map((row) => row.dataset[key]))].sort();
    const select = document.createElement("select");
    select.name = key;
    select.setAttribute("aria-label", key);
    select.add(new Option(`every ${key}`, ""));
    values.forEach((v) => select.add(new Option(key !== "chapter" ? v : v === "own" ? "the book's own" : `chapter ${v}`, v)));
    if (values.length > 1) bar.append(select);
    return select;
  });
  const words = document.createElement("input");
  words.type = "search";
  words.name = "words";
  words.placeholder = words.ariaLabel = "words, formulas or names";
  const shown = document.createElement("output");
  const all = document.createElement("button");
  all.type = "button";
  all.textContent = "show all";
  bar.append(words, shown, all);
  fields.push(words);
  for (const field of fields) {
    field.value = asked.get(field.name) || "";
    if (field.selectedIndex === -1) field.value = ""; // an address with a value that is none
  }
  const none = document.createElement("p");
  none.className = "vt-none";
  none.textContent = "Nothing found. Try fewer words, or show all.";
  ledger.prepend(bar);
  ledger.append(none);
  const show = () => {
    const needles = words.value.toLowerCase().split(/\s+/);
    let count = 0;
    for (const row of rows) {
      row.hidden = !(fields.every((f) => f === words || !f.value || row.dataset[f.name] === f.value)
        && needles.every((word) => text.get(row).includes(word)));
      count += !row.hidden;
    }
    for (const group of ledger.querySelectorAll("tbody"))
      group.hidden = !group.querySelector(".vt-row:not([hidden])");
    ledger.querySelector("table").hidden = !count;
    none.hidden = count > 0;
    shown.value = count ? `${count} of ${rows.length}` : "nothing found";
    all.hidden = fields.every((field) => !field.value);
  };
  bar.oninput = () => {
    show();
    const kept = new URLSearchParams(fields.filter((f) => f.value).map((f) => [f.name, f.value])).toString();
    history.replaceState(null, "", location.pathname + (kept && `?${kept}`));
  };
  all.onclick = () => {
    for (const field of fields) field.value = "";
    bar.oninput();
    words.focus();
  };
  show();
  // The rows above the one that the address names have just changed.
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

// An inline box has no scrollWidth: what is drawn is measured, and only then changed.
function holdWideFormulas(...roots) {
  const formulas = (roots.length ? roots : [document]).flatMap((root) => [...root.querySelectorAll("span.math:not(.vt-wide)")]);
  const wide = formulas.filter((f) => f.getBoundingClientRect().width > f.closest("p, li, td, div").clientWidth);
  wide.forEach((formula) => formula.classList.add("vt-wide"));
  globalThis.reachWhatScrolls?.(...roots);
}
