// Live figures: curves and sliders without a kernel. One element, <vt-live>, with its data beside it.
// The same text serves the book (_static/live.js) and, inside the output, Jupyter and Colab.
(() => {
if (customElements.get("vt-live")) return;
const { PI, abs, exp, log, log10, max, min, round, sqrt, floor, ceil } = Math;

// What SymPy has and Math lacks. erfc keeps its relative error where it is small.
const erfc = x => {
  if (x < 2.2) return 1 - erf(x);
  let c = 0;
  for (let k = 80; k; k--) c = k / 2 / (x + c);
  return exp(-x * x) / sqrt(PI) / (x + c);
};
const erf = x => {
  if (abs(x) >= 2.2) return x > 0 ? 1 - erfc(x) : erfc(-x) - 1;
  let term = x, sum = x;
  for (let k = 1; k < 60; k++) sum += term *= 2 * x * x / (2 * k + 1);
  return 2 / sqrt(PI) * exp(-x * x) * sum;
};
const lgamma = x => {
  if (!(x > 0)) return NaN;
  let shift = 0;
  for (; x < 15; x++) shift += log(x);
  const y = 1 / (x * x);
  return (x - 0.5) * log(x) - x + log(2 * PI) / 2 - shift
    + (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x;
};
const digamma = x => {
  if (!(x > 0)) return NaN;
  let shift = 0;
  for (; x < 15; x++) shift += 1 / x;
  const y = 1 / (x * x);
  return log(x) - 0.5 / x - shift - y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))));
};
const lse = (...a) => {
  const m = max(...a);
  return isFinite(m) ? m + log(a.reduce((s, e) => s + exp(e - m), 0)) : m;
};
const total = (f, a, b) => {
  let s = 0;
  for (let k = round(a); k <= round(b); k++) s += f(k);
  return s;
};
// A map, applied to a number as often as the first control says.
const iterate = (f, v, a) => {
  for (let k = round(v[0]); k; k--) a = f([...v, a]);
  return a;
};
const largest = (f, a, b, draw) => {
  draw.all = [];
  for (let k = round(a); k <= round(b); k++) draw.all.push(f(k));
  return max(...draw.all);
};
const LAWS = {
  normal: () => sqrt(-2 * log(1 - Math.random())) * Math.cos(2 * PI * Math.random()),
  uniform: () => sqrt(3) * (2 * Math.random() - 1),
  "±1": () => Math.random() < 0.5 ? -1 : 1,
  exponential: () => -log(1 - Math.random()),
};
// A table: barycentric interpolation at Chebyshev points, one variable after the other.
const table = (t, v, dim = 0, from = 0) => {
  if (dim === t.dims.length) return t.values[from];
  const d = t.dims[dim], size = t.dims.slice(dim + 1).reduce((s, e) => s * e.n, 1);
  const at = k => table(t, v, dim + 1, from + k * size);
  if (d.stops) return at(d.stops.indexOf(v[d.of]));
  const f = d.log ? log : x => x, u = (f(v[d.of]) - f(d.low)) / (f(d.high) - f(d.low));
  let over = 0, under = 0;
  for (let k = 0; k < d.n; k++) {
    const gap = u - (1 - Math.cos(PI * k / (d.n - 1))) / 2;
    if (abs(gap) < 1e-14) return at(k);
    const w = (k % 2 ? -1 : 1) / (k % (d.n - 1) ? 1 : 2) / gap;
    over += w * at(k); under += w;
  }
  return over / under;
};

const told = (s, v) => s.names ? s.names[v] : number(v) + (s.unit ? " " + s.unit : "");
const number = v => {
  if (!isFinite(v)) return "–";
  const text = abs(v) >= 1000 ? String(round(v)).replace(/\B(?=(\d{3})+$)/g, "\u2009") : String(+v.toPrecision(3));
  return text.replace("-", "−");
};
// A number to the digit that its error leaves.
const within = (v, error) => {
  if (!(error > 1e-9)) return number(+v.toFixed(9));
  const digits = max(0, min(9, -floor(log10(error))));
  return `${v.toFixed(digits)} ± ${error.toFixed(digits)}`.replace(/^-(?=[0.]+ )/, "").replace("-", "−");
};
const make = (tag, set = {}, ...inside) => {
  const svg = /^(svg|path|circle|line|text)$/.test(tag);
  const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const key in set) e.setAttribute(key, set[key]);
  e.append(...inside);
  return e;
};
// Ticks at 1, 2 and 5 times powers of ten.
const ticks = (low, high, logarithmic, most) => {
  const found = [];
  if (logarithmic) {
    const a = floor(log10(low) + 1e-9), b = ceil(log10(high) - 1e-9);
    const steps = log10(high / low) * 3 <= most + 2 ? [1, 2, 5] : [1], every = ceil((b - a) / most);
    for (let k = a; k <= b; k += every) for (const s of steps) found.push(+`${s}e${k}`);
  } else {
    const rough = (high - low) / most, power = 10 ** floor(log10(rough));
    const step = power * [1, 2, 5, 10].find(s => s * power >= rough * 0.999);
    for (let k = ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(+(k * step).toPrecision(12));
  }
  const slack = 1e-9 * (high - low);
  return found.filter(t => t >= low - slack && t <= high + slack);
};

// What every figure has: its data, the formulas in it, controls, and a picture that follows them.
class Figure extends HTMLElement {
  connectedCallback() {
    if (this.spec) return;
    // While the page is read, what stands inside is not there yet.
    if (document.readyState === "loading") return document.addEventListener("DOMContentLoaded", () => this.connectedCallback());
    const s = this.spec = JSON.parse(this.querySelector("script[type='application/json']").textContent);
    const t = (k, v) => table(s.tables[k], v);
    const formula = js => {
      const f = new Function("v,erf,erfc,lgamma,digamma,lse,total,table,iterate,largest,draw", "return " + js);
      return (v, draw) => f(v, erf, erfc, lgamma, digamma, lse, total, t, iterate, largest, draw);
    };
    for (const c of s.curves) c.f = formula(c.js);
    if (s.layers) s.layers.f = s.layers.js.map(formula);
    this.at = [];
    this.off = s.curves.map(c => !!c.broken);
    const find = e => this.querySelector(e), stage = this.stage = find(".vt-live-stage");
    this.keys = find(".vt-live-key").children;
    this.plot = make("svg", { class: "vt-live-plot", role: "img", "aria-label": find("svg").getAttribute("aria-label") });
    this.said = make("p", { class: "vt-live-said", "aria-live": "polite" });
    this.note = make("p", { class: "vt-live-note" });
    const controls = this.controls = make("div", { class: "vt-live-controls" });
    // Models by their names: each button sets the controls for which it has a value.
    const row = make("div", { class: "vt-live-presets", role: "group", "aria-label": "Set to" }, "Set to ");
    this.presets = (s.presets || []).map(([name, to]) => {
      const b = make("button", { type: "button" }, name);
      b.onclick = () => { to.forEach(e => this.set(...e)); this.changed(); };
      row.append(b);
      return [b, to];
    });
    if (s.presets) controls.append(row);
    s.sliders.forEach((e, k) => { controls.append(this.control(e, k)); this.set(k, e.start); });
    s.curves.forEach((c, k) => {
      if (!c.broken) return;
      const box = make("input", { type: "checkbox", role: "switch" });
      box.onchange = () => { this.off[k] = !box.checked; this.draw(); };
      controls.append(make("label", { class: "vt-live-break" }, box, make("b", {}, "Break it: "), c.name));
    });
    stage.append(this.plot);
    find(".vt-live-key").before(controls);
    find(".vt-live-key").after(this.note, this.said);
    this.ready();
    new ResizeObserver(() => { if (stage.clientWidth && stage.clientWidth !== this.wide) this.draw(); }).observe(stage);
    this.draw();
  }

  // A slider: the native one, moved in whole steps, which stand for values on its scale.
  control(e, k) {
    e.steps = e.stops ? e.stops.length - 1 : e.whole && !e.log ? e.high - e.low : 240;
    const id = "vt" + Math.random().toString(36).slice(2);
    const label = make("label", { for: id }, e.label), out = make("b");
    if (e.names) {
      const pick = make("select", { id }, ...e.names.map((n, j) => make("option", { value: j }, n)));
      pick.oninput = () => this.move(k, +pick.value);
      Object.assign(e, { input: pick, out });
      return make("div", {}, label, pick);
    }
    const input = make("input", { type: "range", id, min: 0, max: e.steps, step: 1 });
    input.oninput = () => this.move(k, +input.value);
    Object.assign(e, { input, out });
    return make("div", {}, label, input, out);
  }
  place(e, v) {
    if (e.stops) return e.stops.indexOf(v) / e.steps;
    return e.log ? log(v / e.low) / log(e.high / e.low) : (v - e.low) / (e.high - e.low);
  }
  value(e, u) {
    if (e.stops) return e.stops[round(u * e.steps)];
    const v = e.log ? e.low * (e.high / e.low) ** u : e.low + (e.high - e.low) * u;
    return e.whole ? round(v) : min(e.high, max(e.low, v));
  }
  // A whole number may stand for several steps of its slider, which keeps the one that it is moved to.
  set(k, v, step) {
    const e = this.spec.sliders[k];
    this.at[k] = v;
    e.input.value = step ?? this.place(e, v) * e.steps;
  }
  move(k, step) {
    const e = this.spec.sliders[k];
    this.set(k, this.value(e, step / e.steps), step);
    this.changed();
  }
  changed() { this.draw(); }
  // A row of buttons, each with what it does.
  buttons(name, does) {
    const row = make("div", { class: "vt-live-draw", role: "group", "aria-label": name });
    for (const key in does) {
      const b = make("button", { type: "button" }, key);
      b.onclick = does[key];
      row.append(b);
    }
    this.controls.prepend(row);
  }

  // What controls say of themselves, and which preset is set.
  label() {
    this.spec.sliders.forEach((e, k) => {
      e.out.textContent = told(e, this.at[k]);
      if (!e.names) e.input.setAttribute("aria-valuetext", told(e, this.at[k]));
    });
    for (const [b, to] of this.presets) b.setAttribute("aria-pressed", this.there(to));
  }
  there(where) { return where.every(e => this.at[e[0]] === e[1]); }
  // The picture's width, height and frame, with room at the right.
  size(room) {
    const wide = this.wide = this.stage.clientWidth || 640, high = max(250, min(400, wide * 0.58));
    this.plot.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    return [wide, high, ...(this.frame = [52, 26, wide - 52 - (wide >= 560 ? room : 14), high - 70])];
  }
  // For those who do not see it, when it has come to rest.
  say(text) {
    clearTimeout(this.timer);
    const where = this.spec.sliders.map((e, k) => `${e.label} ${told(e, this.at[k])}`).join(", ");
    this.timer = setTimeout(() => { this.said.textContent = `At ${where}: ${text}.`; }, 600);
  }
}

// Curves over a variable. The variable's own control lies along the axis: it says where values are read.
customElements.define("vt-live", class extends Figure {
  ready() {
    const x = this.spec.sliders[0];
    this.plot.onpointerdown = this.plot.onpointermove = e => {
      if (e.pointerType !== "mouse" && !e.buttons) return;
      const u = (e.clientX - this.plot.getBoundingClientRect().left - this.frame[0]) / this.frame[2];
      this.move(0, round(max(0, min(1, u)) * x.steps));
    };
    this.stage.append(x.input.parentNode);
    x.input.parentNode.className = "vt-live-along";
    x.input.setAttribute("aria-label", x.label);
    x.input.previousSibling.textContent = "read at";
    this.hands = this.spec.curves.filter(c => c.hand);
    if (this.hands.length) this.turn();
    if (this.spec.layers) this.buttons("Run", { "Run again": () => this.run() });
  }

  // A dial, which is turned by hand: the marker moves on by what the first hand needs for that.
  turn() {
    const dial = this.dial = make("svg", { class: "vt-live-dial", viewBox: "-100 -100 200 200", "aria-hidden": true });
    const x = this.spec.sliders[0], [{ f }] = this.hands;
    const angle = e => {
      const b = dial.getBoundingClientRect();
      return Math.atan2(e.clientX - b.left - b.width / 2, b.top + b.height / 2 - e.clientY);
    };
    let from, to;
    dial.onpointerdown = e => { dial.setPointerCapture(e.pointerId); from = angle(e); to = this.at[0]; };
    dial.onpointermove = e => {
      if (!dial.hasPointerCapture(e.pointerId)) return;
      const [a, ...rest] = this.at, by = angle(e) - from;
      from += by;
      to += (by - 2 * PI * round(by / 2 / PI)) / (f([a + 1, ...rest]) - f(this.at));
      to = max(x.low, min(x.high, to));
      this.set(0, x.whole ? round(to) : to);
      this.changed();
    };
    this.controls.prepend(dial);
  }
  pointed() {
    const tips = this.hands.map(c => [88 * Math.sin(c.f(this.at)), -88 * Math.cos(c.f(this.at)), c.look]);
    const hand = ([a, b, look]) => [make("line", { class: "curve " + look, x2: a, y2: b }), make("circle", { class: "point " + look, cx: a, cy: b, r: 6 })];
    if (tips.length > 1) tips.push([...[0, 1].map(k => (tips[0][k] + tips[1][k]) / 2), this.spec.curves[1].look]);
    this.dial.replaceChildren(make("circle", { class: "rim", r: 96 }), ...tips.flatMap(hand));
  }

  // Random layers, one in a frame, or all at once for those who want no motion.
  changed() {
    const where = String(this.at.slice(1));
    if (this.spec.layers && where !== this.where) this.run(); else this.draw();
  }
  run() {
    this.where = String(this.at.slice(1));
    this.stack = [Array.from({ length: this.spec.layers.units }, LAWS["±1"])];
    this.further();
  }
  further() {
    cancelAnimationFrame(this.next);
    const { layers: s, sliders: [x] } = this.spec, f = s.f[s.js.length > 1 ? this.at[s.of] : 0];
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    do {
      const before = this.stack.at(-1), kept = {}, at = [this.layer(this.stack.length), ...this.at.slice(1)];
      const draw = (k, ...i) => k ? kept[[k, ...i]] ??= LAWS[s.laws[k - 1]]() : before[i[0] - 1];
      this.stack.push(before.map((_, i) => f([...at, i + 1], draw)));
    } while (still && this.stack.length <= x.steps);
    this.draw();
    if (this.stack.length <= x.steps) this.next = requestAnimationFrame(() => this.further());
  }
  layer(k) { const { stops } = this.spec.sliders[0]; return stops[this.spec.layers.back ? stops.length - 1 - k : k]; }
  squares() { return (this.stack || []).map((units, k) => [this.layer(k), units.reduce((s, u) => s + u * u, 0) / units.length]); }

  draw() {
    const s = this.spec, [x, ...rest] = s.sliders, at = this.at;
    this.label();
    const names = max(...s.curves.map(c => c.broken || c.hand ? 0 : c.name.length));
    const [wide, high, L, T, W, H] = this.size(min(170, 16 + 6.4 * names)), roomy = wide >= 560;
    const shown = s.curves.filter((c, k) => !this.off[k]);
    const many = x.stops ? x.steps : 160;
    this.drawn = s.curves.map(c => Array.from({ length: many + 1 }, (_, k) => {
      const v = [this.value({ ...x, whole: 0 }, k / many), ...at.slice(1)];
      return [v[0], c.f(v)];
    }));
    const points = s.points.filter(p => this.there(p.where));
    const [low, high_] = s.limits || this.range(points);
    const f = s.log ? log : v => v;
    const X = v => L + W * this.place(x, v);
    const Y = v => T + H * (1 - max(-9, min(10, (f(v) - f(low)) / (f(high_) - f(low)))));
    const g = [], put = (tag, set, ...inside) => g.push(make(tag, set, ...inside));
    for (const t of ticks(low, high_, s.log, 6)) {
      put("line", { class: "grid", x1: L, x2: L + W, y1: Y(t), y2: Y(t) });
      put("text", { x: L - 6, y: Y(t) + 4, "text-anchor": "end" }, number(t));
    }
    for (const t of x.steps < 12 && x.stops || ticks(x.low ?? x.stops[0], x.high ?? x.stops.at(-1), x.log, roomy ? 7 : 4)) {
      put("line", { class: "grid", x1: X(t), x2: X(t), y1: T, y2: T + H });
      put("text", { x: X(t), y: T + H + 16, "text-anchor": "middle" }, number(t));
    }
    put("text", { class: "title", x: 4, y: 14 }, s.y);
    put("text", { class: "title", x: L + W / 2, y: high - 6, "text-anchor": "middle" }, x.label + (x.unit ? `, ${x.unit}` : ""));
    const clip = make("svg", { x: L, y: T - 4, width: W, height: H + 8, viewBox: `${L} ${T - 4} ${W} ${H + 8}` });
    const ends = [];
    s.curves.forEach((c, k) => {
      if (this.off[k] || c.hand) return;
      let d = "", pen = "M";
      for (const [a, b] of this.drawn[k]) {
        if (isFinite(b) && (!s.log || b > 0)) { d += pen + X(a).toFixed(1) + " " + Y(b).toFixed(1); pen = "L"; } else pen = "M";
      }
      clip.append(make("path", { class: "curve " + c.look, d }));
      // Its name stands at its end: where it leaves the picture, or in the margin.
      const last = this.drawn[k].filter(p => p[1] >= low && p[1] <= high_).pop();
      if (last && roomy && !c.broken) ends.push([max(T + 4, Y(last[1])), min(L + W + 6, X(last[0]) + 9), c]);
    });
    for (const p of points) p.rows.forEach(([a, b, e]) => {
      const look = s.curves[p.of].look;
      if (e) clip.append(make("line", { class: "bar " + look, x1: X(a), x2: X(a), y1: Y(b + 3 * e), y2: Y(s.log ? max(b - 3 * e, low / 9) : b - 3 * e) }));
      clip.append(make("circle", { class: "point " + look, cx: X(a), cy: Y(b), r: 3.5 }));
    });
    const here = X(at[0]);
    clip.append(make("line", { class: "here", x1: here, x2: here, y1: T, y2: T + H }));
    const path = points => "M" + points.map(([a, b]) => X(a).toFixed(1) + " " + Y(b).toFixed(1)).join("L");
    if (this.stack) {
      const dots = this.stack.flatMap((units, k) => units.slice(0, 24).filter(u => u).map(u => `M${X(this.layer(k)).toFixed(1)} ${Y(u * u).toFixed(1)}h1.5`));
      clip.append(make("path", { class: "units", d: dots.join("") }), make("path", { class: "steps", d: path(this.squares()) }));
    }
    if (this.dial) this.pointed();
    if (s.steps) clip.append(make("path", { class: "steps", d: this.steps(x, X, Y) }));
    const values = s.curves.map(c => c.f(at));
    s.curves.forEach((c, k) => {
      if (!this.off[k] && !c.rule && !c.hand && isFinite(values[k])) clip.append(make("circle", { class: "read " + c.look, cx: here, cy: Y(values[k]), r: 4 }));
    });
    g.push(clip);
    ends.sort((a, b) => a[0] - b[0]).forEach((e, k) => {
      if (k) e[0] = max(e[0], ends[k - 1][0] + 15);
      put("text", { class: "end " + e[2].look, x: e[1], y: e[0] + 4 }, e[2].name);
    });
    this.plot.replaceChildren(...g);
    const along = s.sliders[0].input.parentNode.style;
    along.marginLeft = L - 8 + "px"; along.width = W + 16 + "px";
    this.tell(values, points);
  }

  // Layer after layer: up to the first curve, across to the diagonal.
  steps(x, X, Y) {
    let a = this.at[0], d = `M${X(a).toFixed(1)} ${Y(a).toFixed(1)}`;
    for (let k = 0; k < this.spec.steps; k++) {
      const b = this.spec.curves[0].f([a, ...this.at.slice(1)]);
      if (!(b >= x.low && b <= x.high)) return d + `V${Y(b).toFixed(1)}`;
      d += `V${Y(b).toFixed(1)}H${X(b).toFixed(1)}`;
      a = b;
    }
    return d;
  }

  range(points) {
    const s = this.spec, seen = [...this.drawn.filter((_, k) => !s.curves[k].broken && !s.curves[k].hand).flat().map(p => p[1]),
      ...points.flatMap(p => p.rows.map(r => r[1]))].filter(v => isFinite(v) && (!s.log || v > 0));
    let a = min(...seen), b = max(...seen);
    if (s.log) return [a / 1.2, b * 1.2];
    if (a === b) { a -= 1; b += 1; }
    const pad = (b - a) * 0.06;
    return [a >= 0 && a < b / 3 ? 0 : a - pad, b + pad];
  }

  // The value of each curve at the marker, and how far the measured points are from it.
  tell(values, points) {
    const s = this.spec, at = this.at, said = [];
    s.curves.forEach((c, k) => {
      let text = number(values[k]);
      const key = this.keys[k], hidden = this.off[k];
      const judged = c.broken ? c.breaks : k, rows = points.filter(p => p.of === judged).flatMap(p => p.rows).filter(r => r[2]);
      if (rows.length && !hidden) {
        // What a table may be off by is no miss.
        const off = v => (c.off || 0) * (c.share ? abs(v) : 1);
        const far = max(...rows.map(([a, b, e]) => { const v = c.f([a, ...at.slice(1)]); return max(0, abs(v - b) - off(v)) / e; }));
        text += far < 0.1 ? "; all points on it" : far < 5 ? `; all points within ${number(far)} standard errors` : `; misses a point by ${number(far)} standard errors`;
      }
      key.hidden = hidden;
      key.querySelector("b").textContent = hidden ? "" : text;
      if (!hidden) said.push(`${c.name}: ${text}`);
    });
    const here = this.squares().find(p => p[0] === at[0]);
    this.note.textContent = here ? `One run, drawn here: ${number(here[1])} at ${s.sliders[0].label} ${number(at[0])}.` : s.points.length && !points.length ? s.elsewhere : "";
    this.say(said.join("; "));
  }
});

// A pile: a quantity drawn again and again, beside the mean and the spread that formulas predict.
customElements.define("vt-pile", class extends Figure {
  ready() {
    this.buttons("Draw", { "Draw one": () => this.more(1), "Draw 200": () => this.more(200) });
    this.last = NaN;
    this.pile = { bins: [...this.spec.seen.bins], sums: [...this.spec.seen.sums] };
  }
  // Another setting has its own pile.
  changed() {
    this.pile = { bins: this.pile.bins.map(() => 0), sums: [0, 0, 0, 0, 0] };
    this.more(200);
  }
  one() {
    const { curves, laws, sliders } = this.spec, kept = {};
    const draw = (k, ...i) => {
      const law = laws[k];
      return kept[[k, ...i]] ??= LAWS[law.length ? law : sliders[law].names[this.at[law]]]();
    };
    const found = curves[0].f(this.at, draw);
    this.all = draw.all || [];
    return found;
  }
  // As many as a frame has time for, until all are there.
  more(count) {
    cancelAnimationFrame(this.next);
    const { low, high, curves } = this.spec, { bins, sums } = this.pile;
    const mean = curves[1].f(this.at), until = performance.now() + 12;
    do {
      const v = this.last = this.one(), place = floor((v - low) / (high - low) * bins.length);
      if (place in bins) bins[place]++;
      for (let power = 0; power < 5; power++) sums[power] += (v - mean) ** power;
      count--;
    } while (count > 0 && performance.now() < until);
    this.draw();
    if (count > 0) this.next = requestAnimationFrame(() => this.more(count));
  }
  draw() {
    this.label();
    const s = this.spec, { bins } = this.pile, [wide, high, L, T, W, H] = this.size(14);
    const X = v => (L + W * (v - s.low) / (s.high - s.low)).toFixed(1), bottom = T + H;
    const g = [], put = (tag, set, ...inside) => g.push(make(tag, set, ...inside));
    for (const t of ticks(s.low, s.high, 0, wide >= 560 ? 7 : 4)) {
      put("line", { class: "grid", x1: X(t), x2: X(t), y1: T, y2: bottom });
      put("text", { x: X(t), y: bottom + 16, "text-anchor": "middle" }, number(t));
    }
    put("text", { class: "title", x: 4, y: 14 }, "how many");
    put("text", { class: "title", x: L + W / 2, y: high - 6, "text-anchor": "middle" }, s.y);
    const clip = make("svg", { x: L, y: T, width: W, height: H, viewBox: `${L} ${T} ${W} ${H}` });
    const values = s.curves.map((c, k) => k ? c.f(this.at) : 0), mean = values[1];
    const up = H / (max(4, ...bins) * 1.08), step = W / bins.length;
    clip.append(make("path", { class: "heap", d: bins.map((c, k) =>
      c ? `M${(L + step * k).toFixed(1)} ${bottom}v${(-c * up).toFixed(1)}h${(step - 1).toFixed(1)}V${bottom}Z` : "").join("") }));
    s.curves.forEach((c, k) => {
      if (!k || this.off[k]) return;
      const v = values[k], d = this.spreads(c, k) ? `M${X(mean - v)} ${T}V${bottom}M${X(mean + v)} ${T}V${bottom}` : `M${X(v)} ${T}V${bottom}`;
      clip.append(make("path", { class: "curve " + c.look, d }));
    });
    (this.all || []).forEach((v, k, all) => clip.append(make("circle", { class: "point " + (k ? "s5" : "s3"), cx: X(v), cy: T + H * (k + 0.5) / all.length, r: k ? 2.2 : 4 })));
    if (isFinite(this.last)) clip.append(make("circle", { class: "point s2", cx: X(this.last), cy: bottom - 5, r: 5 }));
    this.plot.replaceChildren(...g, clip);
    this.values = values;
    this.tell(values);
  }
  spreads(c, k) { return (c.broken ? c.breaks : k) === 2; }
  // Mean and spread of what was drawn, and how far from them each prediction is.
  tell(values) {
    const s = this.spec, [n, ...rest] = this.pile.sums, [a, b, c, d] = rest.map(e => e / n), said = [];
    const square = max(0, b - a * a), spread = sqrt(square), fourth = d - 4 * a * c + 6 * a * a * b - 3 * a ** 4;
    const found = { mean: [values[1] + a, spread / sqrt(n)], spread: [spread, sqrt(max(0, fourth - square * square) / n) / 2 / spread] };
    s.curves.slice(1).forEach((c, k) => {
      const [seen, error] = found[this.spreads(c, k + 1) ? "spread" : "mean"], away = abs(values[k + 1] - seen) / (error + 1e-9);
      const key = this.keys[k], hidden = key.hidden = this.off[k + 1];
      const text = number(values[k + 1]) + (n >= 50 && away > 5 ? `; misses what is drawn by ${number(away)} standard errors` : "");
      key.querySelector("b").textContent = hidden ? "" : text;
      if (!hidden) said.push(`${c.name}: ${text}`);
    });
    const drawn = n < 2 ? "one drawn" : `${number(n)} drawn: ` + Object.entries(found).map(([name, e]) => `${name} ${within(...e)}`).join(", ");
    this.note.textContent = `${drawn}.`;
    this.say(`${drawn}; ${said.join("; ")}`);
  }
});
})();
