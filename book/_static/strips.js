// A strip opens when an address leads to it; formulas that were folded away are looked at again when they show.
const opened = () => {
  const named = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let fold = named?.closest?.("details"); fold; fold = fold.parentElement?.closest("details")) fold.open = true;
  named?.closest?.("details")?.scrollIntoView();
};
addEventListener("hashchange", opened);
addEventListener("DOMContentLoaded", opened);
document.addEventListener("toggle", (event) => event.target.open && holdWideFormulas(event.target), true);
