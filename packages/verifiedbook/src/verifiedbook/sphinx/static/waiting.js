// What a dare or a guess comes to waits in a `noscript`: nobody sees, hears or finds it before its time.
{
  const page = location.pathname.split("/").slice(-2).join("/");
  const kept = {
    read: (name) => { try { return localStorage.getItem(`vt-answer ${page}${name}`) ?? ""; } catch { return ""; } },
    write: (name, text) => { try { localStorage.setItem(`vt-answer ${page}${name}`, text); } catch { /* private */ } },
  };
  const make = (tag, more = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), more);
    made.append(...inside);
    return made;
  };
  const field = (name) => make("input", { type: "text", autocomplete: "off", value: kept.read(name), placeholder: "your guess" });
  const button = (text) => make("button", { type: "button", className: "vt-show", textContent: text });
  const read = (noscript) => {
    const made = make("template");
    made.innerHTML = noscript.textContent;
    const fold = made.content.querySelector("details");
    fold?.querySelector("summary").remove();
    return [...(fold ?? made.content).childNodes];
  };
  // Each thing that waits: where, what the place says meanwhile, and whether it has been shown.
  const waiting = new Map();
  function wait(place, meanwhile) {
    const noscript = place.querySelector(":scope > noscript");
    if (!noscript) return;
    const what = read(noscript);
    noscript.replaceWith(meanwhile);
    waiting.set(place, { what, meanwhile });
  }
  function show(place, focus = false) {
    const { what, meanwhile } = waiting.get(place) ?? {};
    if (!what) return;
    waiting.delete(place);
    meanwhile.replaceWith(...what);
    if (place.tagName === "DIV") holdWideFormulas(place);
    if (focus) { place.tabIndex = -1; place.focus({ preventScroll: true }); }
  }

  const guesses = []; // asked in "vt-guess name", answered in "vt-guessed name"
  // ---- at the end: what was said, beside what came out
  // What somebody wrote in figures: 0.05, .05, 5e-2, 1/20; of a longer text its first number.
  const number = (text) => {
    const found = /([-−]?(?:\d[\d\s,]*)?(?:\.\d+|\d)(?:e[-−]?\d+)?)(?:\s*[/⁄]\s*(\d+(?:\.\d+)?))?/i.exec(text);
    return found ? Number(found[1].replace(/[\s,]/g, "").replaceAll("−", "-")) / (found[2] ?? 1) : NaN;
  };
  const close = (said, right) => Math.abs(said - right) <= 0.1 * Math.abs(right);
  const end = make("section", { className: "vt-guesses" });
  function tally() {
    const made = guesses.filter(({ given, found }) => given.value.trim() && found.length && !waiting.has(found[0]));
    if (!made.length) return end.remove();
    const list = make("ul");
    let numbers = 0, near = 0;
    for (const { question, given, found } of made) {
      const was = found[0].cloneNode(true);
      was.querySelector(".vt-you-said")?.remove();
      const [said, right] = [number(given.value), number(was.textContent)];
      if (!Number.isNaN(said) && !Number.isNaN(right)) {
        numbers += 1;
        const share = was.textContent.includes("%") && !given.value.includes("%"); // 1/20 is 5 %
        near += close(said, right) || (share && close(100 * said, right));
      }
      list.append(make("li", {}, question.textContent.trim(), " You said ", make("em", { textContent: given.value.trim() }), "; it is ", ...was.childNodes, "."));
    }
    const within = numbers ? ` Within 10 %: ${near} of ${numbers} that are numbers.` : "";
    end.replaceChildren(make("p", {}, make("strong", { textContent: "Your guesses." }), ` ${made.length} of ${guesses.length} made.${within}`), list);
    document.querySelector("article.bd-article > section, article > section, article")?.append(end);
  }

  // ---- guesses
  document.querySelectorAll(".vt-guess").forEach((question) => {
    const name = question.classList[1], given = field(name), label = make("label");
    const found = [...document.querySelectorAll(`.vt-guessed.${name}`)];
    question.replaceWith(label);
    label.append(question, " ", given);
    const beside = () => found.forEach((place) => {
      place.querySelector(".vt-you-said")?.remove();
      const said = given.value.trim();
      if (said && !waiting.has(place)) place.append(make("span", { className: "vt-you-said", textContent: ` (you said ${said})` }));
    });
    const commit = (place) => { found.forEach((one) => show(one, one === place)); beside(); tally(); };
    for (const place of found) {
      const asks = button("show");
      asks.setAttribute("aria-label", `Show what came out: ${question.textContent.trim()}`);
      asks.onclick = () => commit(place);
      wait(place, asks);
    }
    given.oninput = () => { kept.write(name, given.value); beside(); };
    given.onchange = () => given.value.trim() && commit();
    guesses.push({ question, given, found });
    if (given.value.trim()) commit();
  });

  // ---- dares: what follows one in its cell
  const dares = [...document.querySelectorAll(".vt-waits")];
  dares.forEach((place, number) => {
    const name = ` dare ${number + 1}`, given = field(name), asks = button("Show what happens");
    const form = make("form", { className: "vt-waits-ask" }, make("label", {}, "What do you think? ", given), " ", asks);
    const commit = (focus) => {
      const said = given.value.trim();
      show(place, focus);
      if (said) place.prepend(make("p", { className: "vt-you-said", textContent: `You said: ${said}` }));
    };
    given.oninput = () => kept.write(name, given.value);
    form.onsubmit = (event) => { event.preventDefault(); if (given.value.trim()) commit(true); };
    asks.onclick = () => commit(true);
    wait(place, form);
    if (given.value.trim()) commit(false);
  });
  // A changed cell that has run has shown what happens: the dare below it is over.
  document.addEventListener("vt-ran", ({ target }) => {
    const after = [...document.querySelectorAll(".vt-here, .vt-waits")];
    for (const next of after.slice(after.indexOf(target) + 1)) {
      if (next.matches(".vt-here")) return;
      next.querySelector(".vt-show")?.click();
    }
  });

  // ---- on paper what waits comes last
  const paper = make("section", { className: "vt-came-out" });
  const marks = [];
  addEventListener("beforeprint", () => {
    if (!waiting.size) return;
    paper.replaceChildren(make("h2", { textContent: "What came out" }));
    for (const [place, { what }] of waiting) {
      const mark = make("span", { className: "vt-mark", textContent: `(answer ${marks.length + 1})` });
      marks.push(mark);
      place.append(mark);
      paper.append(make("div", {}, make("p", { textContent: `(${marks.length})` }), ...what.map((node) => node.cloneNode(true))));
    }
    document.querySelector("article")?.append(paper);
  });
  addEventListener("afterprint", () => {
    paper.remove();
    marks.splice(0).forEach((mark) => mark.remove());
  });

  // ---- what a search shows of a page
  addEventListener("DOMContentLoaded", () => {
    if (typeof Search === "undefined") return;
    const plain = Search.htmlToText;
    Search.htmlToText = (html, ...more) => plain(html.replace(/<noscript>.*?<\/noscript>/gs, ""), ...more);
  });
}
