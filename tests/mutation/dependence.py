"""Which cells of a notebook use, directly or by way of others, what a cell makes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping


def dependents(sources: Mapping[int, str], changed: int) -> Iterator[int]:
    """Yield the places of the later cells that use what a cell makes or changes.

    Args:
        sources: code of the cells by their places, in order.
        changed: place of the cell.

    Example:
        >>> list(dependents({0: "a = 1", 1: "b = 2", 2: "c = a + 1", 3: "c, b"}, 0))
        [2, 3]
    """
    touched = _made(_tree(sources[changed]))
    for place, source in sources.items():
        if place > changed:
            tree = _tree(source)
            if touched & _used(tree):
                touched |= _made(tree)
                yield place


def _tree(source: str) -> ast.Module:
    try:
        return ast.parse(re.sub(r"(?m)^(\s*)[%!].*$", r"\1pass", source))
    except SyntaxError:
        return ast.Module([], [])


def _used(tree: ast.Module) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _made(tree: ast.Module) -> set[str]:
    """Names that are bound, and those of things that may be changed where they stand."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(name, ast.Store()):
                found.add(name)
            case ast.FunctionDef(name) | ast.ClassDef(name):
                found.add(name)
            case ast.Attribute(ast.Name(name), _, ast.Store()) | ast.Subscript(
                ast.Name(name), _, ast.Store()
            ):
                found.add(name)
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(name)))):
                found.add(name)
    return found
