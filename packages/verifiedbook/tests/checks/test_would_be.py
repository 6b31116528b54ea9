"""A formula of the reader's own: what it would break, in a sentence, whatever is typed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from verifiedbook.account import registry
from verifiedbook.checks.claim import Claim, claim
from verifiedbook.exact.formulas.notation import symbols

d, σ = symbols("d sigma")


def subjects() -> Iterator[tuple[Claim, str, bool]]:
    """Every formula of the registry: what has it, its text, and whether the article is wrong."""
    for statement in registry.load()[1].values():
        if statement.reading is None:
            continue
        for name, reading in [(None, statement.reading), *statement.reading.cases.items()]:
            if reading.formula:
                subject = claim(statement.id)
                subject = subject.case(name) if name else subject
                yield subject, reading.formula, bool(reading.truth_formula)
                if reading.truth_formula:
                    yield subject.truth, reading.truth_formula, False


def test_every_formula_of_the_registry_is_known_by_its_claim(capsys) -> None:
    """And what is decided as wrong is told so, at a point."""
    for subject, text, wrong in subjects():
        subject.would_be(text)
        said = capsys.readouterr().out
        if wrong:
            assert "this is what the article says, and not so: " in said, said
        else:
            assert said == f"{subject.name}: this is what the reading says.\n"


@pytest.mark.canary
def test_another_formula_is_told_from_every_one_of_the_registry(capsys) -> None:
    for subject, text, _ in subjects():
        subject.would_be(f"2*({text}) + 1")
        assert capsys.readouterr().out.startswith(f"{subject.name}: not so: "), text


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (-2 * d * σ**4, "not so: at d=3, sigma=1.3 it gives -17.1366, where Var(Sum(w[i]**2, "),
        ("2*d*sigma**4 + n - n", "this is what the reading says, in another form."),
        ("1/0", "not so: at d=3, sigma=1.3 it gives no finite value, where Var("),
        ("1e400", "not so: at d=3, sigma=1.3 it gives inf, where Var("),
        ("2*d*sigma**4*(1 + (d - 3)*(d - 2))", "not so: at d="),  # right at both small points
        ("2.0000000000001*d*sigma**4", "not 2*d*sigma**4, but so near that no point tells"),
        ("2*d*sigma^4", "text: '2*d*sigma^4' has the part '2*d*sigma^4'; accepted: ** for a po"),
        ("-2*d*σ**4", "text: '-2*d*σ**4' uses σ, which the book's notation does not define; acc"),
        ("open('x')", "text: \"open('x')\" has the part \"open('x')\"; accepted: a call of Inte"),
        ("2 d", "text: '2 d' is not a SymPy formula (invalid syntax"),
        ("", "text: '' is not a SymPy formula (invalid syntax"),
        (None, "text: got NoneType; accepted: a string."),
    ],
)
def test_whatever_is_typed_gets_one_sentence(given: object, answer: str, capsys) -> None:
    claim("LOSS-14").would_be(given)
    said = capsys.readouterr().out
    assert said.startswith(f"LOSS-14: {answer}") and said.count("\n") == 1, said


def test_what_is_right_where_the_article_is_wrong_is_told_so(capsys) -> None:
    claim("LOSS-21").would_be("1/d")
    assert capsys.readouterr().out == "LOSS-21: right; the article says d**(-3).\n"


def test_a_claim_without_a_formula_names_its_cases(capsys) -> None:
    claim("LOSS-17").would_be("d")
    assert "a case that has one, case(…) of recomputed, uniform" in capsys.readouterr().out
    claim("LOSS-48").would_be("d")
    assert capsys.readouterr().out == "LOSS-48: its reading has no formula for the reading.\n"
