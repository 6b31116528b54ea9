/* Cells that derive run in the page. Nothing is loaded until a button is pressed; then a worker,
   which is this file again, loads Python and SymPy from beside the pages, once for a page. */
const WHEELS = ["mpmath-1.3.0-py3-none-any.whl", "sympy-1.14.0-py3-none-any.whl"];

if (typeof document === "undefined") {
  let ready = null, run = null;
  const tell = (what, more) => postMessage({ what, ...more });
  const load = async base => {
    tell("loading", { text: "Loading Python …" });
    const { loadPyodide } = await import(base + "pyodide.mjs");
    const bytes = async name => {
      const got = await fetch(base + name);
      if (!got.ok) throw new Error(name + ": " + got.status);
      return got.arrayBuffer();
    };
    const parts = [...WHEELS, "library.zip"].map(bytes);
    const python = await loadPyodide({ indexURL: base });
    tell("loading", { text: "Loading SymPy …" });
    for (const part of parts)
      python.unpackArchive(await part, "zip", { extractDir: "/lib/here" });
    await python.runPythonAsync(`import sys; sys.path.insert(0, "/lib/here")
import dataclasses, json
from verified_transformer import claim, derive, symbols
from verifiedbook.commands.notebooks import in_page
def run_here(earlier, source, below):
    return json.dumps(dataclasses.asdict(in_page.run_cell(json.loads(earlier), source, below)))`);
    run = python.globals.get("run_here");
  };
  onmessage = async ({ data }) => {
    try {
      await (ready ??= load(data.base));
      tell("loading", { text: "Deriving …", limit: true });
      tell("shown", { shown: JSON.parse(run(JSON.stringify(data.earlier), data.source, data.below)) });
    } catch (error) {
      tell("broken", { text: String(error) });
    }
  };
} else {
  const me = document.currentScript;
  const base = new URL("kernel/", me.src).href;
  const LIMIT = 60; // seconds, of the derivation alone
  let worker = null, cells = null, current = null, late = null;

  const make = (tag, more = {}, parent = null) => {
    const made = Object.assign(document.createElement(tag), more);
    parent?.append(made);
    return made;
  };
  make("style", { textContent: `
    .vt-here { margin: .4em 0 1em; }
    .vt-here button { font: inherit; min-height: 2em; padding: .1em .8em; margin-right: .6em;
      color: inherit; background: var(--pst-color-surface); cursor: pointer;
      border: 1px solid currentColor; border-radius: .3em; }
    .vt-here textarea { display: block; box-sizing: border-box; width: 100%; margin-bottom: .5em;
      padding: .6em; font: .875em/1.5 var(--pst-font-family-monospace, monospace); color: inherit;
      background: var(--pst-color-surface); border: 1px solid var(--pst-color-border);
      white-space: pre; overflow-x: auto; resize: vertical; tab-size: 4; }
    .vt-here-said { margin-top: .5em; overflow-wrap: anywhere; }
    .vt-here-failed { border-left: 4px solid #d9534a; padding: .3em .7em; }
    .vt-here-said pre { white-space: pre-wrap; }
    .cell [hidden] { display: none !important; }
    @media print { .vt-here { display: none; } }` }, document.head);

  const say = (cell, text, failed = false) => {
    cell.said.replaceChildren();
    if (text) make("p", { textContent: text, className: failed ? "vt-here-failed" : "" }, cell.said);
  };
  let converter = null;
  const typeset = async (tex, cell) => {
    const place = make("div", { className: "math", textContent: tex }, cell.said);
    const loaded = await (converter ??= new Promise(done => make("script",
      { src: base + "temml.min.js", onload: () => done(true), onerror: () => done(false) }, document.head)));
    if (!loaded) return;
    temml.render(tex, place, { displayMode: true, macros: { "\\epsilon": "\\varepsilon" } });
    place.firstElementChild.setAttribute("alttext", tex);
  };
  const show = async (cell, shown) => {
    say(cell, "");
    for (const bundle of shown.bundles) {
      if (bundle["text/markdown"]) await typeset(bundle["text/markdown"].replace(/^\s*\$\$|\$\$\s*$/g, ""), cell);
      else if (bundle["text/html"]?.includes("vt-record"))
        cell.said.insertAdjacentHTML("beforeend", bundle["text/html"]);
    }
    if (shown.printed) make("pre", { textContent: shown.printed }, cell.said);
    if (shown.failed) make("p", { textContent: shown.failed, className: "vt-here-failed" }, cell.said);
    if (shown.left_out) make("p", { textContent: shown.left_out }, cell.said);
    if (cell.stored) cell.stored.hidden = true;
    if (cell.text.value.trimEnd() !== cell.printed)
      cell.said.parentElement.dispatchEvent(new CustomEvent("vt-ran", { bubbles: true }));
  };
  const busy = (cell, on) => {
    const hadFocus = document.activeElement === cell.stop;
    cell.run.disabled = on;
    cell.stop.hidden = !on;
    cell.said.setAttribute("aria-busy", on);
    if (on) return;
    current = null;
    clearTimeout(late);
    if (hadFocus) cell.run.focus();
  };
  const stop = () => {
    worker?.terminate();
    worker = null;
    if (current) busy(current, false);
  };
  const stopped = (cell, why) => {
    stop();
    say(cell, why + " Your text is as it was; the next run loads Python anew.", true);
  };
  const start = () => {
    worker = new Worker(me.src, { type: "module" });
    worker.onmessage = async ({ data }) => {
      const cell = current;
      if (!cell) return;
      if (data.limit)
        late = setTimeout(() => stopped(cell, `Stopped after ${LIMIT} seconds without an answer: does a loop ever end?`), LIMIT * 1000);
      if (data.what === "loading") return say(cell, data.text);
      clearTimeout(late);
      if (data.what === "shown") await show(cell, data.shown);
      busy(cell, false);
      if (data.what === "shown") return;
      stop();
      say(cell, "This could not be loaded: " + data.text, true);
    };
    worker.onerror = event => {
      const cell = current;
      stop();
      if (cell) say(cell, "This could not be loaded: " + (event.message || "no answer"), true);
    };
  };
  const press = async cell => {
    if (location.protocol === "file:")
      return say(cell, "A page opened as a file may load nothing. Type “make serve”, and open the address that it prints.");
    if (current) return say(cell, "Another cell is running; wait, or press its Stop.");
    current = cell;
    cell.code.hidden = true;
    cell.text.hidden = cell.reset.hidden = false;
    cell.undo.hidden = true;
    cell.text.rows = cell.text.value.split("\n").length + 1;
    busy(cell, true);
    say(cell, "Loading …");
    try {
      cells ??= await (await fetch(base + me.dataset.cells)).json();
    } catch (error) {
      busy(cell, false);
      return say(cell, "This could not be loaded: " + error, true);
    }
    if (current !== cell) return;
    if (!worker) start();
    const place = cells.open[cell.place];
    const earlier = cells.codes.slice(0, place), below = cells.codes[place + 1] ?? "";
    worker.postMessage({ base, earlier, source: cell.text.value, below });
  };
  const open = [...document.querySelectorAll("div.cell.tag_open")]
    .filter(cell => cell.matches(".tag_derives") || cell.querySelector(".cell_input pre")?.textContent.includes("@derive("));
  open.forEach((element, place) => {
    const code = element.querySelector(".cell_input"), source = code.querySelector("pre").textContent;
    const bar = make("div", { className: "vt-here" });
    const cell = { place, code, printed: source.trimEnd(), stored: element.querySelector(".cell_output") };
    cell.text = make("textarea", {
      value: cell.printed, hidden: true, spellcheck: false, autocapitalize: "off",
      ariaLabel: "Code of this cell; Shift and Enter run it" }, bar);
    cell.run = make("button", { type: "button", textContent: "Run it here" }, bar);
    cell.stop = make("button", { type: "button", textContent: "Stop", hidden: true }, bar);
    cell.reset = make("button", { type: "button", textContent: "Reset", hidden: true }, bar);
    cell.undo = make("button", { type: "button", textContent: "Undo", hidden: true,
      title: "Take up your text again" }, bar);
    cell.said = make("div", { className: "vt-here-said" }, bar);
    cell.said.setAttribute("role", "status");
    cell.run.onclick = () => press(cell);
    cell.text.onkeydown = event => {
      if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); press(cell); }
    };
    cell.stop.onclick = () => stopped(cell, "Stopped.");
    cell.undo.onclick = () => {
      cell.text.value = cell.edit;
      cell.code.hidden = cell.undo.hidden = true;
      cell.text.hidden = cell.reset.hidden = false;
      cell.text.focus();
    };
    cell.reset.onclick = () => {
      if (current === cell) stop();
      cell.edit = cell.text.value;
      cell.undo.hidden = cell.edit.trimEnd() === cell.printed;
      cell.text.value = cell.printed;
      cell.text.hidden = cell.reset.hidden = true;
      cell.code.hidden = false;
      if (cell.stored) cell.stored.hidden = false;
      say(cell, "");
      cell.run.focus();
    };
    code.after(bar);
  });
}
