"""Which cells of a notebook use, directly or by way of others, what a cell makes."""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterable, Iterator, Mapping

_CLAIM = re.compile(r"[A-Z]+-\d\d")


def dependents(sources: Mapping[int, str], changed: int) -> Iterator[int]:
    """Yield the places of the later cells that use what a cell makes or changes.

    Args:
        sources: code of the cells by their places, in order.
        changed: place of the cell.

    Example:
        >>> list(dependents({0: "a = 1", 1: "b = 2", 2: "c = a + 1", 3: "c, b"}, 0))
        [2, 3]
    """
    touched = _made(sources[changed])
    for place, source in sources.items():
        if place > changed and touched & _used(source):
            touched |= _made(source)
            yield place


def needed(sources: Mapping[int, str], wanted: Iterable[int]) -> set[int]:
    """Return the places of the cells without which some cells do not run as in the whole notebook.

    A claim's first record shows its card: cells that name the same claim belong together.

    Args:
        sources: code of the cells by their places, in order.
        wanted: places of the cells that are to run.

    Example:
        >>> sorted(needed({0: "a = 1", 1: "b = 2", 2: "c = a + 1", 3: "c"}, [3]))
        [0, 2, 3]
    """
    found, used = set(wanted), set()
    for place, source in reversed(sources.items()):
        named = set(_CLAIM.findall(source))
        if place in found or used & (_made(source) | named):
            found.add(place)
            used |= _used(source) | named
    return found


def _plain(source: str) -> str:
    """Code without magics; none where it cannot be read."""
    plain = re.sub(r"(?m)^(\s*)[%!].*$", r"\1pass", source)
    try:
        compile(plain, "cell", "exec")
    except SyntaxError:
        return ""
    return plain


def _used(source: str) -> set[str]:
    """Names of the notebook that a cell reads, in its functions too."""
    waiting, found = [symtable.symtable(_plain(source), "cell", "exec")], set()
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        whole = table.get_type() == "module"
        found |= {
            s.get_name()
            for s in table.get_symbols()
            if s.is_global() or (whole and s.is_referenced())
        }
    return found


def _made(source: str) -> set[str]:
    """Names that a cell binds, and those of things that it may change where they stand."""
    top = symtable.symtable(_plain(source), "cell", "exec").get_symbols()
    found = {s.get_name() for s in top if s.is_assigned() or s.is_imported()}
    for node in ast.walk(ast.parse(_plain(source))):
        match node:
            case (
                ast.Attribute(ast.Name(name), _, ast.Store())
                | ast.Subscript(ast.Name(name), _, ast.Store())
                | ast.Expr(ast.Call(ast.Attribute(ast.Name(name))))
            ):
                found.add(name)
    return found
