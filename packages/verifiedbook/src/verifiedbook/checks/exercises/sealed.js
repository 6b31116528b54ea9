/* Exercises of a course, which judge and hold no solution: what is sealed, and how, is said in
   withheld_solutions.py. */
const PRIMES = [];
for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every(prime => n % prime)) PRIMES.push(n);
const fraction = x => (x % 1) * 2 ** 32 | 0, turned = (word, by) => word >>> by | word << 32 - by;
const ROUNDS = PRIMES.map(prime => fraction(Math.cbrt(prime)));

function sha256(text) {  // as eight words; pages opened as files, or over plain http, have no crypto.subtle
  const bytes = [...new TextEncoder().encode(text), 128], size = (bytes.length + 7 >> 6) + 1 << 4;
  const words = new Int32Array(size);
  bytes.forEach((byte, n) => { words[n >> 2] |= byte << 24 - n % 4 * 8; });
  words[size - 1] = (bytes.length - 1) * 8;
  let state = PRIMES.slice(0, 8).map(prime => fraction(Math.sqrt(prime)));
  for (let start = 0; start < size; start += 16) {
    const w = [...words.subarray(start, start + 16)];
    let [a, b, c, d, e, f, g, h] = state;
    ROUNDS.forEach((round, n) => {
      const x = w[n - 15], y = w[n - 2];
      w[n] ??= w[n - 16] + (turned(x, 7) ^ turned(x, 18) ^ x >>> 3) + w[n - 7] + (turned(y, 17) ^ turned(y, 19) ^ y >>> 10) | 0;
      const one = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + (e & f ^ ~e & g) + round + w[n] | 0;
      const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + (a & b ^ a & c ^ b & c) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, d + one | 0, c, b, a, one + two | 0];
    });
    state = [a, b, c, d, e, f, g, h].map((word, n) => word + state[n] | 0);
  }
  return state;
}
const hex = word => (word >>> 0).toString(16).padStart(8, "0");
const tag = name => sha256(name).slice(0, 2).map(hex).join("");

/* What is said to an answer of this name: its formulas go to those that are typeset. */
function unsealed(held, rows, name) {
  const salted = `${held.id} ${name}`, closed = rows[tag(salted)];
  if (!closed) return "";
  const bytes = Uint8Array.from(atob(closed), letter => letter.charCodeAt(0));
  let block;
  const [say, typeset] = JSON.parse(new TextDecoder().decode(bytes.map((byte, n) => {
    if (n % 32 === 0) block = sha256(`${salted} ${n / 32}`);
    return byte ^ block[n % 32 >> 2] >>> 24 - n % 4 * 8;
  })));
  held.typeset = { ...held.typeset, ...typeset.typeset };
  return say;
}

/* The names of the bins in which values may be meant, the nearest first. */
function bins(held, found, slack) {
  const sizes = found.map(value => Math.max(Math.abs(value), 1e-300)), width = held.within / 20;
  const mean = sizes.reduce((sum, size) => sum + Math.log(size), 0) / sizes.length;
  const off = Math.max(held.within, Math.min(slack / sizes[0], 0.05));
  const [low, high] = [Math.log1p(off), Math.log1p(-off)].map(by => (mean - by) / width);
  const names = [];
  for (let n = Math.ceil(low); n <= high; n++) names.push(n);
  const signs = found.map(value => value < 0 ? "-" : "+").join("");
  return names.sort((a, b) => Math.abs(a - mean / width) - Math.abs(b - mean / width)).map(n => signs + n);
}
