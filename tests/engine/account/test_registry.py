"""The registry: what is in it, and that bad files are refused."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest
import yaml

from verifiedbook.account.reading import read_clauses
from verifiedbook.account.records.ran import NamedModel
from verifiedbook.account.registry import OWN, load, statement
from verifiedbook.account.rendering.formulas import latex_fault
from verifiedbook.account.rules import RegistryError
from verifiedbook.serving import served

ARTICLES, STATEMENTS = load()
COUNTS = {"initialisation": 100, "tying": 37, "tied-loss": 52, "growth": 60, "factorisation": 51,
          "beyond-mup-1": 24, "beyond-mup-2": 27, "beyond-mup-3": 37,
          "beyond-mup-4": 37}  # fmt: skip


# ------------------------------------------------------------------------------- what is in it


def test_every_statement_of_the_articles_is_there():
    assert Counter(s.article for s in STATEMENTS.values() if s.article != OWN) == COUNTS
    assert sum(COUNTS.values()) == 425


def test_articles_and_statements_stand_in_chapter_order():
    assert list(ARTICLES) == [*COUNTS, OWN]
    assert list(COUNTS) == sorted(served().chapters, key=served().chapters.get)
    assert [article.chapter for article in ARTICLES.values()] == [1, 2, 3, 4, 5, 6, 6, 6, 6, None]
    chapters = [served().chapters.get(s.article, 7) for s in STATEMENTS.values()]
    assert chapters == sorted(chapters)


def test_every_statement_ends_like_a_sentence_and_holds_no_empty_latex():
    for found in STATEMENTS.values():
        assert found.says.endswith((".", "?", "!", "…", "'", ")", "$", '"')), found.id
        assert not re.search(r"\\[a-z]+\{\s*\}", found.says), found.id


def test_printed_digits_are_digits():
    """That every formula parses is tested with the notation."""
    for claim in STATEMENTS.values():
        for part in (claim.reading.parts if claim.reading else {}).values():
            for _, printed in part.digits:
                assert re.fullmatch(r"-?\d+(\.\d+)?", printed), claim.id


def test_a_statement_is_found_by_its_id():
    found = statement("LOSS-14")
    assert (found.id, found.article) == ("LOSS-14", "tied-loss")
    with pytest.raises(KeyError, match=r"LOSS-99.*not in the registry"):
        statement("LOSS-99")


# --------------------------------------------------------------------------------- fingerprints


def test_a_fingerprint_changes_with_every_word_of_the_reading():
    found = statement("LOSS-14")
    assert found.reading is not None
    changed = [
        replace(found, reading=replace(found.reading, text=found.reading.text + " too")),
        replace(found, reading=replace(found.reading, formula="3*d*sigma**4")),
        replace(found, reading=replace(found.reading, condition="$d$ is even")),
        replace(found, reading=replace(found.reading, uses=("LOSS-11",))),
        replace(found, reading=None),
        replace(found, says=found.says + "."),
        replace(found, kind="number"),
    ]
    assert len({s.hash for s in (found, *changed)}) == 1 + len(changed)


def test_a_setting_is_that_of_every_case(load_claims):
    cases = {"a": reading(), "b": reading(setting="its own")}
    more = cut({"$x=1$": ["a", "b"]}, **cases)
    found = load_claims(entry(reading=reading(setting="$d=768$", **more)))[1]["TEST-01"]
    assert [part.setting for part in found.reading.parts.values()] == ["$d=768$"] * 2 + ["its own"]


def test_a_fingerprint_changes_with_a_word_of_a_case():
    found = next(s for s in STATEMENTS.values() if s.reading and s.reading.cases)
    name, case = next(iter(found.reading.cases.items()))
    cases = {**found.reading.cases, name: replace(case, text=case.text + " too")}
    changed = replace(found, reading=replace(found.reading, cases=cases))
    assert changed.hash != found.hash


def test_a_fingerprint_does_not_depend_on_the_place_and_on_what_no_check_takes():
    found = statement("LOSS-14")
    assert replace(found, where="elsewhere").hash == found.hash
    met = replace(
        found.reading, discharges={"LOSS-11": "so"}, models=(NamedModel("A"),), day="2023"
    )
    assert replace(found, reading=met).hash == found.hash


# ---------------------------------------------------------------------------------- bad files


def entry(number: int = 1, **changes: object) -> dict[str, object]:
    """A sound claim with some keys changed; None takes a key away."""
    sound = {"id": f"TEST-{number:02}", "where": "line 1", "kind": "equation", "says": "$x=1$."}
    return {key: value for key, value in (sound | changes).items() if value is not None}


def reading(**more: object) -> dict[str, object]:
    return {"text": "a reading", **more}


def cut(clauses: dict[str, object], **cases: object) -> dict[str, object]:
    """Cases of a reading, and the clauses that they decide."""
    return {"cases": cases or {"a": reading(), "b": reading()}, "clauses": clauses}


ABOUT = dict.fromkeys(("title", "title_en", "author", "date", "url"), "") | {"key": "growth"}


@pytest.fixture
def load_claims(tmp_path):
    """Write claims as the file of an article and load it."""

    def write(*claims: dict[str, object]):
        text = yaml.safe_dump({"article": ABOUT, "claims": list(claims)}, allow_unicode=True)
        (tmp_path / "growth.yaml").write_text(text, encoding="utf-8")
        return load(tmp_path)

    return write


def test_a_sound_file_is_accepted(load_claims):
    articles, statements = load_claims(
        entry(1, reading=reading(formula="d*sigma**2", condition={"text": "$d>1$"})),
        entry(2, reading=reading(uses=["TEST-01"], **cut({"$x=1$": "a"}, a=reading(formula="1")))),
    )
    assert list(articles) == ["growth"]
    assert list(statements) == ["TEST-01", "TEST-02"]
    assert statements["TEST-02"].reading.cases["a"].formula == "1"


def test_what_a_condition_needs_is_read(load_claims):
    condition = {"text": "large $d$", "met_by": "{formula} at $d=768$"}
    cases = {"as printed": reading(condition=condition, formula="d"), "exists": reading()}
    more = {"setting": "$d=768$", "cases": cases, "clauses": {"$x=1$": list(cases)}}
    more |= {"uses": ["TEST-01"], "discharges": {"TEST-01": "its\n $d$ is large"}}
    found = load_claims(entry(1), entry(2, reading=reading(**more)))[1]["TEST-02"].reading
    assert found.cases["as printed"].met_by == "d at $d=768$"
    assert found.discharges == {"TEST-01": "its $d$ is large"}
    assert (list(found.deciding), list(found.beside)) == (["as printed"], ["exists"])


CITED = "{key: a, says: supports, at: b, quote: so it is.}"
YOUNG = "{key: a, says: supports, at: b, quote: so it is., until: 2026}"
BAD = {  # what is changed in a sound claim, and what is said of it
    "{id: test-01}": "an id is capital letters",
    "{id: TEST-001}": "an id is capital letters",
    "{id: null}": "an id is capital letters",
    "{kind: theorem}": "kind is 'theorem'; accepted: statement",
    "{kind: null}": "kind is None",
    "{says: null}": "'says' is missing",
    "{says: ''}": "'says' is missing",
    "{where: null}": "'where' is missing",
    "{verdict: holds}": r"unknown keys \['verdict'\]",
    "{says: $x = 1.}": "an unpaired dollar sign",
    "{says: '$x_{1$.'}": "without its (end|beginning)",
    "{says: '$x}_{1$.'}": "without its (end|beginning)",
    r"{says: '$\left(x)$.'}": "without its (end|beginning)",
    r"{says: '$\right)\left($.'}": "without its beginning",
    r"{says: '$\begin{align*} x$.'}": "without its end",
    r"{says: '$\begin{pmatrix}x\end{bmatrix}$.'}": "without its (end|beginning)",
    "{says: '$$x{$$.'}": "an empty formula, or a double dollar",
    "{reading: {formula: '1'}}": "a reading needs a text",
    "{reading: {text: a, proof: clear}}": r"unknown keys in reading: \['proof'\]",
    "{reading: {text: a, condition: {text: b}, truth: {text: c}}}": "either a condition or a truth",
    "{reading: {text: a, truth: {txt: b}}}": r"\['txt'\] in a reading; accepted",
    "{reading: {text: a, condition: {text: b, claim: '0'}}}": r"\['claim', 'text'\] in a reading",
    "{reading: {text: a, digits: [{o: pi, printed: 3}]}}": r"\['o', 'printed'\] in a reading",
    "{reading: {text: '${truth}$'}}": r"\{truth\} stands in a text, and the reading has none",
    "{reading: {text: a, where: {i: b}}}": "names of a quantity stand for, and there is no",
    "{reading: {text: a, cases: {b: {text: c, uses: [d]}}}}": "uses stand in the reading",
    "{reading: {text: a, cases: {b: {text: c, discharges: {d: e}}}}}": "discharges stand in the",
    "{reading: {text: a, cases: {b: {text: $c}}}}": "an unpaired dollar sign",
    "{reading: {text: a, discharges: {b: ' '}}}": "discharges: why the condition is met here is",
    "{reading: {text: a, without: {b: ' '}}}": "without: why it says nothing is missing",
    "{reading: {text: a, cases: {exists: {text: b}}}}": "'exists' stands beside a case 'as pri",
    "{reading: {text: a, cases: {b: {text: c}}, decides: d}}": "decides: got 'd'; accepted: b",
    "{reading: {text: a, cases: {b: {text: c}}, decides: b}}": "got a case of an equation; accept",
    "{reading: {text: a, model: bert}}": "model: got 'bert'; accepted: a class, such as BertForMas",
    "{reading: {text: a, model: [BertModel, '']}}": "model: got .*; accepted: a class",
    "{reading: {text: a, model: 'BertModel, loosely'}}": "model: got .*; accepted: a class",
    "{reading: {text: a, model: A, cases: {b: {text: c}}}}": "model stands in the cases",
    "{reading: {text: a, day: July}}": "day: got 'July'; accepted: YYYY",
    f"{{reading: {{text: a, formula: '1', citations: [{CITED}]}}}}": "citations stand beside a for",
    f"{{kind: number, reading: {{text: a, citations: [{CITED}]}}}}": "citations of an number",
    f"{{kind: statement, reading: {{text: a, day: 2021-08, citations: [{CITED}]}}}}": "how young",
    f"{{kind: statement, reading: {{text: a, day: 2021-08, citations: [{YOUNG}]}}}}": "2026, youn",
    f"{{kind: statement, reading: {{text: a, day: 2021-08, cases: {{b: {{text: c, citations: "
    f"[{YOUNG}]}}}}}}}}": "is of 2026, younger than 2021-08",
    "{reading: {text: a, uses: [TEST-77]}}": "TEST-01: uses TEST-77, which is not in the registry",
}


@pytest.mark.canary
@pytest.mark.parametrize("change", BAD)
def test_a_bad_file_is_refused(load_claims, change):
    with pytest.raises(RegistryError, match=BAD[change]):
        load_claims(entry(**yaml.safe_load(change)))


@pytest.mark.canary
def test_two_claims_of_one_id_are_refused(load_claims):
    with pytest.raises(RegistryError, match="id TEST-01 is used twice"):
        load_claims(entry(), entry())


SAYS = "It is small, and never more than $2$, which is nice."
CUT = {"It is small": "a", "never more than $2$": ["b"], "which is nice": "not judged: a taste"}


def test_clauses_are_read_and_move_no_record(load_claims):
    nice = {"which is nice": CUT["which is nice"]}
    whole = entry(1, says=SAYS, reading=reading(**cut(CUT)))
    found, other = load_claims(whole, entry(2, says=SAYS, reading=reading(clauses=nice)))[
        1
    ].values()
    assert [clause.cases for clause in found.clauses] == [("a",), ("b",), ()]
    assert [clause.why for clause in (found.clauses[2], *other.clauses)] == ["a taste"] * 2
    assert replace(found, clauses=()).hash == found.hash


@pytest.mark.canary
@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ({"It is": "a", "never more than $2$": "b", "which is nice": "a"}, "the words “small”"),
        (dict(list(CUT.items())[::2]), "none names the case 'b'; accepted: the words it decides"),
        ({**CUT, "never more than $2$": "a"}, "none names the case 'b'"),
        ({**CUT, "never more than $2$": "c"}, "got the case 'c'; accepted: a, b"),
        ({**CUT, "never less than $2$": "b"}, "“never less than .2.” stands 0 times"),
        ({**CUT, "is": "b"}, "“is” stands 2 times in what is said"),
        ({}, "none names the case 'a'"),
    ],
)
def test_clauses_that_do_not_cover_what_is_said_are_refused(load_claims, clauses, message):
    with pytest.raises(RegistryError, match=message):
        load_claims(entry(says=SAYS, reading=reading(**cut(clauses))))


@pytest.mark.canary
def test_a_clause_that_only_a_case_beside_decides_is_refused(load_claims):
    halves = {"It is small": "as printed", "never more than $2$, which is nice": "exists"}
    both = {"as printed": reading(), "exists": reading()}
    with pytest.raises(RegistryError, match="no case decides “never more than"):
        load_claims(entry(says=SAYS, reading=reading(**cut(halves, **both))))


@pytest.mark.canary
def test_whoever_drops_a_case_leaves_words_that_nothing_decides():
    alone = [
        (found, clause.cases[0])
        for found in STATEMENTS.values()
        for clause in found.clauses
        if len(clause.cases) == 1
    ]
    assert len({found.id for found, _ in alone}) > 100
    for found, dropped in alone:
        left = {name: case for name, case in found.reading.cases.items() if name != dropped}
        given = {c.words: [n for n in c.cases if n in left] or f"not judged: {c.why}"
                 for c in found.clauses if c.cases != (dropped,)}  # fmt: skip
        with pytest.raises(RegistryError, match="none has the words"):
            read_clauses(given, found.says, replace(found.reading, cases=left), RegistryError)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n- b\n", "growth.yaml: a claims file has the keys article and claims"),
        ("article: {key: growth}\n", "growth.yaml: a claims file has the keys"),
        ("article: {key: growth}\nclaims: []\n", r"growth.yaml: article has \['key'\]; accepted"),
        ("claims: []\nclaims: []\n", "growth.yaml: the key 'claims' stands twice .* line 2"),
        ("claims: [{id: A, reading: {text: a, text: b}}]", "growth.yaml: the key 'text' stands"),
        ("claims: [", "growth.yaml: while parsing a flow node"),
        (
            yaml.safe_dump({"article": ABOUT | {"key": "bert"}, "claims": []}),
            "'bert' is not a",
        ),
    ],
)
def test_a_file_that_is_no_claims_file_is_refused(tmp_path, text, message):
    (tmp_path / "growth.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(RegistryError, match=message):
        load(tmp_path)


@pytest.mark.canary
def test_a_folder_without_claims_is_refused(tmp_path):
    with pytest.raises(RegistryError, match=r"folder: got .*; accepted: a folder of claims files"):
        load(tmp_path)


@pytest.mark.canary
def test_a_retired_id_is_refused_with_its_reason(load_claims, monkeypatch):
    found = load_claims(entry(retired="says the same as TEST-02"))
    monkeypatch.setattr("verifiedbook.account.registry.load", lambda: found)
    with pytest.raises(KeyError, match="TEST-01 is retired: says the same as TEST-02"):
        statement("TEST-01")


@pytest.mark.parametrize(
    "text",
    [
        "no mathematics",
        r"it costs \$5",
        r"$\{a_{1}\}$ and $\left(\frac{1}{2}\right)$",
        r"$a\leftarrow b\leftrightarrow c$",
        r"$\begin{pmatrix}\begin{matrix}1\end{matrix}\end{pmatrix}$",
    ],
)
def test_balanced_latex_has_no_fault(text):
    assert latex_fault(text) is None


def test_a_text_shows_what_the_checks_take(load_claims):
    quantity = {"quantity": "mean(w[i]**2)", "where": {"i": "Index(d)"}}
    claims = [
        entry(
            reading=reading(
                text="$w_i$: ${quantity}={formula}$, not ${truth}$",
                formula="2*d*sigma**4",
                false_if="it is not ${formula}$",
                truth={"text": "it is ${truth}$", "formula": "sigma**2"},
                **cut(
                    {"$x=1$": ["a", "b"]},
                    a=reading(text="${quantity}$"),
                    b=reading(quantity="mean(1)"),
                ),
                **quantity,
            )
        )
    ]
    found = load_claims(*claims)[1]["TEST-01"].reading
    assert found.text == r"$w_i$: $\mathbb{E}\left[w_{i}^2\right]=2d\sigma^4$, not $\sigma^2$"
    assert (found.false_if, found.truth) == (r"it is not $2d\sigma^4$", r"it is $\sigma^2$")
    assert found.cases["a"].where == found.where
    assert found.cases["b"].quantity == "mean(1)"


def test_a_formula_that_the_text_leaves_out_is_told_behind_it(load_claims):
    claims = [
        entry(1, reading=reading(text="It is ${formula}$", formula="2*d")),
        entry(2, reading=reading(text="It is large", formula="2*d", quantity="mean(1)")),
    ]
    first, second = (found.reading for found in load_claims(*claims)[1].values())
    assert first.told == "It is $2d$"
    assert second.told == r"It is large In a formula: $\mathbb{E}\left[1\right]=2d$."
