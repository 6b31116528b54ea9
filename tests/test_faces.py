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
PACKAGES = TESTS.parent / "packages"
GIVES_NONE = {"number"}  # where a formula has no finite value at a point; it refuses nothing
Function = ast.FunctionDef | ast.AsyncFunctionDef


def called_wrongly(sources: Iterable[str]) -> set[str]:
    """The names that tests use where they wait for an error, or keep in a table of such calls.

    What a test itself gives a name to, such as the variable of a loop, is none of ours.
    """
    found: set[str] = set()
    for tree in map(ast.parse, sources):
        used = [name for part in _waiting(tree) for name in ast.walk(part)]
        own = {
            n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        found |= {n.id for n in used if isinstance(n, ast.Name)} - own
        found |= {n.attr for n in used if isinstance(n, ast.Attribute)}
    return found


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
    assert set(takes_something(face)) - _tried() <= GIVES_NONE


@cache
def _tried() -> set[str]:
    tests = (*TESTS.rglob("test_*.py"), *PACKAGES.rglob("test_*.py"))
    return called_wrongly(path.read_text(encoding="utf-8") for path in tests)


@pytest.mark.canary
def test_a_function_that_is_only_called_rightly_is_found() -> None:
    source = "def test_grow():\n    grow(model, 2)\n    with pytest.raises(E):\n        other()\n"
    assert called_wrongly([source]) == {"other"}
    loop = f"{source}        for number in (0, 1):\n            other(number)\n"
    assert called_wrongly([loop]) == {"other"}
