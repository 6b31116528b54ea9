"""`make check` tries a model class of each sort; `make test` tries all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

# an encoder and decoders, with and without a tie, of each generation; a mixture; and one law
EXAMPLES = {
    "BERT, GELU, tied", "GPT-2, tied", "Llama, untied", "T5 v1.0", "Gemma 2, untied",
    "Mixtral, untied", "ViT", "bert", "gpt2", "llama", "t5", "gemma2", "bloom",
    "soft-capped logits",
}  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what is tried on one of these and on other classes as well."""
    others: dict[str, list[pytest.Item]] = {}
    tried = set()
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and hasattr(item, "callspec"):
            test, told = item.nodeid.partition("[")[0], item.callspec.params
            if {told.get("kind"), told.get("law")} & EXAMPLES:
                tried.add(test)
            elif not item.get_closest_marker("canary"):
                others.setdefault(test, []).append(item)
    for test in tried & set(others):
        for item in others[test]:
            item.add_marker("slow")
