"""Citations: data of the registry, their words looked up, and what the notebooks record of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from verifiedbook.account import ledger, registry
from verifiedbook.account.citations import (
    Citation,
    installed,
    stands_in,
    stops_early,
)
from verifiedbook.account.reading import read_reading
from verifiedbook.account.records.record import Record
from verifiedbook.account.rules import RegistryError
from verifiedbook.checks.claim import ClaimFailed, claim

ROOT = Path(__file__).parents[3]
ITEM = {"key": "a2020", "says": "supports", "at": "p. 1", "quote": "so it is"}
FILE = "torch/nn/modules/linear.py"
T5 = "transformers/models/t5/modeling_t5.py"


def refuse(rule: str) -> RegistryError:
    return RegistryError(rule)


def read(**changes: Any) -> Citation:
    (found,) = read_reading({"text": "read", "citations": [ITEM | changes]}, refuse).citations
    return found


def test_a_citation_is_data() -> None:
    found = read(around="They say: so it\n  is.", file=FILE)
    assert found.detail == f"judged, the words found in {FILE}; p. 1: “so it is”"
    assert read().detail == "judged; p. 1: “so it is”"


@pytest.mark.canary
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"quote": "so " * 26}, "quote: got 26 words; accepted: 1 to 25"),
        ({"at": " "}, r"lacks \['at'\]"),
        ({"where": "p. 1"}, r"unknown keys \['where'\]"),
        ({"around": "so it was"}, "around: does not have the words “so it is”"),
        ({"form": "sentence"}, "form: got 'sentence'; accepted: byline, title"),
    ],
)
def test_a_faulty_citation_is_refused(changes: dict[str, str], message: str) -> None:
    with pytest.raises(RegistryError, match=message):
        read(**changes)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("changes", "stops"),
    [
        ({}, True),
        ({"quote": "So it is."}, False),
        ({"around": "They say: so it is, but only at first"}, True),
        ({"around": "They say: so it is, but only at first."}, False),
        ({"around": "First. Then so it is"}, True),
        ({"around": "They say: so it is in 0.5 of all cases, as https://a.org/b has it"}, True),
        ({"quote": "logits = x @ w.T"}, False),
        ({"quote": "the last rank = 1, which is what the boundary asks of a train"}, True),
        ({"quote": "in the T5 style. No bias and no subtraction of", "file": T5}, True),
        ({"quote": "No bias and no subtraction of mean", "file": T5}, True),
        ({"quote": "half-precision inputs is done in fp32", "file": T5}, False),
    ],
)
def test_a_quotation_that_stops_inside_its_sentence_is_seen(
    changes: dict[str, str], stops: bool
) -> None:
    assert stops_early(read(**changes)) is stops


def every() -> Iterable[tuple[str, Citation]]:
    """Yield each citation of the registry, with its claim and key."""
    for name, statement in registry.load()[1].items():
        for part in statement.reading.parts.values() if statement.reading else ():
            yield from ((f"{name} {item.key}: {item.quote}", item) for item in part.citations)


def test_quotations_run_to_the_end_of_their_sentence() -> None:
    assert not [name for name, citation in every() if stops_early(citation)]


def test_a_form_stands_only_where_a_quotation_would_be_cut() -> None:
    spared = [(name, replace(item, form=None)) for name, item in every() if item.form]
    assert spared and not [name for name, item in spared if not stops_early(item)]


def test_what_stands_around_the_words_of_a_file_stands_in_it() -> None:
    found = [(name, item.around, installed(item.file)) for name, item in every() if item.file]
    assert found and not [
        name for name, text, file in found if not stands_in(text or "", file or "")
    ]


def test_words_are_looked_up_whatever_the_lines_are() -> None:
    assert stands_in("a b c", "x a\n    # b\n  c, d") and not stands_in("a c", "a b c")
    assert "class Linear" in (installed(FILE) or "")
    assert installed("torch/nothing.py") is None and installed("no_such_package/a.py") is None


def test_a_call_records_every_citation(reading: Callable[..., None]) -> None:
    one, right = Citation(**ITEM), Citation(**ITEM, of="truth")
    case = read_reading({"text": "case", "citations": [ITEM]}, refuse)
    reading(kind="attribution", truth="right", citations=(one, right), cases={"a": case})
    made = claim("LOSS-14").cited()
    assert [(r.case, r.of) for r in made] == [(None, "reading"), (None, "truth"), ("a", "reading")]
    assert len(claim("LOSS-14").case("a").cited()) == len(claim("LOSS-14").truth.cited()) == 1


@pytest.mark.canary
def test_other_words_than_the_file_s_are_refused(reading: Callable[..., None]) -> None:
    good = "Applies an affine linear transformation to the incoming data"
    for quote, message in ((good, None), (good.replace("affine", "fine"), "does not have")):
        reading(kind="attribution", citations=(Citation("a", "supports", "p", quote, file=FILE),))
        if message is None:
            assert len(claim("LOSS-14").cited()) == 1
            continue
        with pytest.raises(ClaimFailed, match=f"{FILE} {message} the words"):
            claim("LOSS-14").cited()
    reading(kind="attribution")
    with pytest.raises(ValueError, match="its reading has no citations"):
        claim("LOSS-14").cited()


def faults(records: Iterable[Record]) -> list[str]:
    """What the notebooks record of citations, beside what the registry has of them."""
    known = {
        (s.id, case, item.of, item.key, item.says, f"{item.at}: “{item.quote}”")
        for s in registry.load()[1].values() if s.reading and not s.retired
        for case, part in s.reading.parts.items() for item in part.citations
    }  # fmt: skip
    found = {
        (name, r.case, r.of, r.cited, r.outcome, r.detail.partition("; ")[2])
        for r in records if r.kind == "citation" for name in r.claims
    }  # fmt: skip
    return [f"recorded, not in the registry: {item}" for item in sorted(found - known, key=str)] + [
        f"in the registry, not recorded: {item}" for item in sorted(known - found, key=str)
    ]


def test_the_notebooks_record_what_the_registry_cites() -> None:
    assert not faults(item.record for item in ledger.read(ROOT))


@pytest.mark.canary
def test_another_quotation_than_the_registry_s_is_seen() -> None:
    records = [item.record for item in ledger.read(ROOT) if item.record.kind == "citation"]
    assert faults(records[1:]) and len(faults(records[1:])) == 1
    other = Record(("TIE-19",), ("x",), "citation", "supports", "", "judged; p. 1: “so”", cited="a")
    assert faults([*records, other])[0].startswith("recorded, not in the registry: ('TIE-19'")
