"""Check the proofs, and keep in `checked.json` what was checked: `python proofs/check.py`.

The kernel run wants Rocq with Coquelicot (Debian's `coq` and `libcoq-coquelicot`). What is cheap
needs none of it: `stale` compares the files with the last run, `untied` a value with its reading.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CHECKED = HERE / "checked.json"
READINGS = ROOT / "src" / "verified_transformer" / "book" / "claims"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
LIMIT = 600  # seconds for all of it, on a machine that has others to serve
STANDARD = (  # axioms of the reals, as Rocq's own library has them
    "ClassicalDedekindReals.sig_not_dec", "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep", "Classical_Prop.classic",
)  # fmt: skip
_PLAIN = str.maketrans("", "", "[]")
_COMMENT = r"\(\*\*((?:(?!\*\)).)*)\*\)\s*"
_THEOREM = re.compile(rf"{_COMMENT}Theorem (\S+) :\s(.*?)\.\s*\nProof", re.S)
_DEFINITION = re.compile(rf"{_COMMENT}Definition (\S+)", re.S)


@dataclass
class Theorem:
    """What stands in a file: the words above a theorem, its statement, its hypotheses."""

    name: str
    file: str
    words: str
    statement: str
    hypotheses: list[str]
    conclusion: str
    needs: list[int]
    met: bool
    axioms: list[str] = field(default_factory=list)


def files(folder: Path = HERE) -> list[Path]:
    """Return the Rocq files."""
    return sorted(folder.glob("*.v"))


def theorems(folder: Path = HERE) -> dict[str, Theorem]:
    """Read the theorems, each hypothesis with the words of its definition where it has one."""
    texts = {file: file.read_text(encoding="utf-8") for file in files(folder)}
    words = {
        name: _line(said) for text in texts.values() for said, name in _DEFINITION.findall(text)
    }
    found = {}
    for file, text in texts.items():
        for said, name, statement in _THEOREM.findall(text):
            *premises, conclusion = _premises(statement)
            needs = [int(n) for n in re.findall(rf"~ ltac:\(without (\d+) {name}\)", text)]
            met = re.search(rf"ltac:\(hypotheses \({name}\b", text) is not None
            said_of = [_said(premise, words) for premise in premises]
            found[name] = Theorem(
                name, file.name, _line(said), statement, said_of, conclusion, needs, met
            )
    return found


def _line(text: str) -> str:
    return " ".join(text.split())


def _said(premise: str, words: Mapping[str, str]) -> str:
    """Say a hypothesis in the words of its definition, its arguments instead of their names."""
    head, _, arguments = premise.partition(" ")
    if not words.get(head, "A")[0].islower():  # a definition that is a hypothesis begins so
        return premise
    last = (
        arguments[arguments.rindex(" (") + 2 : -1]
        if arguments.endswith(")")
        else arguments.split()[-1]
    )
    said = re.sub(r"\[.*?\]", last, words[head]) if words[head].count("[") == 1 else words[head]
    return f"{said.translate(_PLAIN)} ({premise})"


def _premises(statement: str) -> list[str]:
    """Split a statement at its arrows; what begins with a quantifier or a `let` stays whole."""
    body = re.sub(r"^forall .*?,\s", "", _line(statement), count=1)
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(body):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 and body.startswith(("let ", "forall "), start):
            break
        if depth == 0 and body.startswith("->", at):
            parts.append(body[start:at].strip())
            start = at + 3
    return [*parts, body[start:].strip()]


def unmet(folder: Path = HERE) -> Iterator[str]:
    """Yield theorems whose hypotheses nothing here meets, or with one not shown to be needed."""
    for name, theorem in theorems(folder).items():
        if (shown := sorted(theorem.needs)) != list(range(1, len(theorem.hypotheses) + 1)):
            yield f"{name}: hypotheses {len(theorem.hypotheses)}, of which needed {shown}"
        if theorem.hypotheses and not theorem.met:
            yield f"{name}: nothing here is shown to meet its hypotheses"


# A theorem's value, and a reading's formula

_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|[A-Za-zΑ-Ωα-ω₀_]+\w*|[-+*/^()])")
_NAMES = {"λ₀": "lam", "α₀": "alpha", "PI": "pi"}
_GREEK = dict(
    zip("γεθκλμστα", "gamma epsilon theta kappa lam mu sigma tau alpha".split(), strict=True)
)


def value(text: str) -> str:
    """Return the value that a conclusion states: what stands last in it, as Rocq writes it.

    Example:
        >>> value("mean L (fun ω => f ω) (INR d * σ ^ 2)")
        'INR d * σ ^ 2'
    """
    if re.match(r"(mean|variance|is_derive) ", text):
        if not text.endswith(")"):
            return text.split()[-1]
        depth = 0
        for at in range(len(text) - 1, -1, -1):
            depth += (text[at] == ")") - (text[at] == "(")
            if depth == 0:
                return text[at + 1 : -1]
    return re.split(r" (?:=|<=|<) ", text)[-1]


def in_python(text: str) -> str:
    """Write a value of Rocq as an expression of SymPy.

    Example:
        >>> in_python("/ (1 + τ ^ 2) ^ l * exp 2")
        '1/((1 + tau**2)**l)*exp(2)'
    """
    tokens = _TOKEN.findall(text)

    def peek() -> str:
        return tokens[0] if tokens else ""

    def atom() -> str:
        token = tokens.pop(0)
        if token == "(":
            inner = sums()
            tokens.pop(0)
            return f"({inner})"
        if token in ("INR", "exp", "ln", "sqrt", "erf", "erfc"):
            inner = atom().removeprefix("(").removesuffix(")") if peek() == "(" else atom()
            return inner if token == "INR" else f"{'log' if token == 'ln' else token}({inner})"
        if token == "Rpower":
            return f"({atom()}**{atom()})"
        return _NAMES.get(token, _GREEK.get(token, token))

    def power() -> str:
        base = atom()
        while peek() == "^":
            tokens.pop(0)
            base = f"{base}**{atom()}"
        return base

    def unary() -> str:
        if peek() in ("-", "/"):
            return ("-" if tokens.pop(0) == "-" else "1/") + f"({unary()})"
        return power()

    def products() -> str:
        left = unary()
        while peek() in ("*", "/"):
            left += tokens.pop(0) + unary()
        return left

    def sums() -> str:
        left = products()
        while peek() in ("+", "-"):
            left += f" {tokens.pop(0)} " + products()
        return left

    return sums()


@cache
def readings() -> dict[str, dict[str, Any]]:
    """Return every reading, case and truth, by names such as "GROW-37 needed truth"."""
    found = {}
    for file in sorted(READINGS.glob("*.yaml")):
        for claim in yaml.load(file.read_text(encoding="utf-8"), _LOADER)["claims"]:
            reading = claim.get("reading") or {}
            for name, case in {"": reading, **(reading.get("cases") or {})}.items():
                key = f"{claim['id']} {name}".strip()
                found[key] = case
                if isinstance(case, dict) and "truth" in case:
                    found[f"{key} truth"] = case["truth"]
    return found


def ties() -> dict[str, dict[str, Any]]:
    """Return what `readings.yaml` says of each theorem."""
    return yaml.safe_load((HERE / "readings.yaml").read_text(encoding="utf-8"))


def untied() -> Iterator[str]:
    """Yield the theorems that prove no reading, or another value than their reading has."""
    tied = ties()
    for name, theorem in theorems().items():
        if name not in tied:
            yield f"{name}: proofs/readings.yaml names no reading"
        yield from off_reading(theorem, tied.get(name, {}))


def off_reading(theorem: Theorem, tie: Mapping[str, Any]) -> Iterator[str]:
    """Yield the readings whose formula a theorem's value is not."""
    import sympy

    known, term = readings(), tie.get("term")
    if term and term not in _line(theorem.statement):
        yield f"{theorem.name}: the term {term} of proofs/readings.yaml is not in its statement"
    here = in_python(term or value(theorem.conclusion))
    for reading, substituted in tie.items():
        if reading == "term":
            continue
        formula = known.get(reading, {}).get("formula")
        if formula is None:
            yield f"{theorem.name}: {reading} has no formula"
            continue
        names = _symbols(str(formula)) - {"oo"}
        letters = {name: sympy.Symbol(name) for name in _symbols(here)}
        spelt = {name: sympy.Symbol(name) for name in names}
        put = {
            sympy.Symbol(old): sympy.sympify(str(new), locals=spelt | letters)
            for old, new in substituted.items()
        }
        proved = sympy.sympify(here, locals=letters).subs(put, simultaneous=True)
        read = sympy.sympify(str(formula), locals=spelt)
        for shift in (2, 3, 5):  # rational points, pairwise different and off 1
            free = sorted(proved.free_symbols | read.free_symbols, key=str)
            at = {
                s: sympy.Rational(sympy.prime(n + 2) * shift + 1, 2 * shift + 1)
                for n, s in enumerate(free)
            }
            if not abs((proved - read).subs(at).evalf(40)) <= sympy.Float("1e-25"):
                yield f"{theorem.name} proves {here}, and {reading} says {formula}"
                break


def _symbols(text: str) -> set[str]:
    return {*re.findall(r"[A-Za-z_]+\b(?!\()", text)} - {"pi"}


# The kernel


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()[:16]


def key(folder: Path = HERE) -> str:
    """Return a key of the files that the kernel reads."""
    return _hash(*(f"{file.name}\0{file.read_text(encoding='utf-8')}" for file in files(folder)))


def reading_keys() -> dict[str, str]:
    """Return a key of each reading that a theorem proves: its words, its formula, its setting."""
    known = readings()
    used = {name for entry in ties().values() for name in entry if name != "term"}
    return {
        name: _hash(json.dumps(known.get(name), sort_keys=True, default=str))
        for name in sorted(used)
    }


def stale(checked: Mapping[str, Any] | None = None) -> Iterator[str]:
    """Yield what has changed since the kernel ran: a file, or a reading that a theorem proves."""
    checked = checked or json.loads(CHECKED.read_text(encoding="utf-8"))
    if checked["key"] != key():
        yield "proofs/*.v are younger than the last kernel run: make proofs"
    now = reading_keys()
    if changed := sorted(
        name
        for name in {*now, *checked["readings"]}
        if now.get(name) != checked["readings"].get(name)
    ):
        yield f"{', '.join(changed)}: read otherwise since it was proved; look, then make proofs"


def run(build: Path = ROOT / "_build" / "proofs") -> dict[str, Any]:
    """Have the kernel check every file, and return what it found.

    Raises:
        ValueError: a file does not pass, or a theorem rests on an axiom that is not of the reals.
    """
    build.mkdir(parents=True, exist_ok=True)
    found, start = theorems(), time.monotonic()
    for file in files():
        if not (copy := build / file.name).exists() or copy.read_bytes() != file.read_bytes():
            shutil.copy(file, copy)
    names = [file.name for file in files()]
    asked = [f"From Proofs Require Import {' '.join(Path(n).stem for n in names)}."]
    asked += [_assumptions(file) for file in files()]
    (build / "assumptions.v").write_text("\n".join(asked) + "\n", encoding="utf-8")
    _out(build, "coq_makefile", "-R", ".", "Proofs", *names, "-o", "Makefile.coq")
    _out(build, "make", "-s", "-f", "Makefile.coq", "-j2")
    said = _out(build, "coqc", "-q", "-R", ".", "Proofs", "assumptions.v")
    for part in said.split("@ ")[1:]:
        file, _, rest = part.partition("\n")
        axioms = re.findall(r"^([\w.]+)(?: :|$)", rest.replace("Axioms:", ""), re.M)
        for one in found.values():
            one.axioms = axioms if one.file == file.strip() else one.axioms
    if faults := [f"{t.name}: {a}" for t in found.values() for a in t.axioms if a not in STANDARD]:
        raise ValueError(f"axioms that are not of the reals: {'; '.join(faults)}")
    if faults := [*unmet(), *untied()]:
        raise ValueError("\n".join(faults))
    tied = {name: [claim for claim in entry if claim != "term"] for name, entry in ties().items()}
    return {
        "command": "make proofs",
        "when": datetime.now(UTC).date().isoformat(),
        "kernel": _out(build, "coqc", "--print-version").split()[0],
        "seconds": round(time.monotonic() - start),
        "lines": sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files()),
        "key": key(),
        "readings": reading_keys(),
        "theorems": [{**asdict(t), "claims": tied[t.name]} for t in found.values()],
    }


def _assumptions(file: Path) -> str:
    """Ask what a file's theorems, and the lemmas on their hypotheses, rest on, all at once."""
    stated = re.findall(r"^(?:Theorem|Lemma) ([A-Z]\S*)", file.read_text(encoding="utf-8"), re.M)
    proofs = ", ".join(stated or ["I"])
    asked = f"Definition all_of_{file.stem} := ({proofs}).\nPrint Assumptions all_of_{file.stem}."
    return f'Goal True. idtac "@ {file.name}". Abort.\n{asked}'


def _out(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode:
        raise ValueError(f"{' '.join(command[:2])}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def show(claim: str) -> str:
    """Return statement, hypotheses and axioms of what proves a claim.

    Raises:
        ValueError: nothing does.
    """
    checked = json.loads(CHECKED.read_text(encoding="utf-8"))
    made = []
    for one in checked["theorems"]:
        if claim in (name.split()[0] for name in one["claims"]):
            made += [f"{one['name']} (proofs/{one['file']})", one["words"], f"  {one['statement']}"]
            made += ["  hypotheses: " + ("; ".join(one["hypotheses"]) or "none")]
            made += [
                f"  axioms: {', '.join(one['axioms'])}; Rocq {checked['kernel']}, {checked['when']}"
            ]
    if not made:
        known = sorted({name.split()[0] for one in checked["theorems"] for name in one["claims"]})
        raise ValueError(f"SHOW={claim}: no theorem proves it; accepted: {', '.join(known)}")
    return "\n".join(made)


def main() -> None:
    """Run the kernel and keep what it found, or show what proves a claim."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", metavar="CLAIM")
    parser.add_argument(
        "--cheap", action="store_true", help="what needs no kernel: the stamp, the ties"
    )
    asked = parser.parse_args()
    if asked.show:
        print(show(asked.show))
        return
    if asked.cheap:
        if faults := [*stale(), *unmet(), *untied()]:
            raise ValueError("\n".join(faults))
        print(
            "No kernel here. The files are those of its last run, and each value is its reading's."
        )
        return
    checked = run()
    CHECKED.write_text(json.dumps(checked, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{len(checked['theorems'])} theorems, {checked['lines']} lines,", end=" ")
    print(f"{checked['seconds']} s, Rocq {checked['kernel']}")


if __name__ == "__main__":
    try:
        main()
    except ValueError as fault:
        sys.exit(str(fault))
