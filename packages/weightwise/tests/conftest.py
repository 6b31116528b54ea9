"""Which tests are slow, and which are for the night: of each kind, those beside the examples."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent

# Of the classes that are tried, those that every run tries: an encoder and decoders, with and
# without a tie, of each generation; a mixture; and one law.
EXAMPLES = {
    "BERT, GELU, tied", "GPT-2, tied", "Llama, untied", "T5 v1.0", "Gemma 2, untied",
    "Mixtral, untied", "ViT", "bert", "gpt2", "llama", "t5", "gemma2", "bloom",
    "soft-capped logits",
}  # fmt: skip
# A slow run grows each class and holds it against the small one; on all classes but the examples
# these try again at night what was grown there.
AGAIN = (
    "test_growth_checkpoints.py::test_it_writes_what_grow_makes_bit_by_bit",
    "test_growth_classes.py::test_a_grown_model_survives_the_disk",
    "test_growth_classes.py::test_compared_as_they_run_they_are_the_same_function",
    "test_growth_classes.py::test_both_write_the_same_text_with_a_cache",
    "test_growth_symmetry.py::test_noise_leaves_the_function_alone",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow, or for the night, what is tried on examples and on other classes as well."""
    others: dict[str, list[pytest.Item]] = {}
    tried = set()
    for item in items:
        if item.path.is_relative_to(HERE) and hasattr(item, "callspec"):
            test, told = item.nodeid.partition("[")[0], item.callspec.params
            if {told.get("kind"), told.get("law")} & EXAMPLES:
                tried.add(test)
            elif not item.get_closest_marker("canary"):
                others.setdefault(test, []).append(item)
    for test in tried & set(others):
        for item in others[test]:
            item.add_marker("nightly" if test.endswith(AGAIN) else "slow")
