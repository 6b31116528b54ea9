"""What lines of a notebook change beside what they bind: by a call, in place, or everywhere.

Read and not run, so on the safe side: a call whose value nobody takes may change what it is given,
and a function what it names. What shows or judges changes nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cells import Line

EVERYWHERE, WITHIN = "*", "* within"  # all that runs later; of a `with` the rest of its body
_PRINTS = {"print", "display"}
_SHOWS = {"claim", "exercise", "live", "figure", "plt", "pile", "drawings"}
_SHOWN = "verified_transformer.book.drawings"
_INSTALLS = "get_ipython().run_line_magic('pip',"  # what is there is no line's, but the machine's
_REACH_ALL = {"exec", "globals", "get_ipython"}
_GLOBAL = ("seed", "set_", "use_")  # such functions of a module set what all others read
_IN_PLACE = {"pop", "remove", "clear", "sort", "reverse", "discard", "popitem", "shuffle"}
_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def changed_by(lines: Sequence[Line]) -> list[frozenset[str]]:
    """Return what each of the lines changes: names of the notebook, or `EVERYWHERE`, `WITHIN`."""
    read = _Effects()
    return [frozenset(read.of(line)) for line in lines]


class _Effects:
    """What is known after some lines: imports, what shows, what a function does, who shares."""

    def __init__(self) -> None:
        self.imported, self.shows = set[str](), _PRINTS | _SHOWS
        self.does, self.shared = dict[str, set[str]](), dict[str, set[str]]()

    def of(self, line: Line) -> set[str]:
        """What a line changes; it is known from here on."""
        node = line.statement
        if isinstance(node, ast.Expr) and ast.unparse(node).startswith(_INSTALLS):
            return set()
        if isinstance(node, ast.Import | ast.ImportFrom):
            self.imported |= line.binds
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_SHOWN):
                self.shows |= line.binds
            return {EVERYWHERE} if any(part.name == "*" for part in node.names) else set()
        shown = bool(line.loads & (self.shows - _PRINTS))
        parts = [p for p in _parts(line) if not (shown and isinstance(p, ast.Expr))]
        found = {name for part in parts for name in self._part(part)}
        if shown:  # as a claim's case does, or a function that draws
            self.shows |= line.binds
        if isinstance(node, _DEFINITIONS):
            own = {n for part in parts if isinstance(part, ast.Global) for n in part.names}
            forked = {WITHIN} if any(isinstance(part, ast.With) for part in parts) else set()
            found &= (line.loads | {EVERYWHERE, WITHIN}) - forked
            self.does.update(dict.fromkeys(line.binds, found | own))
            return set()
        others = line.loads - self.imported - self.does.keys() - line.binds
        if not (shown or isinstance(node, ast.Expr)):
            self.shared.update({name: set(others - self.shows) for name in line.binds})
        if WITHIN in found and not any(body == "With.body" for *_, body in line.within):
            found.add(EVERYWHERE)
        waiting = [*found]
        for name in waiting:  # which grows
            waiting += self.shared.get(name, set()) - {*waiting}
        return {*waiting} - self.imported

    def _part(self, node: ast.AST) -> Iterator[str]:
        """What a part of a statement changes."""
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            yield self._place(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield from self._dropped(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield from self.does.get(node.func.id, ())
            if node.func.id in _REACH_ALL:
                yield EVERYWHERE
            elif node.func.id in ("setattr", "delattr"):
                yield self._place(node.args[0])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name in _IN_PLACE or (name.endswith("_") and not name.endswith("__")):
                yield _root(node.func)
                yield from self._given(node)

    def _place(self, node: ast.AST) -> str:
        return EVERYWHERE if (root := _root(node)) in self.imported | _REACH_ALL else root

    def _dropped(self, call: ast.Call) -> Iterator[str]:
        """What a call may change of which nobody takes the value."""
        if (root := _root(call)) in self.shows:
            return
        if isinstance(call.func, ast.Attribute) and root not in self.imported:
            yield root
            return
        yield from (given := [*self._given(call)])
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if name and (not given or any(word in name for word in _GLOBAL)):
            yield WITHIN

    def _given(self, call: ast.Call) -> Iterator[str]:
        """The notebook's names that a call is given."""
        for part in ast.walk(call):
            if isinstance(part, ast.Name) and part.id not in self.imported | self.shows:
                yield part.id


@lru_cache(maxsize=4096)
def _parts(line: Line) -> list[ast.AST]:
    """The parts of a statement that may change something, or set a context."""
    kinds = ast.Attribute | ast.Subscript | ast.Call | ast.Expr | ast.Global | ast.With
    return [part for part in ast.walk(line.statement) if isinstance(part, kinds)]


def _root(node: ast.AST) -> str:
    """The name that an expression begins with; of `vars(x)` it is x."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Call):
            inside = isinstance(node.func, ast.Name) and node.func.id in ("vars", "getattr")
            node = node.args[0] if inside and node.args else node.func
        elif isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
            node = node.value
        else:
            return ""
    return node.id
