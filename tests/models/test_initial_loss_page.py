"""The manual page of `initial_loss`: its table is what was measured."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def bench(name: str = "initial_loss") -> ModuleType:
    return importlib.import_module(name)


def known() -> dict[str, dict[str, dict[str, float]]]:
    found: dict[str, dict[str, dict[str, float]]] = json.loads(
        (ROOT / "src/verified_transformer/book/real_models/first_losses.json").read_text(
            encoding="utf-8"
        )
    )
    return found


def test_the_table_is_what_was_measured() -> None:
    pytest.importorskip("transformers")
    written = (ROOT / "book/initial-loss-table.txt").read_text(encoding="utf-8")
    assert written == bench().table(known())


def test_the_table_of_planted_faults_is_what_was_found() -> None:
    pytest.importorskip("transformers")
    found = json.loads((ROOT / "bench/planted_faults.json").read_text(encoding="utf-8"))
    written = (ROOT / "book/planted-faults-table.txt").read_text(encoding="utf-8")
    assert written == bench("planted_faults").page(found)
    assert sum(row["models"] for row in found["fresh"].values()) >= 500


def test_the_table_of_starts_has_the_classes_that_were_found() -> None:
    rows = (ROOT / "book/audit-starts-table.txt").read_text(encoding="utf-8").splitlines()[2:]
    found = (ROOT / "bench/audit_starts.txt").read_text(encoding="utf-8")
    kinds = re.findall(r"^(\S+) +\d+ of +\d+, ", found, re.MULTILINE)
    assert kinds
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == kinds


def test_the_predictions_are_those_of_the_code_and_within_what_one_draw_moves() -> None:
    transformers = pytest.importorskip("transformers")
    tried = bench()
    for name, row in known()["models"].items():
        if row["n"] > 60_000 or row["layers"] > 12:
            continue  # the smaller ones, for speed
        kind, settings, *_ = tried.MODELS[name]
        config = getattr(transformers, kind).config_class(**tried.tokens_fit(settings))
        loss = tried.initial_loss(config, length=tried.LENGTH).loss
        assert loss == pytest.approx(row["predicted"], rel=1e-6), name
        room = 1e-3 * row["measured"] + 3 * row["one draw"]
        assert loss == pytest.approx(row["measured"], abs=room), name
