"""From a line of a notebook back to the lines that made what it uses.

What an experiment is given was often computed in a cell before. So a name is followed to the
statement that bound it last, and to those that changed it since, and so on through their names.
Sources are read from `linecache`, where IPython keeps every cell that was run, in order.
"""

from __future__ import annotations

import ast
import copy
import linecache
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Place = tuple[str, int]  # a cell's file name, and the line in it
_BODIES = ("body", "handlers", "orelse", "finalbody")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BROKEN = {"not_on", "spoiled"}
_CHANGING = {"append", "extend", "update", "insert", "add", "setdefault"}


@dataclass(frozen=True, eq=False)
class Line:
    """A statement of a cell without inner ones, or the head of a loop.

    Attributes:
        file: the cell's name.
        first, last: its lines; of a head, those before the body.
        outer: first and last line of the statement of the cell that it stands in.
        binds, changes: names that it binds anew, and that it may change.
        loads: names that it uses, those of the functions that it defines among them.
        broken: those of them that it only gives to a check as broken versions.
        kind: of statement, as `ast` calls it.
        parts: of the syntax tree, those that are its own.
    """

    file: str
    first: int
    last: int
    outer: tuple[int, int]
    binds: frozenset[str]
    changes: frozenset[str]
    loads: frozenset[str]
    broken: frozenset[str]
    kind: str
    parts: tuple[ast.AST, ...]

    def holds(self, place: Place | None) -> bool:
        """Whether a place is on this line."""
        file, line = place or ("", 0)
        return file == self.file and self.first <= line <= self.last

    def around(self, place: Place | None) -> bool:
        """Whether a place is in the same statement of the cell."""
        file, line = place or ("", 0)
        return file == self.file and self.outer[0] <= line <= self.outer[1]


def lines_before(place: Place) -> list[Line]:
    """Return the lines of all cells that were run until a place, its own the last.

    Args:
        place: a cell's name, and a line in it.
    """
    found: list[Line] = []
    folder = os.path.dirname(place[0])
    for name, entry in list(linecache.cache.items()):
        is_cell = len(entry) > 1 and entry[1] is None and os.path.dirname(name) == folder
        if is_cell and name != place[0]:
            found += _lines(name, "".join(entry[2]))  # type: ignore[misc]
    own = _lines(place[0], "".join(linecache.getlines(place[0])))
    return [*found, *(line for line in own if line.first <= place[1])]


def made_by(place: Place, names: Mapping[str, Any], *, broken: bool = True) -> list[Line]:
    """Return the lines that made what the statement at a place uses, that one the last.

    Args:
        place: a cell's name, and a line in it.
        names: of the notebook, with what they stand for now.
        broken: with what is given to a check as broken, so that it fails there; and with all that
            a loop goes over, not only what its last turn took.
    """
    every = lines_before(place)
    if not every or not every[-1].holds(place):
        return []
    found: dict[int, Line] = {len(every) - 1: every[-1]}
    used = every[-1].loads - (set() if broken else every[-1].broken)
    waiting = [(len(every) - 1, name) for name in used]
    seen = set(waiting)
    while waiting:
        before, name = waiting.pop()
        for index in _binding(every, before, name):
            line = found[index] = every[index]
            one_turn = line.kind == "For" and not broken
            more = _taken_from(line, name, names) if one_turn else line.loads
            new = {(index, other) for other in more} - seen
            seen |= new
            waiting += new
    return [found[index] for index in sorted(found)]


def _binding(every: list[Line], before: int, name: str) -> Iterator[int]:
    """The line that bound a name last, before a line, and those that changed it since."""
    for index in range(before - 1, -1, -1):
        if name in every[index].changes:
            yield index
        if name in every[index].binds:
            yield index
            return


def _taken_from(line: Line, name: str, names: Mapping[str, Any]) -> frozenset[str]:
    """Of a loop's head the name from which a loop variable comes, where one is that very thing."""
    thing = names.get(name)
    if isinstance(thing, str | int | None):
        return frozenset() if name in names else line.loads  # no model makes it
    return frozenset(other for other in line.loads if names.get(other) is thing) or line.loads


@lru_cache(maxsize=512)
def _lines(file: str, source: str) -> tuple[Line, ...]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ()
    return tuple(
        line
        for statement in tree.body
        for line in _flat(statement, file, (_first(statement), statement.end_lineno or 0))
    )


def _flat(node: ast.stmt, file: str, outer: tuple[int, int]) -> Iterator[Line]:
    """The lines of a statement: its own, or its head's and those of its bodies."""
    inner = [] if isinstance(node, _DEFINITIONS) else list(_inner(node))
    end = inner[0].lineno - 1 if inner else node.end_lineno or 0
    head = [value for key, value in ast.iter_fields(node) if not inner or key not in _BODIES]
    parts = tuple(_nodes(head))
    binds, changes, loads = _names(node, parts)
    sound = _names(node, [_without_broken(part) for part in parts])[2]
    last, kind = max(end, node.lineno), type(node).__name__
    yield Line(file, _first(node), last, outer, binds, changes, loads, loads - sound, kind, parts)
    for child in inner:
        yield from _flat(child, file, outer)


def _first(node: ast.stmt) -> int:
    """The line on which a statement begins: a decorator's, where it has one."""
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])


def _inner(node: ast.stmt) -> Iterator[ast.stmt]:
    """The statements of the bodies of a loop, a branch, a `with` or a `try`."""
    for child in _nodes([getattr(node, key, None) for key in _BODIES]):
        if isinstance(child, ast.ExceptHandler):
            yield from child.body
        elif isinstance(child, ast.stmt):
            yield child


def _nodes(values: Iterable[Any]) -> Iterator[ast.AST]:
    for value in values:
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            yield from _nodes(value)


def _names(node: ast.stmt, head: Iterable[ast.AST]) -> tuple[frozenset[str], ...]:
    """Names that a line binds, those that it may change, and those that it uses."""
    found = _Names()
    if isinstance(node, _DEFINITIONS):
        found.visit(node)
        return frozenset({node.name}), frozenset(), frozenset(found.loads)
    for part in head:
        found.visit(part)
    if isinstance(node, ast.AugAssign):
        found.changes |= found.binds
        found.loads |= found.binds
        found.binds = set()
    return frozenset(found.binds), frozenset(found.changes), frozenset(found.loads)


class _Names(ast.NodeVisitor):
    """Collects names; those of inner functions, classes and comprehensions are theirs alone."""

    def __init__(self) -> None:
        self.binds: set[str] = set()
        self.changes: set[str] = set()
        self.loads: set[str] = set()
        self._inner: frozenset[str] = frozenset()

    def visit_Name(self, node: ast.Name) -> None:
        if node.id not in self._inner:
            (self.loads if isinstance(node.ctx, ast.Load) else self.binds).add(node.id)

    def visit_alias(self, node: ast.alias) -> None:
        self.binds.add((node.asname or node.name).partition(".")[0])

    def visit_Attribute(self, node: ast.Attribute | ast.Subscript) -> None:
        self.changes |= _root(node) if isinstance(node.ctx, ast.Store) else set()
        self.generic_visit(node)

    visit_Subscript = visit_Attribute

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
            self.changes |= _root(node.func)
        self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = getattr(node, "decorator_list", [])
        for part in _nodes([decorators, node.args.defaults, node.args.kw_defaults]):
            self.visit(part)
        names = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
        self._within(names | _stored(node), _nodes([node.body]))

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._within(_stored(node), _nodes([node.bases, node.body]))

    def visit_ListComp(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> None:
        self.visit(node.generators[0].iter)
        names = set().union(*(_stored(part.target) for part in node.generators))
        self._within(names, ast.iter_child_nodes(node))

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    def _within(self, names: set[str], parts: Iterable[ast.AST]) -> None:
        before, self._inner = self._inner, self._inner | names
        for part in parts:
            self.visit(part)
        self._inner = before


def _stored(node: ast.AST) -> set[str]:
    """Names that a piece of the tree stores."""
    every = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return {part.id for part in every if not isinstance(part.ctx, ast.Load)}


def _without_broken(part: ast.AST) -> ast.AST:
    """A part of a statement without what is given to a check as broken."""
    found = copy.deepcopy(part)
    for call in ast.walk(found):
        if isinstance(call, ast.Call):
            call.keywords = [word for word in call.keywords if word.arg not in _BROKEN]
    return found


def _root(node: ast.AST) -> set[str]:
    """The name that an attribute or an item is of."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()
