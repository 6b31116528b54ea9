// What a fold holds is read from the script beside the page when it is first opened; without it a link leads on.
const beside = document.querySelector('meta[name="vt-evidence"]')?.content;
let reading;
const evidence = () => (reading ??= new Promise((done, failed) => {
  globalThis.vtEvidence = (html) => {
    const made = document.createElement("template");
    made.innerHTML = html;
    done(new Map([...made.content.children].map((part) => [part.dataset.of, part.content])));
  };
  const script = document.createElement("script");
  Object.assign(script, { src: beside, onerror: () => failed(new Error(`not read: ${beside}`)) });
  document.head.append(script);
}));

// `data-filled` says that all is there.
const fill = async (fold) => {
  const held = beside && fold.id && !("filling" in fold.dataset) && (await evidence()).get(fold.id);
  if (!held || "filling" in fold.dataset) return;
  fold.dataset.filling = "";
  copyable(held, fold.id);
  fold.querySelector(":scope > summary").after(held);
  fold.querySelector(":scope > .vt-instead")?.remove();
  holdWideFormulas(fold);
  fold.dataset.filled = "";
};

// The theme gives a button to the code that was there when the page was read.
function copyable(part, name) {
  const like = document.querySelector(".copybtn");
  part.querySelectorAll("div.highlight pre").forEach((code, place) => {
    code.id = `${name}-code-${place}`;
    if (!like) return;
    code.after(like.cloneNode(true));
    code.nextElementSibling.dataset.clipboardTarget = `#${code.id}`;
  });
}

// A fold opens when an address leads to it or into it; formulas that were folded away are looked at again when they show.
const opened = async () => {
  const name = location.hash && decodeURIComponent(location.hash.slice(1));
  if (!name) return;
  const find = () => document.getElementById(name);
  if (!find() && beside)
    for (const [of, part] of await evidence()) if (part.getElementById(name)) await fill(document.getElementById(of));
  for (let fold = find()?.closest("details"); fold; fold = fold.parentElement?.closest("details")) fold.open = true;
  find()?.closest("details")?.scrollIntoView();
};
const instead = () => {}; // where the script is gone the fold has its link
const follow = () => opened().catch(instead);
addEventListener("hashchange", follow);
addEventListener("DOMContentLoaded", follow);
const justOpened = new Set();
document.addEventListener("toggle", (event) => {
  if (!event.target.open) return;
  if (!justOpened.size) setTimeout(() => { holdWideFormulas(...justOpened); justOpened.clear(); }); // many may open at once
  justOpened.add(event.target);
  fill(event.target).catch(instead);
}, true);
// Searching the page with the browser's own keys finds what is folded as well.
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "f")
    for (const fold of document.querySelectorAll("details[id]")) fill(fold).catch(instead);
});
