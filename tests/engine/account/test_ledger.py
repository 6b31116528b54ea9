"""The ledger of the stored notebooks: complete, and red where one of its parts is changed."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import jsonschema
import pytest

from verifiedbook.account import ledger, registry
from verifiedbook.account.ledger import Entry, Ledger, LedgerError
from verifiedbook.account.records.notebook_records import reworded
from verifiedbook.account.schema import schema

ROOT = Path(__file__).parents[3]


def own_not_held(claims: Iterable[Entry]) -> dict[str, str]:
    own = (c for c in claims if c.article == registry.OWN)
    return {c.id: c.verdict for c in own if c.verdict not in ("holds", "reproduced")}


def test_what_the_book_itself_says_holds(collected: Ledger) -> None:
    assert own_not_held(collected.claims) == {}


@pytest.mark.canary
@pytest.mark.parametrize("verdict", ["wrong", "holds-if", "open", "undecided"])
def test_a_statement_of_the_book_that_does_not_hold_is_found(
    verdict: str, collected: Ledger
) -> None:
    own = next(c for c in collected.claims if c.id == "BOOK-01")
    assert own_not_held([dataclasses.replace(own, verdict=verdict)]) == {"BOOK-01": verdict}


def test_the_ledger_lists_all_in_order(collected: Ledger) -> None:
    assert [c.id for c in collected.claims] == list(registry.load()[1])
    assert collected.summary.total == 425
    for claim in collected.claims:
        decided = claim.verdict != "undecided"
        assert decided == bool(claim.evidence) or claim.why.startswith(("still", "rests"))
        assert not decided or claim.reading
        assert claim.verdict not in ("wrong", "holds-if") or claim.truth
        assert claim.verdict != "holds-if" or claim.condition


def vanished(data: Ledger) -> list[str]:
    """Claims whose reading is written, but whose deciding cells are gone."""
    return [c.id for c in data.claims if c.reading and c.verdict == "undecided"]


def test_no_decided_claim_has_vanished(collected: Ledger) -> None:
    assert vanished(collected) == []


@pytest.mark.canary
def test_a_claim_whose_cells_are_gone_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = [item for item in ledger.read(ROOT) if "LOSS-16" not in item.record.claims]
    monkeypatch.setattr(ledger, "read", lambda root: fewer)
    assert vanished(ledger.collect(ROOT)) == ["LOSS-16", "LOSS-22"]  # the second rests on it


def test_every_source_cited_is_in_the_bibliography() -> None:
    bibliography = (ROOT / "book/references.bib").read_text(encoding="utf-8")
    for item in ledger.read(ROOT):
        key = item.record.cited
        assert key is None or f"{{{key}," in bibliography, key


def test_every_mutant_counted_is_rejected(collected: Ledger) -> None:
    mutants = collected.summary.mutants
    assert mutants.killed == mutants.total > 0


def test_the_z_scores_of_the_book_look_normal(collected: Ledger) -> None:
    """Too many large ones: a bias. Too few: a check that does not measure what it says."""
    scores = [
        estimate.z for item in ledger.read(ROOT) for estimate in item.record.volatile.estimates
    ]
    n, total = len(scores), sum(z * z for z in scores)
    # chi-square with n degrees of freedom, by Wilson and Hilferty, within ±4.5 standard deviations
    deviation = ((total / n) ** (1 / 3) - (1 - 2 / (9 * n))) / (2 / (9 * n)) ** 0.5
    assert n >= 20 and abs(deviation) < 4.5, (n, total)


@pytest.mark.slow
@pytest.mark.canary
def test_flipping_any_reading_makes_the_ledger_red_and_names_the_claim() -> None:
    statements = registry.load()[1]
    found = ledger.read(ROOT)
    for name in sorted({name for item in found for name in item.record.claims}):
        reading = statements[name].reading
        assert reading is not None
        flipped = dataclasses.replace(reading, text=reading.text + " not", formula="17")
        changed = {**statements, name: dataclasses.replace(statements[name], reading=flipped)}
        assert any(name in fault for item in found for fault in reworded(item, changed))


@pytest.mark.canary
def test_a_decided_claim_that_vanishes_from_the_registry_is_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    articles, statements = registry.load()
    fewer = {name: s for name, s in statements.items() if name != "LOSS-14"}
    monkeypatch.setattr(registry, "load", lambda: (articles, fewer))
    with pytest.raises(LedgerError, match="LOSS-14 is not in the registry"):
        ledger.collect(ROOT)


@pytest.mark.slow
def test_the_ledger_needs_neither_sympy_nor_torch() -> None:
    program = (
        "import sys; from pathlib import Path; "
        "from verifiedbook.account import ledger; "
        "ledger.collect(Path('.')); print({'sympy', 'torch', 'numpy'} & set(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    assert run.stdout.strip() == "set()"


# ------------------------------------------------------------------ what is published


def schema_faults(data: object) -> list[str]:
    """Where what is published is not what its schema says."""
    jsonschema.Draft202012Validator.check_schema(schema())
    faults = jsonschema.Draft202012Validator(schema()).iter_errors(data)
    return [f"{fault.json_path}: {fault.message}" for fault in faults]


def test_what_is_published_fits_its_schema(collected: Ledger) -> None:
    assert schema_faults(json.loads(json.dumps(collected.to_json()))) == []


@pytest.mark.canary
@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("verdict", "true", "$.claims[0].verdict: 'true' is not one of"),
        ("id", "loss 14", "$.claims[0].id: 'loss 14' does not match"),
        ("hedge", "maybe", "$.claims[0]: Additional properties are not allowed ('hedge'"),
        ("evidence", [{"kind": "guess"}], "$.claims[0].evidence[0].kind: 'guess' is not one of"),
    ],
)
def test_what_does_not_fit_the_schema_is_found(
    field: str, value: object, fault: str, collected: Ledger
) -> None:
    data = json.loads(json.dumps(collected.to_json()))
    data["claims"][0][field] = value
    assert any(line.startswith(fault) for line in schema_faults(data)), schema_faults(data)
