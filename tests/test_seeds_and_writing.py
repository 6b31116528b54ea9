"""A package that stands alone has its own copy of what all need: one and the same code."""

from __future__ import annotations

import inspect

import weightwise.seeds
import weightwise.writing
from verifiedbook import seeds, writing


def test_a_name_has_the_same_seed_and_a_file_is_written_alike_in_both() -> None:
    for ours, theirs in (
        (seeds.seed_of, weightwise.seeds.seed_of),
        (writing.write_whole, weightwise.writing.write_whole),
    ):
        assert inspect.getsource(ours) == inspect.getsource(theirs)
