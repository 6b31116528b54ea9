"""Lets nbval compare what pictures show, which it does not by itself."""

from __future__ import annotations

from functools import wraps
from typing import Any

from nbval import plugin

from verified_transformer.account.records import pictures


def install() -> None:
    """Let a cell fail where its pictures show something else than those that are stored."""
    compare = plugin.IPyNbCell.compare_outputs
    if hasattr(compare, "__wrapped__"):
        return

    @wraps(compare)
    def with_pictures(cell: Any, test: Any, ref: Any, *rest: Any, **more: Any) -> bool:
        same = bool(compare(cell, test, ref, *rest, **more))
        found = list(pictures.differences(ref, test))
        cell.comparison_traceback += [f"picture: {text}" for text in found]
        return same and not found

    plugin.IPyNbCell.compare_outputs = with_pictures
