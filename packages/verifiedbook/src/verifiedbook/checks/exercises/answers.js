/* Exercises that are answered in the page. The build puts TABLE, which is
   engine/checks/exercises/typed.yaml, above this; reading and judging are those of typed.py and
   answers.py, held together by tests/answers.yaml. In a build without solutions what a page
   judges by is sealed, and sealed.js stands above. */
const said = (what, ...parts) =>
  TABLE.say[what].replace(/\{(\d)\}/g, (_, place) => parts[place]);
class Unreadable extends Error {}
const refuse = (what, ...parts) => { throw new Unreadable(said(what, ...parts)); };

// ------------------------------------------------------------------ reading
const GAP = /[ \u2009\u202f\xa0]/g;
const TOKEN = new RegExp("(\\s*)(?:(" +
  "[1-9]\\d{0,2}(?:,\\d{3})+(?!\\d)(?:\\.\\d+)?" +
  "|[1-9]\\d{0,2}(?:[ \\u2009\\u202f\\xa0]\\d{3})+(?!\\d)(?:\\.\\d+)?" +
  "|(?:\\d+[.,]?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?)|([A-Za-z]+|%)|(.))", "gsu");

function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  const front = Math.exp(-x * x) / Math.sqrt(Math.PI);
  if (x < 3) {
    let term = 2 * x, sum = term;
    for (let n = 1; n < 80; n++) sum += term *= 2 * x * x / (2 * n + 1);
    return 1 - front * sum;
  }
  let below = x;
  for (let n = 80; n > 0; n--) below = x + n / 2 / below;
  return front / below;
}
const FUNCTIONS = { ln: Math.log, lb: Math.log2, lg: Math.log10, arcsin: Math.asin,
  arccos: Math.acos, arctan: Math.atan, erfc, erf: x => 1 - erfc(x) };

const plain = number => {
  number = number.replace(GAP, "");
  return number.replaceAll(",", /^[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(number) ? "" : ".");
};
const joined = (operation, a, b) => point => operation(a(point), b(point));
const OPERATIONS = { "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b,
  "/": (a, b) => a / b, "^": (a, b) => a ** b };

function tokens(text, names) {
  if (text.length > 200 || text.split("(").length > 31) refuse("long");
  for (const [sign, meant] of Object.entries(TABLE.signs)) text = text.replaceAll(sign, meant);
  for (const [letter, name] of Object.entries(TABLE.letters)) text = text.replaceAll(letter, name);
  const small = TABLE.superscripts;
  text = text.replace(new RegExp(`[${Object.keys(small).join("")}]+`, "g"),
    found => `^(${[...found].map(c => small[c]).join("")})`);
  const others = Object.keys(TABLE.names).filter(name => names.includes(TABLE.names[name]));
  const known = [...names, ...others, ...Object.keys(TABLE.constants), ...TABLE.functions, "frac"];
  const pattern = new RegExp(known.sort((a, b) => b.length - a.length).join("|"), "g");
  const found = [];
  for (const [, space, number, word, sign] of text.trim().matchAll(TOKEN)) {
    if (number) found.push(["number", number, space]);
    else if (word) {
      const parts = word.match(pattern) ?? [];
      if (parts.join("") === word)
        found.push(...parts.map(part => ["name", TABLE.names[part] ?? part, space]));
      else found.push(["word", word, space]);
    } else found.push(["sign", sign, space]);
  }
  return found;
}

function read(text, names = [], unit = "") {
  const all = tokens(text, names);
  let place = 0;
  const strange = (kind, what) => {
    if (what === ")") refuse("ends");
    const wanted = names.length ? `a formula in ${names.join(", ")}` : "a number";
    const like = names.length ? `sqrt(${names[0]})/3` : "0.05, 5 %, 3/4 or sqrt(2)";
    refuse(kind === "word" ? "word" : "letter", what, wanted, like);
  };
  const next = signs => {
    const here = all[place]?.[0] === "sign" && signs.includes(all[place][1]);
    return here ? all[place++][1] : "";
  };
  const starts = () => place < all.length &&
    (all[place][0] === "number" || all[place][0] === "name" || all[place][1] === "(");
  const sum = () => {
    let value = product(), sign;
    while ((sign = next("+-"))) value = joined(OPERATIONS[sign], value, product());
    return value;
  };
  const product = () => {
    const start = place;
    let value = signed(), divided = false, sign;
    for (;;) {
      if ((sign = next("*/"))) {
        value = joined(OPERATIONS[sign], value, signed());
        divided = sign === "/";
      } else if (starts()) {
        const kinds = all.slice(start, place).map(token => token[0]).join(" ");
        if (divided && !(kinds === "number sign number" && all[place][2])) refuse("divided");
        value = joined(OPERATIONS["*"], value, power());
        divided = false;
      } else return value;
    }
  };
  const signed = () => {
    if (next("-")) return joined(OPERATIONS["-"], () => 0, signed());
    return next("+") ? signed() : power();
  };
  const power = () => {
    const base = atom();
    return next("^") ? joined(OPERATIONS["^"], base, signed()) : base;
  };
  const atom = () => {
    if (next("(")) {
      const value = sum();
      if (!next(")")) place === all.length ? refuse("ends") : strange(...all[place]);
      return value;
    }
    if (place === all.length) refuse("ends");
    const [kind, what] = all[place++];
    if (kind === "number") return () => Number(plain(what));
    if (kind !== "name") return strange(kind, what);
    if (TABLE.functions.includes(what)) {
      const bracket = all[place]?.[1] === "(", inside = bracket ? atom() : power();
      if (!bracket && starts()) refuse("call", what);
      const of = FUNCTIONS[what] ?? Math[what];
      return point => of(inside(point));
    }
    if (what === "frac") return joined(OPERATIONS["/"], atom(), atom());
    if (Object.hasOwn(TABLE.constants, what) && !names.includes(what)) return () => TABLE.constants[what];
    return point => point[what];
  };
  const scale = () => {
    const [kind, what] = all[place] ?? [];
    if (names.length || kind !== "word" || place + 1 < all.length) return 1;
    place++;
    if (what === unit) return 1;
    if (!Object.hasOwn(TABLE.units, what)) unit ? refuse("unit", unit) : strange(kind, what);
    return TABLE.units[what] / (TABLE.units[unit] ?? 1);
  };
  const slack = () => {  // half a unit of the last digit of a plain number
    const numbers = all.filter(token => token[0] === "number");
    const others = all.filter(([kind, what]) => kind === "name" || (kind === "sign" && !"+-".includes(what)));
    if (numbers.length === 2 && others.length === 1 && others[0][1] === "/") {  // 1/2 is 0.5
      const [above, below] = numbers.map(token => Number(plain(token[1])));
      for (let places = 0; below && places < 6; places++) {
        const shifted = above / below * 10 ** places;
        if (Math.abs(shifted - Math.round(shifted)) < 1e-9) return 0.5 * 10 ** -places;
      }
      return 0;
    }
    if (numbers.length !== 1 || others.length) return 0;
    const [digits, exponent] = plain(numbers[0][1]).toLowerCase().split("e");
    return 0.5 * 10 ** Math.min(300, Number(exponent ?? 0) - (digits.split(".")[1] ?? "").length);
  };
  if (!all.length) refuse("empty");
  const value = sum(), times = scale();
  if (place < all.length) all[place][1] === ")" ? refuse("close") : strange(...all[place]);
  return { value: point => value(point) * times, slack: slack() * times };
}

// ------------------------------------------------------------------ judging
const short = decimal => decimal.includes(".") ? decimal.replace(/\.?0+$/, "") : decimal;
function shown(number) {
  const [mantissa, power] = number.toExponential(3).split("e"), exponent = Number(power);
  if (exponent > -5 && exponent < 6) return short(number.toFixed(Math.max(0, 3 - exponent)));
  return `${short(mantissa)}\\cdot 10^{${exponent}}`;
}

function factor(found, wanted) {
  const [first, ...others] = found.map((mine, place) => mine / wanted[place]);
  if (!first || others.some(ratio => Math.abs(ratio - first) > 1e-7 * Math.abs(first))) return "";
  if (Math.abs(first + 1) < 1e-7) return said("sign");
  if (Math.abs(first - 1) < 0.01) return said("rounded");
  for (let below = 1; below <= 100; below++) {
    const above = Math.round(first * below);
    if (Math.abs(above) <= 1000 && Math.abs(first * below - above) < 1e-7 * Math.abs(first * below))
      return said("factor", below > 1 ? `${above}/${below}` : `${above}`);
  }
  return said("odd");
}

function size(found, wanted) {
  if (found * wanted < 0) return said("opposite");
  [found, wanted] = [Math.abs(found), Math.abs(wanted)];
  const ratio = Math.max(found, wanted) / (Math.min(found, wanted) || 1e-300);
  return said(ratio < 1.1 ? "near" : ratio < 2 ? "less" : ratio < 10 ? "ten" : "far",
    said(found > wanted ? "large" : "small"));
}

const letters = held => held.letters ?? Object.keys(held.say);

/* Whether an answer is right, and what to say to it. */
function judge(held, text) {
  text = text.trim();
  if (held.kind === "choice") {
    const say = held.sealed ? unsealed(held, held.say, text) : held.say[text];
    const right = held.sealed ? tag(`${held.id} ${text}`) : text;
    return [right === held.right, say || said("list", letters(held).join(", "))];
  }
  if (held.kind === "open") return [false, said(held.sealed ? "kept" : "open")];
  try {
    const typed = read(text, held.names, held.unit), isNumber = held.kind === "number";
    const point = at => Object.fromEntries(held.names.map((name, n) => [name, at[n]]));
    const found = held.at.map(at => typed.value(point(at)));
    if (!found.every(Number.isFinite))
      return [false, held.told && !Number.isFinite(found.at(-1)) ? said("nowhere", held.told) : said("undefined")];
    const near = (mine, other, slack) => other !== null &&
      Math.abs(mine - other) <= Math.max(held.within * Math.abs(other), Math.min(slack, 0.05 * Math.abs(other)));
    const nearest = (rows, ...slacks) => slacks.map(slack => Array.isArray(rows)
      ? rows.find(([, ...all]) => all.some(row => row.every((other, place) => near(found[place], other, slack))))?.[0]
      : bins(held, found, slack).map(name => unsealed(held, rows, name)).find(Boolean)).find(Boolean);
    const slack = isNumber ? typed.slack : 0, wanted = held.right[1];
    const right = held.sealed && isNumber ? held.right : [held.right];
    let yes = nearest(right, 0);
    if (yes) return [true, yes];
    let wrong = nearest(held.known, 0);
    if (!wrong && (yes = nearest(right, slack)))
      return nearest(held.known, slack) ? [false, said("digits")] : [true, yes];
    wrong ||= nearest(held.known, slack) || (!isNumber && factor(found, wanted)) ||
      nearest(held.slips, 0, slack);
    if (wrong) return [false, wrong];
    if (isNumber) return [false, held.sealed ? said("other") : size(found[0], wanted[0])];
    if (!held.told) return [false, said("case")];
    return [false, said("point", held.told, shown(wanted.at(-1)), shown(found.at(-1)))];
  } catch (error) {
    if (error instanceof Unreadable) return [false, error.message];
    throw error;
  }
}

// ------------------------------------------------------------------ the page
const kept = {
  read: id => { try { return localStorage.getItem(`vt-answer ${id}`) ?? ""; } catch { return ""; } },
  write: (id, text) => { try { localStorage.setItem(`vt-answer ${id}`, text); } catch { /* private */ } },
};

/* What can be said to an exercise was typeset when the book was built, but for numbers made here. */
function typeset(tex, known) {
  if (Object.hasOwn(known, tex)) return known[tex];
  const [digits, power] = tex.replaceAll("-", "−").split("\\cdot 10^");
  const shown = power ? `<msup><mtext>${digits} · 10</mtext><mtext>${power.slice(1, -1)}</mtext></msup>` : `<mtext>${digits}</mtext>`;
  return `<math alttext="${tex}">${shown}</math>`;
}

/* Our sentences are Markdown with LaTeX: *emphasis*, `code`, $formulas$. */
function tell(place, head, text, known = {}) {
  const words = text.split(/(\$[^$]*\$)/).map(part => part.startsWith("$") ? typeset(part.slice(1, -1), known)
    : part.replace(/[&<>]/g, sign => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign])
      .replace(/`([^`]*)`/g, "<code>$1</code>").replace(/\*([^*]+)\*/g, "<em>$1</em>"));
  place.innerHTML = `<strong>${head}</strong> ${words.join("")}`;
}

// A choice as it is written, its formulas in words: they have a part in the name of a label.
const spoken = element => {
  const copy = element.cloneNode(true);
  copy.querySelectorAll("math").forEach(formula => formula.replaceWith(formula.getAttribute("alttext")));
  return copy.textContent.replace(/\\[dt]?frac\s*(\w|\{[^{}]*\})\s*(\w|\{[^{}]*\})/g, " $1 over $2 ")
    .replace(/\\sqrt/g, " root of ").replace(/\\,|[{}]/g, " ").replace(/\\|\s+(?=\s)/g, "").trim();
};

function answerable(form) {
  const held = JSON.parse(form.querySelector("script").textContent), id = form.dataset.exercise;
  const field = form.querySelector("input, textarea"), status = form.querySelector("[role=status]");
  const radios = [], exercise = form.closest(".vt-exercise");
  exercise.setAttribute("role", "group");  // each of the lines is called "Your answer"
  exercise.setAttribute("aria-label", spoken(exercise.querySelector("p") ?? exercise));
  if (held.kind === "choice") {
    for (const paragraph of exercise.querySelectorAll(":scope > p")) {
      const letter = /^\s*\(([a-z])\)/.exec(paragraph.textContent)?.[1];
      if (!letters(held).includes(letter)) continue;
      const [label, radio, words] = ["label", "input", "span"].map(tag => document.createElement(tag));
      Object.assign(radio, { type: "radio", name: form.id, value: letter });
      radio.setAttribute("form", form.id);
      radio.setAttribute("aria-label", spoken(paragraph));
      words.append(...paragraph.childNodes);
      label.append(radio, words);
      paragraph.append(label);
      radios.push(radio);
    }
  }
  const given = () => field ? field.value : radios.find(radio => radio.checked)?.value ?? "";
  const check = () => {
    const text = given();
    if (!text.trim()) return tell(status, "", field ? said("empty") : said("list", letters(held).join(", ")));
    const [right, say] = judge(held, text);
    status.dataset.right = right;
    tell(status, held.kind === "open" ? "" : right ? "✓ Right." : "✗ Not yet.", say, held.typeset);
  };
  form.addEventListener("submit", event => {
    event.preventDefault();
    kept.write(id, given());
    check();
    if (held.kind === "open" && !held.sealed) {
      const folds = exercise.querySelectorAll("details");
      folds[folds.length - 1].open = true;
    }
  });
  const before = kept.read(id);
  if (!before) return;
  if (field) field.value = before;
  radios.forEach(radio => { radio.checked = radio.value === before; });
  if (held.kind !== "open") check();
}

document.querySelectorAll("form.vt-answer").forEach(answerable);
