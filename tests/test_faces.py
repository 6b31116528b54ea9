"""Every function that a public face of the package offers is called wrongly in some test."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import verified_transformer
from verified_transformer import book, models

TESTS = Path(__file__).parent
Function = ast.FunctionDef | ast.AsyncFunctionDef


def called_wrongly(sources: Iterable[str]) -> set[str]:
    """The names that tests use where they wait for an error, or keep in a table of such calls."""
    return {
        name.id if isinstance(name, ast.Name) else name.attr
        for source in sources
        for part in _waiting(ast.parse(source))
        for name in ast.walk(part)
        if isinstance(name, ast.Name | ast.Attribute)
    }


def _waiting(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.With) and any("raises" in ast.unparse(i) for i in node.items):
            yield from node.body
        if isinstance(node, ast.FunctionDef) and "raises(" in ast.unparse(node):
            yield from (part for part in node.decorator_list if "parametrize" in ast.unparse(part))
        if isinstance(node, ast.AnnAssign) and "type[Exception]" in ast.unparse(node.annotation):
            yield node


def takes_something(face: ModuleType) -> list[str]:
    """The functions of a face that take arguments."""
    offered = {name: getattr(face, name) for name in face.__all__}
    return [
        name
        for name, thing in offered.items()
        if inspect.isfunction(thing) and inspect.signature(thing).parameters
    ]


@pytest.mark.parametrize("face", [verified_transformer, book, models], ids=lambda f: f.__name__)
def test_every_offered_function_is_called_wrongly(face: ModuleType) -> None:
    assert len(takes_something(face)) > 5
    assert sorted(set(takes_something(face)) - _tried()) == []


@cache
def _tried() -> set[str]:
    return called_wrongly(path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))


@pytest.mark.canary
def test_a_function_that_is_only_called_rightly_is_found() -> None:
    source = "def test_grow():\n    grow(model, 2)\n    with pytest.raises(E):\n        other()\n"
    assert called_wrongly([source]) == {"other"}
