"""How evidence was made: a key of what a check was given, read and not run.

Of a function of a notebook counts its syntax tree, without comments, docstrings, annotations and
the names of its locals; and so on through the notebook's functions that it calls, and the plain
values that it uses. What the library or another package defines counts by its name. What was
computed in a cell counts by the lines that computed it (see `cells`), and not by its value, which
hangs on the processor: so a literal in one of them moves the key.
"""

from __future__ import annotations

import ast
import builtins
import functools
import hashlib
import json
import linecache
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from .cells import Line

_LIBRARY = __name__.partition(".")[0]
_LAYOUT = {"type_comment", "type_params", "kind", "ctx", "annotation", "returns", "simple"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_ELSEWHERE = {"Import", "ImportFrom", "FunctionDef", "AsyncFunctionDef", "ClassDef"}
_MOST = 50  # things in a collection that count one by one


def how_made(
    *things: object, lines: Sequence[Line] = (), names: Mapping[str, Any] | None = None
) -> str | None:
    """Return a key of what a check was given: functions, things that hold some, plain values.

    Args:
        things: predicates, oracles, statistics, and what they are tried on.
        lines: of the notebook, that made them (`cells.made_by`), the check's own the last.
        names: of the notebook, with what they stand for.

    Returns:
        Eight hexadecimal digits; None where nothing was given.

    Example:
        >>> how_made(3.0, "text") == how_made(3.0, "other"), how_made() is None
        (False, True)
    """
    reader = _Reader()
    found = [reader.of(thing) for thing in things]
    if all(thing is None for thing in things):
        return None
    cell = _Cell(reader, names or {})
    made = [cell.of(line) for line in lines if not cell.says_nothing(line)]
    data = json.dumps([found, reader.trees, *([made] if made else [])])
    return hashlib.sha256(data.encode()).hexdigest()[:8]


class _Reader:
    """Reads functions, each once, in the order in which they are met."""

    def __init__(self) -> None:
        self.trees: list[Any] = []
        self._places: dict[types.CodeType, int] = {}

    def of(self, thing: Any, depth: int = 0) -> Any:
        """What a thing is, as far as it is the same on every machine."""
        if isinstance(thing, types.FunctionType):
            return self._function(thing)
        if isinstance(thing, functools.partial):
            return ["partial", *(self.of(p) for p in (thing.func, thing.args, thing.keywords))]
        if callable(thing) and isinstance(getattr(thing, "__wrapped__", None), types.FunctionType):
            return ["wrapped", _name(type(thing)), self.of(thing.__wrapped__)]
        if isinstance(thing, types.MethodType):
            return ["method", self.of(thing.__func__), _name(type(thing.__self__))]
        if isinstance(thing, types.ModuleType):
            return ["module", thing.__name__]
        if isinstance(thing, type):
            own = [] if _is_foreign(thing.__module__) else sorted(vars(thing).items())
            members = [[key, self.of(v)] for key, v in own if isinstance(v, types.FunctionType)]
            return ["class", _name(thing), members]
        if thing is None or isinstance(thing, bool | int | str):
            return repr(thing)
        if isinstance(thing, float):
            # one with more digits was computed, and the last of them hang on the processor
            return repr(thing) if thing == float(f"{thing:.6g}") else "float"
        if isinstance(thing, list | tuple | Mapping) and depth < 3 and len(thing) <= _MOST:
            items = thing.items() if isinstance(thing, Mapping) else enumerate(thing)
            return [type(thing).__name__, [[str(k), self.of(v, depth + 1)] for k, v in items]]
        if type(thing).__module__.partition(".")[0] == _LIBRARY:
            named = (getattr(thing, "quantity", None), getattr(thing, "name", None))
            texts = [text for text in named if isinstance(text, str)]
            return [_name(type(thing)), *texts, *self._held(thing, depth)]
        return [_name(type(thing)), *([str(thing)] if _is_symbol(thing) else [])]

    def _held(self, thing: object, depth: int) -> Iterator[Any]:
        """Functions that a thing of the library holds, such as an oracle's or a derivation's."""
        for key, value in sorted(getattr(thing, "__dict__", {}).items()):
            several = isinstance(value, tuple) and value and all(map(callable, value))
            if depth < 3 and (several or isinstance(value, types.FunctionType | functools.partial)):
                yield [key, self.of(value, depth + 1)]

    def _function(self, function: types.FunctionType) -> Any:
        node = None if _is_foreign(function.__module__) else _node(function.__code__)
        if node is None:
            return ["named", f"{function.__module__}.{function.__qualname__}"]
        code = function.__code__
        if code not in self._places:
            place = self._places[code] = len(self.trees)
            self.trees.append(None)
            defaults = [self.of(value) for value in function.__defaults__ or ()]
            self.trees[place] = [_Tree(self, function, node).meaning, defaults]
        return ["tree", self._places[code]]


class _Tree:
    """The syntax tree of one function, without what cannot change a result."""

    def __init__(self, reader: _Reader, function: types.FunctionType, node: ast.AST) -> None:
        self._reader, self._globals = reader, function.__globals__
        self._bound = set(_bound(node))
        self._numbers: dict[str, int] = {}
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        self._free = {name: cell for name, cell in cells if _is_filled(cell)}
        arguments = getattr(node, "args", None)
        self.meaning = [self._of(arguments), self._of(getattr(node, "body", None))]

    def _of(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._of(item) for item in node if not _says_nothing(item)]
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.arg):
            return self._name(node.arg)
        if isinstance(node, ast.Constant):
            return ["Constant", repr(node.value)]
        if not isinstance(node, ast.AST):
            return repr(node)
        skipped = _LAYOUT | ({"name"} if isinstance(node, _FUNCTIONS) else set())
        fields = [(key, value) for key, value in ast.iter_fields(node) if key not in skipped]
        kept = [[key, self._of(value)] for key, value in fields if value not in (None, [])]
        name = getattr(node, "name", None) if isinstance(node, _FUNCTIONS) else None
        return [type(node).__name__, kept, *([self._name(name)] if name else [])]

    def _name(self, name: str) -> Any:
        if name in self._free:
            return ["free", self._reader.of(self._free[name].cell_contents)]
        if name in self._bound:
            return ["local", self._numbers.setdefault(name, len(self._numbers))]
        if name in self._globals:
            return ["global", self._reader.of(self._globals[name])]
        return ["builtin", name] if hasattr(builtins, name) else ["unknown", name]


class _Cell(_Tree):
    """Lines of a notebook: what they compute counts by its place among the names, not its value."""

    def __init__(self, reader: _Reader, names: Mapping[str, Any]) -> None:
        self._reader, self._globals = reader, dict(names)
        self._bound, self._free, self._numbers = set(), {}, {}

    def of(self, line: Line) -> Any:
        """What a line does."""
        self._bound = {a.arg for part in line.parts for a in ast.walk(part) if _is_argument(a)}
        return [line.kind, self._of(list(line.parts))]

    def says_nothing(self, line: Line) -> bool:
        """Whether a line only imports, defines what counts where it is used, or names symbols."""
        if line.kind in _ELSEWHERE:
            return True
        made = [self._globals.get(name) for name in line.binds]
        return bool(made) and all(map(_is_symbol, made))

    def _name(self, name: str) -> Any:
        thing = self._globals.get(name)
        told = isinstance(thing, types.FunctionType | types.ModuleType | type) or _is_symbol(thing)
        if name in self._globals and not told:
            return ["line", self._numbers.setdefault(name, len(self._numbers))]
        return super()._name(name)


def _is_argument(node: ast.AST) -> TypeGuard[ast.arg]:
    return isinstance(node, ast.arg)


def _is_symbol(thing: object) -> bool:
    return type(thing).__module__.startswith("sympy.") and bool(getattr(thing, "is_Atom", False))


def _bound(node: ast.AST) -> Iterator[str]:
    """Names that a function binds, its inner functions' among them."""
    for child in ast.walk(node):
        if isinstance(child, ast.arg):
            yield child.arg
        elif isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Load):
            yield child.id
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and child is not node:
            yield child.name
        elif isinstance(child, ast.ExceptHandler) and child.name:
            yield child.name
        elif isinstance(child, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in child.names)


def _says_nothing(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_filled(cell: types.CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _is_foreign(module: str | None) -> bool:
    """Whether a module is the library's, Python's, or an installed one: it counts by its names."""
    root = (module or "").partition(".")[0]
    if root == "__main__":
        return False
    if root in (_LIBRARY, "builtins") or root in sys.stdlib_module_names:
        return True
    path = getattr(sys.modules.get(root), "__file__", None) or ""
    return "site-packages" in path or "dist-packages" in path


def _name(made: type) -> str:
    return f"{made.__module__}.{made.__qualname__}"


@functools.lru_cache(maxsize=256)
def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


def _node(code: types.CodeType) -> ast.AST | None:
    """The part of the syntax tree that a function was compiled from; None without its source."""
    tree = _parsed("".join(linecache.getlines(code.co_filename)))
    if tree is None:
        return None
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTIONS)
        and getattr(node, "name", "<lambda>") == code.co_name
        and min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        == code.co_firstlineno
    ]
    if len(found) > 1:
        found = [node for node in found if _within(code, node)]
        found.sort(key=lambda node: len(ast.dump(node)))
    return found[0] if found else None


def _within(code: types.CodeType, node: Any) -> bool:
    """Whether all that a lambda does stands in this one, where several stand on a line."""
    body = node.body
    low, high = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    return all(
        low <= (line, column) and (last, end) <= high
        for line, last, column, end in code.co_positions()
        if None not in (line, last, column, end) and (line, column) != (last, end)
    )
