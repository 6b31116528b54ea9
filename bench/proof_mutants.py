"""Faults planted in what the proofs state, and what refuses them: `python bench/proof_mutants.py`.

A theorem's statement is changed at one place: a number or an exponent by one or twice, an operator,
a term or a factor dropped, a sign, two symbols exchanged. Two things may refuse it. `refuted`: the
law that is proved to meet the hypotheses (`…_met`) gives the changed conclusion another truth or
another mean, by sums over its points. `broke`: the kernel does not take the unchanged proof for it,
which says less. What is neither refuted nor named as equal is a survivor, and is printed.

    python bench/proof_mutants.py                every theorem, by value: seconds
    python bench/proof_mutants.py --kernel       and by the kernel, hypotheses too (minutes)
    python bench/proof_mutants.py --kernel INIT_14_general
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "proofs"))
import check  # noqa: E402

TOKEN = re.compile(r"%nat|:=|=>|->|<=|<>|/\\|\d+|[^\W\d_][\w₀']*(?:\.\w+)*|_|[-+*/^(),<>=:~]")
WORDS = {"fun", "let", "in", "forall", "if", "then", "else", "Σ", "_", "INR", "mean", "variance"}
Point = tuple[float, Any]


# A statement of Rocq, read as a function of its symbols


class Reading:
    """A reader of one statement: each rule returns a function of the symbols' values."""

    def __init__(self, tokens: list[str], known: dict[str, Any]) -> None:
        self.tokens, self.at, self.known = tokens, 0, known

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if not token or (wanted and token != wanted):
            raise ValueError(f"expected {wanted or 'more'}, found {token or 'the end'}")
        self.at += 1
        return token

    def names(self, stop: str) -> list[str]:
        found = []
        while self.peek() != stop:
            if self.take() == "(":
                self.at -= 1
                found += self.typed()
            else:
                found.append(self.tokens[self.at - 1])
        self.take(stop)
        return found

    def typed(self) -> list[str]:
        self.take("(")
        inner = self.names(":")
        depth = 1
        while depth:
            depth += {"(": 1, ")": -1}.get(self.take(), 0)
        return inner

    def term(self) -> Callable:
        head = self.peek()
        if head == "fun":
            self.take()
            return _function(self.names("=>"), self.term())
        if head == "let":
            self.take()
            name, *arguments = self.names(":=")
            value = self.term()
            self.take("in")
            body = self.term()
            made = _function(arguments, value) if arguments else value
            return lambda env: body({**env, name: made(env)})
        if head == "forall":
            self.take()
            names = self.names(",")
            body = self.term()
            return lambda env: all(
                body({**env, **dict(zip(names, at, strict=True))})
                for at in itertools.product(range(4), repeat=len(names))
            )
        if head == "if":
            self.take()
            test = self.relation()
            self.take("then")
            yes = self.term()
            self.take("else")
            no = self.term()
            return lambda env: (yes if test(env) else no)(env)
        left = self.relation()
        if self.peek() == "->":
            self.take()
            right = self.term()
            return lambda env: right(env) if left(env) else True
        return left

    def relation(self) -> Callable:
        parts, signs = [self.sums()], []
        while self.peek() in COMPARE:
            signs.append(COMPARE[self.take()])
            parts.append(self.sums())
        if not signs:
            return parts[0]
        return lambda env: all(
            sign(a, b)
            for sign, (a, b) in zip(signs, itertools.pairwise([p(env) for p in parts]), strict=True)
        )

    def sums(self) -> Callable:
        left = self.products()
        while self.peek() in ("+", "-"):
            left = _both(self.take(), left, self.products())
        return left

    def products(self) -> Callable:
        left = self.unary()
        while self.peek() in ("*", "/"):
            left = _both(self.take(), left, self.unary())
        return left

    def unary(self) -> Callable:
        if self.peek() in ("-", "/"):
            sign, inner = self.take(), self.unary()
            return (lambda env: -inner(env)) if sign == "-" else (lambda env: _over(1, inner(env)))
        if self.peek() == "Σ":
            self.take()
            name = self.take()
            self.take("<")
            limit = self.sums()
            self.take(",")
            body = self.products()
            return lambda env: sum(body({**env, name: i}) for i in range(int(limit(env))))
        base = self.application()
        if self.peek() == "^":
            self.take()
            power = self.unary()
            return lambda env: base(env) ** power(env)
        return base

    def application(self) -> Callable:
        head, arguments = self.atom(), []
        while self.peek() and (self.peek() == "(" or self.peek() not in STOPS):
            arguments.append(self.atom())
        return _applied(head, arguments) if arguments else head

    def atom(self) -> Callable:
        token = self.take()
        if token == "(":
            inner = self.term()
            self.take(")")
            if self.peek() == "%nat":
                self.take()
                return lambda env: _whole(inner(env))
            return inner
        if token.isdigit():
            if self.peek() == "%nat":
                self.take()
            return lambda env: int(token)
        if token in self.known:
            return lambda env: env[token] if token in env else self.known[token]
        return lambda env: env[token]


def _whole(value: Any) -> Any:
    return math.floor(value) if isinstance(value, float) else value


def _over(a: Any, b: Any) -> Any:
    return a * (1 / b if b else 0)  # Rocq: /0 = 0


def _close(a: Any, b: Any) -> bool:
    return abs(a - b) <= 1e-8 * (1 + abs(a) + abs(b))


COMPARE: dict[str, Callable] = {
    "=": _close,
    "<>": lambda a, b: not _close(a, b),
    "<": lambda a, b: a < b and not _close(a, b),
    "<=": lambda a, b: a < b or _close(a, b),
    ">": lambda a, b: a > b and not _close(a, b),
    ">=": lambda a, b: a > b or _close(a, b),
}
STOPS = {"+", "-", "*", "/", "^", ")", ",", "->", "=>", "%nat", "in", "then", "else", *COMPARE}
ACT: dict[str, Callable] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _over,
}


def _both(sign: str, left: Callable, right: Callable) -> Callable:
    return lambda env: ACT[sign](left(env), right(env))


def _function(names: list[str], body: Callable) -> Callable:
    if not names:
        return body
    inner = _function(names[1:], body)
    return lambda env: lambda value: inner({**env, names[0]: value})


def _applied(head: Callable, arguments: list[Callable]) -> Callable:
    def value(env: dict[str, Any]) -> Any:
        made = head(env)
        for argument in arguments:
            made = made(argument(env))
        return made

    return value


# The laws, as points with their shares


def _curried(function: Callable, count: int) -> Callable:
    if count == 1:
        return function
    return lambda a: _curried(lambda *rest: function(a, *rest), count - 1)


def _panels(low: float, high: float) -> list[Point]:
    nodes, weights = np.polynomial.legendre.leggauss(48)
    edges = [low, *[e for e in (-4.0, 0.0, 4.0) if low < e < high], high]
    return [
        (float(w * (b - a) / 2 * math.exp(-z * z / 2)), z)
        for a, b in itertools.pairwise(edges)
        for x, w in zip(nodes, weights, strict=True)
        for z in [float((a + b) / 2 + (b - a) / 2 * x)]
    ]


def _shares(points: list[Point]) -> list[Point]:
    whole = sum(p for p, _ in points)
    return [(p / whole, z) for p, z in points]


def _normal(sigma: float) -> list[Point]:
    return [(p, sigma * z) for p, z in _shares(_panels(-14.0, 14.0))]


def _copies(count: int, law: list[Point]) -> list[Point]:
    if len(law) > 9:  # a normal law: fewer points do for the moments of many entries
        nodes, weights = np.polynomial.hermite_e.hermegauss(16)
        scale = math.sqrt(sum(p * x * x for p, x in law))
        law = _shares([(float(w), float(z) * scale) for z, w in zip(nodes, weights, strict=True)])
    drawn = itertools.product(law, repeat=count)
    return [
        (math.prod(p for p, _ in one), lambda i, one=one: one[i][1] if i < len(one) else 0.0)
        for one in drawn
    ]


def _mean(law: list[Point]) -> Callable:
    return lambda x: sum(p * x(at) for p, at in law)


def _variance(law: list[Point], x: Callable) -> float:
    mean = _mean(law)(x)
    return _mean(law)(lambda at: (x(at) - mean) ** 2)


def _stream(x: Callable, branches: Callable, k: int) -> Callable:
    return lambda at: x(at) + sum(branches(j)(at) for j in range(k))


def _post_norm(tau: float, x: Callable, branches: Callable, k: int) -> Callable:
    if k == 0:
        return x
    before = _post_norm(tau, x, branches, k - 1)
    return lambda at: (before(at) + branches(k - 1)(at)) / math.sqrt(1 + tau**2)


def _slope(function: Callable, at: float) -> float:
    return (function(at + 1e-4) - function(at - 1e-4)) / 2e-4


def known() -> dict[str, Any]:
    """Return what the files' words mean: the definitions, read, and the laws, as points."""
    found: dict[str, Any] = {
        "PI": math.pi,
        "INR": lambda n: n,
        "exp": math.exp,
        "sqrt": lambda v: math.sqrt(max(v, 0.0)),
        "ln": lambda v: math.log(v) if v > 0 else 0.0,
        "erf": math.erf,
        "erfc": math.erfc,
        "Rpower": _curried(lambda a, b: a**b, 2),
        "Rmax": _curried(max, 2),
        "Rle_dec": _curried(lambda a, b: a <= b, 2),
        "Nat.eq_dec": _curried(lambda a, b: a == b, 2),
        "S": lambda n: n + 1,
        "pos": lambda q: q,
        "fst": lambda p: p[0],
        "snd": lambda p: p[1],
        "_": None,
        "normal": _normal,
        "six": [(1 / 6, float(x)) for x in (2, -1, -1, 0, 0, 0)],
        "truncated": _curried(lambda c, _: _shares(_panels(-c, c)), 2),
        "two_points": _curried(lambda a, b: [(0.5, a), (0.5, b)], 2),
        "coin": lambda s: [(0.5, s), (0.5, -s)],
        "copies": _curried(_copies, 2),
        "pair": _curried(lambda a, b: [(p * q, (x, y)) for p, x in a for q, y in b], 2),
        "mean": _curried(lambda law, x, v: _close(_mean(law)(x), v), 3),
        "variance": _curried(lambda law, x, v: _close(_variance(law, x), v), 3),
        "is_derive": _curried(lambda f, x, v: abs(_slope(f, x) - v) < 1e-6, 3),
        "stream": _curried(_stream, 3),
        "post_norm": _curried(_post_norm, 4),
        "ends": lambda i: 1.0 if i == 0 else -1.0,
    }
    pattern = re.compile(
        r"Definition (\S+)((?: (?:\([^:)]*:[^)]*(?:\([^)]*\)[^)]*)*\)|\{[^}]*\}|[^\s:(]+))*)"
        r"(?: : [^=]*?)? :=\s(.*?)\.\s*\n",
        re.S,
    )
    for file in check.files():
        for name, arguments, body in pattern.findall(file.read_text(encoding="utf-8")):
            if name in found or re.search(r"\b(match|exists|forall|RInt)\b", body):
                continue
            reading = Reading(TOKEN.findall(re.sub(r"\{.*?\}", "", arguments) + " :="), found)
            names = reading.names(":=")
            found[name] = _function(names, Reading(TOKEN.findall(body), found).term())({})
    return found


# Where a theorem's hypotheses are met


@dataclass(frozen=True)
class Stated:
    """A theorem: its binders, the tokens of its hypotheses and of its conclusion."""

    name: str
    file: str
    bound: list[str]
    opening: str
    hypotheses: list[str]
    conclusion: list[str]


def stated() -> dict[str, Stated]:
    """Return the theorems of `proofs/`, in tokens."""
    found = {}
    for name, theorem in check.theorems().items():
        text = " ".join(theorem.statement.split())
        opening = match[0] if (match := re.match(r"forall .*?,\s", text)) else ""
        body = text[len(opening) :]
        last = theorem.conclusion
        hypotheses = body[: len(body) - len(last)]
        bound = Reading(TOKEN.findall(opening)[1:], {}).names(",") if "(" in opening else []
        if opening and not bound:
            bound = opening.split(":")[0].strip(", ").split()[1:]
        found[name] = Stated(
            name, theorem.file, bound, opening, TOKEN.findall(hypotheses), TOKEN.findall(last)
        )
    return found


SAMPLES = (
    ((1.3, 0.55, 1.6, 0.35, 0.8), (2, 3, 5)),
    ((1.0, 0.8, 0.3, 2.1, 0.6), (1, 3, 2)),
    ((0.7, 0.45, 0.9, 0.6, 0.25), (3, 4, 2)),
)


def _samples(names: list[str]) -> Iterator[dict[str, Any]]:
    for reals, counts in SAMPLES:
        r, n = itertools.cycle(reals), itertools.cycle(counts)
        logits = [1.0] * 9 if reals[0] == 1 else [0.2, -1.0, 0.5, 2.0, 0.1]
        yield {
            name: logits.__getitem__ if name == "a" else next(n) if name in "dklmnij" else next(r)
            for name in names
        }


def points(theorem: Stated, means: dict[str, Any]) -> list[dict[str, Any]]:
    """Return where the hypotheses of a theorem are met: the arguments of its `…_met` lemmas."""
    text = (ROOT / "proofs" / theorem.file).read_text(encoding="utf-8")
    lemmas = re.findall(
        rf"Lemma {theorem.name}_met\w* :(.*?)ltac:\(hypotheses\s\({theorem.name}\b(.*?)\)\)\.\s*\n",
        text,
        re.S,
    )
    if not lemmas:
        return list(_samples(theorem.bound))
    found = []
    for opening, arguments in lemmas:
        tokens = TOKEN.findall(opening)
        reading = Reading(tokens, means)
        names = []
        if tokens[:1] == ["forall"]:
            reading.take()
            names = reading.names(",")
        premises = Reading([*tokens[reading.at :], "0", "=", "0"], means).term()
        for at in _samples(names):
            if not premises({**at}) or not _met(tokens[reading.at :], means, at):
                continue
            given = Reading(TOKEN.findall(arguments), means)
            values = []
            while given.peek():
                values.append(given.atom()(at))
            found.append(dict(zip(theorem.bound, values, strict=True)))
    return found


def _met(tokens: list[str], means: dict[str, Any], at: dict[str, Any]) -> bool:
    parts = " ".join(tokens).split("->")[:-1]
    return all(Reading(part.split(), means).term()(at) for part in parts)


# Looked at: what is changed, and why it holds all the same, or why no sum over points can tell
LOOKED_AT = {
    ("ATTN_10_variance", "15: * … dropped"): "standard entries themselves have the variance d",
    ("RES_01", "8: + becomes -"): "a difference of two that are independent varies as their sum",
    ("INIT_28_mean", "3: 1 becomes 0"): "selu of 0 is 0",
    ("INIT_07", "11: + becomes -"): "the law is symmetric",
    ("INIT_07", "11: + … dropped"): "the mean of a constant",
    ("INIT_07", "13: * becomes /"): "1/z has no integral across 0; its points alone cancel",
    ("INIT_06", "11: + becomes -"): "the law is symmetric",
    ("LOSS_24_least", "17: / becomes *"): "says less, as n is at least 1",
    ("LOSS_24_least", "17: / … dropped"): "says less, as n is at least 1",
    ("BOOK_58_attracting", "44: 1 becomes 2"): "says less: what is below 1 is below 2",
}


def settled(theorem: Stated, label: str, tokens: list[str]) -> str:
    """Return what refuses a changed conclusion that no value refutes: its reading, or nothing."""
    if (theorem.name, label) in LOOKED_AT:
        return "looked at"
    whole, tie = _theorems()[theorem.name], _ties()[theorem.name]
    said = " ".join(tokens)
    said = re.sub(r"\( | \)", lambda match: match[0].strip(), said).replace(" ,", ",")
    if tie.get("term"):
        return "survives" if tie["term"] in said else "off its reading"
    try:
        there = [*check.off_reading(replace(whole, conclusion=said), tie)]
    except Exception:  # no value is left to compare: SymPy's readers raise what they like
        return "off its reading"
    if there:
        return "off its reading"
    start = _value(tokens)
    return "equal" if tokens[:start] == theorem.conclusion[:start] else "survives"


_theorems, _ties = cache(check.theorems), cache(check.ties)


# The mutants


def mutants(tokens: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield what is changed, and the tokens with it."""

    def put(start: int, stop: int, *new: str) -> list[str]:
        return [*tokens[:start], *new, *tokens[stop:]]

    for i, token in enumerate(tokens):
        before = tokens[i - 1] if i else ""
        if token.isdigit():
            for new in {str(int(token) + 1), str(abs(int(token) - 1)), str(2 * int(token))}:
                if new != token:
                    yield f"{i}: {token} becomes {new}", put(i, i + 1, new)
        elif before == "^" and token not in ("(",):
            for sign in "+-":
                new = f"( {token} {sign} 1 )"
                yield f"{i}: ^ {token} becomes ^ {new}", put(i, i + 1, *new.split())
        elif token in ("+", "-", "*", "/") and before and before not in ("(", "=>", ",", "=", "<"):
            new = {"+": "-", "-": "+", "*": "/", "/": "*"}[token]
            if before not in ACT and before not in COMPARE and before != ":=":
                yield f"{i}: {token} becomes {new}", put(i, i + 1, new)
                yield f"{i}: {token} … dropped", put(i, _end(tokens, i, token in "+-"))
        elif token in COMPARE and tokens[i - 2] != "Σ" and token != "=":
            yield f"{i}: {token} turned", put(i, i + 1, {"<": ">", "<=": ">=", "<>": "="}[token])
    start = _value(tokens)
    symbols = sorted({t for t in tokens[start:] if re.fullmatch(r"[μστκθεtbqrcsαλ]", t)})
    for a, b in itertools.combinations(symbols, 2):
        swap = {a: b, b: a}
        value = [swap.get(t, t) for t in tokens[start:]]
        yield f"{a} and {b} exchanged", put(start, len(tokens), *value)


def _value(tokens: list[str]) -> int:
    """Where the value begins that a conclusion states: its last argument, or its last side."""
    if tokens and tokens[0] in ("mean", "variance", "is_derive"):
        depth = 0
        for i in range(len(tokens) - 1, -1, -1):
            depth += {")": 1, "(": -1}.get(tokens[i], 0)
            if depth == 0:
                return i
    return max([i + 1 for i, token in enumerate(tokens) if token in COMPARE], default=0)


def _end(tokens: list[str], start: int, sums: bool) -> int:
    stops = {"+", "-", *COMPARE, "->", ","} | (set() if sums else {"*", "/"})
    depth = 0
    for i in range(start + 1, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[i], 0)
        if depth < 0 or (depth == 0 and i > start + 1 and tokens[i] in stops):
            return i
    return len(tokens)


def refuted(tokens: list[str], at: list[dict[str, Any]], means: dict[str, Any]) -> bool | None:
    """Tell whether a conclusion is false where the hypotheses are met; None: it is no sentence."""
    for env in at:
        try:
            reading = Reading(tokens, means)
            holds = reading.term()(env)
        except (OverflowError, ZeroDivisionError):
            return True
        except (ValueError, TypeError, KeyError, IndexError):
            return None
        if reading.peek() or not isinstance(holds, bool):
            return None
        if not holds:
            return True
    return False


def judged(theorem: Stated, means: dict[str, Any]) -> list[tuple[str, list[str], str]]:
    """Return the changed conclusions of a theorem, each with what becomes of it."""
    at, found = points(theorem, means), []
    if not at or refuted(theorem.conclusion, at, means) is not False:
        raise ValueError(f"{theorem.name} is not met, or not true, where its laws say so")
    for label, tokens in mutants(theorem.conclusion):
        false = refuted(tokens, at, means)
        if false is not None:
            found.append((label, tokens, "refuted" if false else settled(theorem, label, tokens)))
    return found


# The kernel


def script(theorem: Stated, planted: list[list[str]]) -> str:
    """Return what asks the kernel for each changed statement, with the unchanged proof."""
    text = (ROOT / "proofs" / theorem.file).read_text(encoding="utf-8")
    (proof,) = re.findall(
        rf"Theorem {theorem.name} :.*?(\nProof\..*?\nQed\.|\nProof\..*?Qed\.)", text, re.S
    )
    imports = re.findall(r"^(?:From .*?|Import .*?|Open .*?)\.$", text, re.M)
    lines = [*imports, f"From Proofs Require Import {Path(theorem.file).stem}."]
    lines += ["Set Default Timeout 20."]
    for n, tokens in enumerate(planted):
        said = theorem.opening + " ".join(tokens)
        lines += [f"Definition said_{n} : Prop := {said}.", f"Theorem mutant_{n} : {said}.{proof}"]
        lines += ["Abort All.", f"Check said_{n}.", f"Check mutant_{n}."]
    return "\n".join(lines) + "\n"


def kernel(theorem: Stated, planted: list[list[str]]) -> list[str]:
    """Have the kernel read changed statements: `ill-typed`, `broke` or `taken`, for each."""
    build = ROOT / "_build" / "proofs"
    done = subprocess.run(
        ["coqtop", "-q", "-quiet", "-R", ".", "Proofs"],
        input=script(theorem, planted), capture_output=True, encoding="utf-8", cwd=build,
    )  # fmt: skip
    found = []
    for n in range(len(planted)):
        typed = re.search(rf"said_{n}\s+: Prop", done.stdout)
        taken = re.search(rf"mutant_{n}\s+: ", done.stdout)
        found.append("taken" if taken else "broke" if typed else "ill-typed")
    return found


def main() -> None:
    """Plant the faults, and print what refuses them and what does not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("theorems", nargs="*")
    parser.add_argument("--kernel", action="store_true")
    asked = parser.parse_args()
    means, counted = known(), Counter()
    for name, theorem in stated().items():
        if asked.theorems and name not in asked.theorems:
            continue
        planted = [
            (label, theorem.hypotheses + tokens, kind)
            for label, tokens, kind in judged(theorem, means)
        ]
        if asked.kernel:
            planted += [
                (f"hypotheses {label}", tokens + theorem.conclusion, "")
                for label, tokens in mutants(theorem.hypotheses)
            ]
        said = (
            kernel(theorem, [tokens for _, tokens, _ in planted])
            if asked.kernel
            else ["unasked"] * len(planted)
        )
        for (label, tokens, judgement), heard in zip(planted, said, strict=True):
            if heard == "ill-typed":
                continue
            if judgement == "refuted" and heard == "taken":
                raise SystemExit(f"{name}: {label}: the kernel takes what a value refutes")
            part, kind = "conclusion" if judgement else "hypothesis", judgement or heard
            counted[part, kind] += 1
            if kind not in ("refuted", "broke"):
                print(f"{name} {label} [{kind}, {heard}]: {' '.join(tokens)}", flush=True)
    for (part, kind), count in sorted(counted.items()):
        print(f"{part} {kind}: {count}")


if __name__ == "__main__":
    main()
