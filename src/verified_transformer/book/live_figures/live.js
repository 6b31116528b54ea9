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

customElements.define("vt-live", class extends HTMLElement {
  connectedCallback() {
    if (this.spec) return;
    // While the page is read, what stands inside is not there yet.
    if (document.readyState === "loading") return document.addEventListener("DOMContentLoaded", () => this.connectedCallback());
    const s = this.spec = JSON.parse(this.querySelector("script[type='application/json']").textContent);
    for (const c of s.curves) {
      const f = new Function("v,erf,erfc,lgamma,digamma,lse,total,table", "return " + c.js);
      const t = (k, v) => table(s.tables[k], v);
      c.f = v => f(v, erf, erfc, lgamma, digamma, lse, total, t);
    }
    this.at = [];
    this.off = s.curves.map(c => !!c.broken);
    const find = e => this.querySelector(e), stage = this.stage = find(".vt-live-stage");
    this.keys = find(".vt-live-key").children;
    this.plot = make("svg", { class: "vt-live-plot", role: "img", "aria-label": find("svg").getAttribute("aria-label") });
    this.said = make("p", { class: "vt-live-said", "aria-live": "polite" });
    this.note = make("p", { class: "vt-live-note" });
    const controls = make("div", { class: "vt-live-controls" });
    // Models by their names: each button sets the controls for which it has a value.
    const row = make("div", { class: "vt-live-presets", role: "group", "aria-label": "Set to" }, "Set to ");
    this.presets = (s.presets || []).map(([name, to]) => {
      const b = make("button", { type: "button" }, name);
      b.onclick = () => { to.forEach(e => this.set(...e)); this.draw(); };
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
    this.plot.onpointerdown = this.plot.onpointermove = e => {
      if (e.pointerType !== "mouse" && !e.buttons) return;
      const r = this.plot.getBoundingClientRect();
      const u = (e.clientX - r.left - this.frame[0]) / this.frame[2];
      this.move(0, round(max(0, min(1, u)) * s.sliders[0].steps));
    };
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
    this.draw();
  }

  draw() {
    const s = this.spec, [x, ...rest] = s.sliders, at = this.at;
    s.sliders.forEach((e, k) => {
      e.out.textContent = told(e, at[k]);
      if (!e.names) e.input.setAttribute("aria-valuetext", told(e, at[k]));
    });
    const there = w => w.every(e => at[e[0]] === e[1]);
    for (const [b, to] of this.presets) b.setAttribute("aria-pressed", there(to));
    const wide = this.wide = this.stage.clientWidth || 640;
    const high = max(250, min(400, wide * 0.58));
    const shown = s.curves.filter((c, k) => !this.off[k]);
    const many = x.stops ? x.steps : 160;
    this.drawn = s.curves.map(c => Array.from({ length: many + 1 }, (_, k) => {
      const v = [this.value({ ...x, whole: 0 }, k / many), ...at.slice(1)];
      return [v[0], c.f(v)];
    }));
    const points = s.points.filter(p => there(p.where));
    const [low, high_] = s.limits || this.range(points);
    const f = s.log ? log : v => v, roomy = wide >= 560;
    const names = max(...s.curves.map(c => c.broken ? 0 : c.name.length));
    const L = 52, T = 26, W = wide - L - (roomy ? min(170, 16 + 6.4 * names) : 14), H = high - T - 44;
    this.frame = [L, T, W, H];
    const X = v => L + W * this.place(x, v);
    const Y = v => T + H * (1 - max(-9, min(10, (f(v) - f(low)) / (f(high_) - f(low)))));
    const g = [], put = (tag, set, ...inside) => g.push(make(tag, set, ...inside));
    for (const t of ticks(low, high_, s.log, 6)) {
      put("line", { class: "grid", x1: L, x2: L + W, y1: Y(t), y2: Y(t) });
      put("text", { x: L - 6, y: Y(t) + 4, "text-anchor": "end" }, number(t));
    }
    for (const t of x.stops || ticks(x.low, x.high, x.log, roomy ? 7 : 4)) {
      put("line", { class: "grid", x1: X(t), x2: X(t), y1: T, y2: T + H });
      put("text", { x: X(t), y: T + H + 16, "text-anchor": "middle" }, number(t));
    }
    put("text", { class: "title", x: 4, y: 14 }, s.y);
    put("text", { class: "title", x: L + W / 2, y: high - 6, "text-anchor": "middle" }, x.label + (x.unit ? `, ${x.unit}` : ""));
    const clip = make("svg", { x: L, y: T - 4, width: W, height: H + 8, viewBox: `${L} ${T - 4} ${W} ${H + 8}` });
    const ends = [];
    s.curves.forEach((c, k) => {
      if (this.off[k]) return;
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
    const values = s.curves.map(c => c.f(at));
    s.curves.forEach((c, k) => {
      if (!this.off[k] && !c.rule && isFinite(values[k])) clip.append(make("circle", { class: "read " + c.look, cx: here, cy: Y(values[k]), r: 4 }));
    });
    g.push(clip);
    ends.sort((a, b) => a[0] - b[0]).forEach((e, k) => {
      if (k) e[0] = max(e[0], ends[k - 1][0] + 15);
      put("text", { class: "end " + e[2].look, x: e[1], y: e[0] + 4 }, e[2].name);
    });
    this.plot.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    this.plot.replaceChildren(...g);
    this.tell(values, points);
  }

  range(points) {
    const s = this.spec, seen = [...this.drawn.filter((_, k) => !s.curves[k].broken).flat().map(p => p[1]),
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
    const where = s.sliders.map((e, k) => `${e.label} ${told(e, at[k])}`).join(", ");
    this.note.textContent = s.points.length && !points.length ? s.elsewhere : "";
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.said.textContent = `At ${where}: ${said.join("; ")}.`; }, 600);
  }
});
})();
