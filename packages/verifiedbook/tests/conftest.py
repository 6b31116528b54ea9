"""Shared by the tests: readings that a test gives to claims of the small book."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from verifiedbook.account import registry
from verifiedbook.account.registry import Reading


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Give a claim of the registry another reading for the length of a test."""
    real = registry.statement

    def give(**reading: Any) -> None:
        def statement(name: str) -> registry.Statement:
            kind = reading.get("kind", real(name).kind)
            other = Reading("read", **{k: v for k, v in reading.items() if k != "kind"})
            return dataclasses.replace(real(name), reading=other, kind=kind)

        monkeypatch.setattr(registry, "statement", statement)

    return give
