"""Errata: every wrong claim has one; its numbers are those of its formulas, its words are owned."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from verifiedbook.account import errata, ledger, registry
from verifiedbook.account.errata import FILLED, GRADES, read_erratum, shown, value
from verifiedbook.account.reading import Reading
from verifiedbook.account.rules import RegistryError
from verifiedbook.commands.prose.needless import unspaced
from verifiedbook.commands.prose.tokens import tokens
from verifiedbook.exact.formulas.evaluation import number
from verifiedbook.exact.formulas.notation import parse

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "src/verified_transformer/book/claims"
WRITTEN: dict[str, dict[str, Any]] = {
    entry["id"]: entry
    for path in sorted(FOLDER.glob("*.yaml"))
    for entry in registry.contents(path)["claims"]
    if "erratum" in (entry.get("reading") or {})
}
STATEMENTS = registry.load()[1]
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def texts(collected: ledger.Ledger, name: str) -> list[str]:
    """What the registry says of a claim, its erratum aside, and the lines of its records."""
    claim = next(c for c in collected.claims if c.id == name)
    reading = STATEMENTS[name].reading
    assert reading is not None
    told = [t for part in reading.parts.values() for t in (part.told, part.truth, part.condition)]
    lines = [record.text for record in claim.evidence]
    return [t for t in (claim.says, claim.setting, *told, *lines) if t]


def read_back(text: str) -> float:
    """The number that a reader sees."""
    whole, _, power = text.replace("\u202f", "").partition("·10")
    return float(whole) * 10.0 ** int(power.translate(RAISED) or 0)


# ------------------------------------------------------------------ what is there


def test_every_wrong_claim_has_an_erratum_and_no_other_has(collected: ledger.Ledger) -> None:
    assert collected.faults() == []
    assert set(WRITTEN) == {c.id for c in collected.claims if c.verdict == "wrong"}


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_the_numbers_are_those_of_the_formulas(name: str) -> None:
    """By SymPy, which the numbers on the pages do without."""
    erratum, data = STATEMENTS[name].erratum, WRITTEN[name]["reading"]["erratum"]
    reading = STATEMENTS[name].reading
    assert erratum is not None and reading is not None
    part, told = reading.parts[erratum.case], data.get("told", {})
    at = {parse(key): parse(str(text)) for key, text in data.get("at", {}).items()}
    point = {key: text.subs(at) for key, text in at.items()}
    sides = {"printed": part.formula, "right": part.truth_formula}
    for key, own in sides.items():
        side = getattr(erratum, key)
        formula = None if told.get(key) else own or data.get(key)
        assert (side.value is None) == (formula is None)
        if formula:
            wanted = number(parse(formula).subs(point), {})
            assert wanted is not None
            assert abs(read_back(side.value) - wanted) <= 3e-3 * abs(wanted)
    if part.formula and part.truth_formula:
        assert erratum.printed.value and erratum.right.value


def unowned(erratum: dict[str, Any], texts: list[str]) -> list[str]:
    """Numbers and formulas of an erratum's words that neither the claim's texts nor a sum have."""
    known = unspaced("".join(texts))
    words = [erratum.get("headline"), erratum.get("of"), *(erratum.get("told") or {}).values()]
    said = [token for text in words if text for token in tokens(FILLED.sub(" ", text))]
    return [t.text for t in said if t.kind != "word" and unspaced(t.text.strip("$")) not in known]


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_numbers_and_formulas_in_the_words_are_the_claims(
    name: str, collected: ledger.Ledger
) -> None:
    assert unowned(WRITTEN[name]["reading"]["erratum"], texts(collected, name)) == []


def test_an_erratum_makes_no_record_stale() -> None:
    claim = STATEMENTS["LOSS-21"]
    assert claim.keywords
    assert claim.hash == replace(claim, erratum=None, keywords=()).hash


@pytest.mark.parametrize(
    ("formula", "at", "text"),
    [
        ("n*k*q", {"n": "30000", "k": "8", "q": "128"}, "30\u202f720\u202f000"),
        ("(d/k)**k", {"d": "1024", "k": "8"}, "7.21·10¹⁶"),
        ("exp(d*sigma**2/2)", {"d": "768", "sigma": "1/sqrt(d)"}, "1.649"),
        ("-d/1000", {"d": "1"}, "-0.001"),
        ("1/d**3", {"d": "768"}, "2.21·10⁻⁹"),
        ("10**8 + 1/8", {}, "100\u202f000\u202f000"),
    ],
)  # fmt: skip
def test_a_number_as_readers_see_it(formula: str, at: dict[str, str], text: str) -> None:
    assert shown(value(formula, at)) == text
    assert abs(read_back(text) / float(sp.N(parse(formula).subs(_point(at)))) - 1) < 3e-3


def _point(at: dict[str, str]) -> dict[Any, Any]:
    point = {parse(key): parse(text) for key, text in at.items()}
    return {key: sp.sympify(text).subs(point) for key, text in point.items()}


# ------------------------------------------------------------------ what is refused

READING = Reading("text", formula="1/d**3", truth="It is $1/d$.", truth_formula="1/d")
WHOLE: dict[str, Any] = {
    "grade": "result", "order": 1, "headline": "It is $1/d$: {right}.", "of": "variance",
    "at": {"d": 4},
}  # fmt: skip


def refuse(rule: str) -> RegistryError:
    return RegistryError(f"TEST-01: {rule}")


def test_a_whole_erratum() -> None:
    made = read_erratum(WHOLE, READING, refuse)
    assert (made.headline, made.printed.value, made.right.value) == (
        "It is $1/d$: 0.25.", "0.01562", "0.25",
    )  # fmt: skip


REFUSED: dict[str, tuple[dict[str, Any], Reading, str]] = {
    "another grade": ({"grade": "grave"}, READING, "grade is 'grave'; accepted: result"),
    "no order": ({"order": None}, READING, "order is None"),
    "no headline": ({"headline": None}, READING, "headline: got ''"),
    "a headline with a claim's name": (
        {"headline": "LOSS-21 is wrong."}, READING, "without names of claims",
    ),
    "no truth": ({}, replace(READING, truth=None), "nothing that is true instead"),
    "no number of a formula": ({"at": {}}, READING, "d has no value"),
    "words for a formula": ({"told": {"right": "less"}}, READING, "stands in the reading already"),
    "a typed formula": ({"right": "2/d"}, READING, "stands in the reading already: 1/d"),
    "a side missing": ({}, replace(READING, formula=None), "printed is missing"),
    "a case without formulas": (
        {"case": "b"},
        Reading("text", cases={"a": READING, "b": Reading("b", truth="No.")}),
        "case b has no two formulas; accepted: ['a']",
    ),
    "no word of what": ({"of": None}, READING, "of is missing"),
    "an unknown key": ({"note": "x"}, READING, "unknown keys"),
}  # fmt: skip


@pytest.mark.canary
@pytest.mark.parametrize("what", REFUSED, ids=lambda what: what.replace(" ", "-"))
def test_an_erratum_is_refused_with(what: str) -> None:
    changes, reading, said = REFUSED[what]
    with pytest.raises(RegistryError, match=re.escape(said)):
        read_erratum({**WHOLE, **changes}, reading, refuse)


@pytest.mark.canary
def test_a_wrong_claim_without_an_erratum_is_red(collected: ledger.Ledger) -> None:
    entry = next(c for c in collected.claims if c.id == "LOSS-21")
    assert faults([replace(entry, erratum=None)]) == [
        "LOSS-21: wrong, and has no erratum: grade, headline and both numbers"
    ]
    assert faults([replace(entry, verdict="holds")]) == ["LOSS-21: holds, and has an erratum"]
    assert "the order" in faults([entry, replace(entry, id="LOSS-22")])[0]


def faults(claims: list[ledger.Entry]) -> list[str]:
    none = ledger.Summary(0, 0, 0, {}, ledger.Score(0, 0))
    return ledger.Ledger(none, {}, (), tuple(claims)).faults()


def followed(entry: ledger.Entry, root: str | None, **changes: Any) -> ledger.Entry:
    assert entry.erratum is not None
    return replace(entry, erratum=replace(entry.erratum, follows=root), **changes)


@pytest.mark.canary
def test_what_follows_from_no_root_is_red(collected: ledger.Ledger) -> None:
    root = next(c for c in collected.claims if c.id == "FACT-10")
    below = next(c for c in collected.claims if c.id == "FACT-13")
    assert root.erratum is not None and below.erratum is not None
    assert below.erratum.follows == "FACT-10" and faults([root, below]) == []
    said = ["FACT-13: follows FACT-10, which is no root of its article"]
    assert faults([below]) == said
    assert faults([replace(root, article="growth"), below]) == said
    assert said[0] in faults([followed(root, "FACT-13"), below])


def test_what_follows_stands_beneath_its_root_and_is_not_counted(
    collected: ledger.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "book/_ext"))
    from verifiedbook.sphinx import render

    article = next(a for a in collected.articles if a.key == "factorisation")
    groups = render.by_grade(collected, article)
    roots = {root.id: [c.id for c in below] for _, some in groups for root, below in some}
    wrong = [c for c in collected.claims if c.article == article.key and c.verdict == "wrong"]
    assert sorted(roots) == sorted(c.id for c in wrong if not c.erratum.follows)
    assert "FACT-13" in roots["FACT-10"] and len(wrong) > len(roots) + 9
    head = render.errata_head(collected, article)
    assert [int(n) for n in re.findall(r">(\d+) · (?!cond)", head)] == [
        *(len(some) for _, some in groups), len(wrong) - len(roots),
    ]  # fmt: skip


@pytest.mark.canary
def test_another_grade_is_not_as_locked(collected: ledger.Ledger) -> None:
    entry = next(c for c in collected.claims if c.id == "LOSS-21")
    assert entry.erratum is not None
    other = replace(entry, erratum=replace(entry.erratum, grade="misprint"))
    claims = tuple(other if c is entry else c for c in collected.claims)
    said = ["LOSS-21: its grade was changed: result -> misprint"]
    assert replace(collected, claims=claims).differences() == said


@pytest.mark.canary
def test_a_typed_number_is_found() -> None:
    data = {**WHOLE, "headline": "It is 0.3, not $1/d^2$; {right}."}
    assert unowned(data, ["The variance is $1/d$."]) == ["0.3", "$1/d^2$"]


def test_grades_say_what_they_mean() -> None:
    assert list(GRADES) == ["result", "recipe", "assumption", "misprint"]
    assert all(grade.label and grade.means for grade in errata.GRADES.values())
