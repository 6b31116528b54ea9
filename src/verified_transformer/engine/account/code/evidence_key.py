"""How evidence was made: a key of what a check was given, read and not run.

Of a notebook's function counts what it means, as in `meaning`, and so on through the functions of
the notebook that it calls and the plain values that it uses. The library's counts by the key of
its definition, which covers all that it reaches (see `key`). By its name counts what is of another
package, and what judges: the library's checks and account, which have tests of their own. An object
of the engine counts by its class's name, its quantity and the functions that it holds. What was
computed in a cell counts by the lines that computed it (see `cells`), and not by its value, which
hangs on the processor: so a literal in one of them moves the key.
"""

from __future__ import annotations

import ast
import functools
import json
import os
import sys
import types
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..hashing import hash_of
from .cells import Line, names_of
from .key import key_of
from .meaning import meaning
from .modules import Package, function_at

LIBRARY = Path(__file__).parents[3]
_ELSEWHERE = {"Import", "ImportFrom", "FunctionDef", "AsyncFunctionDef", "ClassDef"}
_NOTEBOOK, _FOREIGN, _JUDGES = "the notebook", "", {"account", "checks", "commands"}
_ENGINE = {*_JUDGES, "exact", "sampling"}
_HOLDERS = (
    functools.partial, functools.cached_property, types.MethodType, staticmethod, classmethod,
    property, type(functools.cache(len)),
)  # fmt: skip
_HELD = ("func", "args", "keywords", "__func__", "__self__", "__wrapped__", "fget")
_MOST, _DEEPEST = 50, 3  # things in a collection that count one by one, and how deep


def how_made(
    *things: object, lines: Sequence[Line] = (), names: Mapping[str, Any] | None = None
) -> str | None:
    """Return a key of what a check was given: functions, things that hold some, plain values.

    Args:
        things: predicates, oracles, statistics, and what they are tried on.
        lines: of the notebook, that made them (`cells.made_by`), the check's own the last.

    Returns:
        Eight hexadecimal digits; None where nothing was given.

    Raises:
        CodeFault: a name of the library leads nowhere.

    Example:
        >>> how_made(3.0, "text") == how_made(3.0, "other"), how_made() is None
        (False, True)
    """
    if all(thing is None for thing in things):
        return None
    reader = _Reader()
    found, made = [reader.of(thing) for thing in things], reader.lines(lines, names or {})
    return hash_of(json.dumps([found, reader.trees, *([made] if made else [])]))


@functools.cache
def library() -> Package:
    """Return the library's own source, read once."""
    return Package(LIBRARY)


class _Reader:
    """Reads functions and classes, each once, in the order in which they are met."""

    def __init__(self) -> None:
        self.trees: list[Any] = []
        self._places: dict[Any, int] = {}

    def of(self, thing: Any, depth: int = 0) -> Any:
        """What a thing is, as far as it is the same on every machine."""
        if thing is None or isinstance(thing, bool | int | str | slice):
            return repr(thing)
        if isinstance(thing, float):
            # one with more digits was computed, and the last of them hang on the processor
            return repr(thing) if thing == float(f"{thing:.6g}") else "float"
        if isinstance(thing, types.ModuleType):
            return ["module", thing.__name__]
        if isinstance(thing, types.FunctionType | type):
            return self._once(thing, self._class if isinstance(thing, type) else self._function)
        if isinstance(thing, _HOLDERS):
            held = [self.of(getattr(thing, part, None), depth + 1) for part in _HELD]
            return [_name(type(thing)), *held]
        if depth >= _DEEPEST:
            return _name(type(thing))
        if isinstance(thing, list | tuple | Mapping) and len(thing) <= _MOST:
            items = thing.items() if isinstance(thing, Mapping) else enumerate(thing)
            return [self.of(type(thing)), [[str(k), self.of(v, depth + 1)] for k, v in items]]
        return self._object(thing, depth)

    def _object(self, thing: Any, depth: int) -> Any:
        home, kept = _home(type(thing).__module__), getattr(thing, "__dict__", {})
        if home in _ENGINE:
            named = (getattr(thing, "quantity", None), getattr(thing, "name", None))
            texts = [text for text in named if isinstance(text, str)]
            held = [[key, self.of(v, depth + 1)] for key, v in sorted(kept.items()) if _calls(v)]
            return [_name(type(thing)), *texts, *held]
        if home == _FOREIGN:
            said = str(thing) if _is_symbol(thing) else getattr(thing, "__qualname__", None)
            return [_name(type(thing)), said]
        pure = all(_home(base.__module__) for base in type(thing).__mro__[:-1])
        found = kept.values() if pure else ()  # a base from elsewhere keeps its own there
        return ["object", self.of(type(thing)), *(self.of(value, depth + 1) for value in found)]

    def _once(self, thing: Any, describe: Callable[[Any], Any]) -> Any:
        if thing not in self._places:
            place = self._places[thing] = len(self.trees)
            self.trees.append(None)
            self.trees[place] = describe(thing)
        return ["tree", self._places[thing]]

    def _function(self, function: types.FunctionType) -> Any:
        code, module = function.__code__, str(function.__globals__.get("__name__"))
        home, node = _home(module), function_at(code)
        if home == _FOREIGN and hasattr(function, "__wrapped__"):
            return ["wrapped", self.of(function.__wrapped__)]
        if home in (_FOREIGN, *_JUDGES) or (home == _NOTEBOOK and node is None):
            return ["named", _name(function)]
        own = node and (home == _NOTEBOOK or "<" in code.co_qualname)  # it closes over what it got
        tree = self._meaning(function, node) if node and own else None
        if home == _NOTEBOOK:
            return tree
        name = code.co_qualname if node else function.__qualname__  # without: made by a decorator
        return [_key(module, name, code.co_firstlineno), tree or name.partition(".")[2]]

    def _class(self, made: type) -> Any:
        home = _home(made.__module__)
        if home in (_FOREIGN, *_JUDGES):
            return ["named", _name(made)]
        found: list[Any] = []
        if home != _NOTEBOOK:
            found.append(_key(made.__module__, made.__qualname__))
            if "<" not in made.__qualname__:
                return found
        found += [self.of(base) for base in made.__bases__]
        for name, value in vars(made).items():
            if isinstance(value, types.FunctionType) or not name.startswith("__"):
                found.append([name, self.of(value)])
        return found

    def _meaning(self, function: types.FunctionType, node: ast.AST) -> Any:
        """What a function means, its names followed to what they stand for now; its defaults."""
        free: dict[str, Any] = {}
        cells = function.__closure__ or ()
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
            with suppress(ValueError):  # not bound yet
                free[name] = cell.cell_contents
        names, package = ChainMap(free, function.__globals__), library()
        home = package.module(package.folder / "__init__.py")
        inside = dict(home.imported(node))

        def resolve(name: str, attributes: list[str]) -> Any:
            if name in inside:
                dotted = ".".join([inside[name], *attributes])
                definition, rest = package.named(dotted, home)
                return [key_of(definition, package), *rest] if definition else dotted
            return self._global(names, name, attributes)

        statement: Any = node if isinstance(node, ast.stmt) else ast.Expr(node)  # type: ignore[arg-type]
        outer = names_of(statement)[2]
        defaults = [self.of(values) for values in (function.__defaults__, function.__kwdefaults__)]
        return [meaning([node], outer, resolve), defaults]

    def _global(
        self, names: Mapping[str, Any], name: str, attributes: list[str], by_name: str = ""
    ) -> Any:
        """What a name stands for; of one wing by its name."""
        if name not in names:
            return ["builtin", name, *attributes]
        thing, rest = names[name], list(attributes)
        while rest and isinstance(thing, types.ModuleType) and _home(thing.__name__):
            thing = getattr(thing, rest.pop(0), None)
        if by_name and hasattr(thing, "__qualname__") and _home(thing.__module__) == by_name:
            return ["named", _name(thing), *rest]
        return ["global", self.of(thing), *rest]

    def lines(self, lines: Sequence[Line], names: Mapping[str, Any]) -> list[Any]:
        """What lines of a notebook do, but for those that only import, define or name symbols.

        What they compute counts by its place among the names, not by its value; what they name of
        `exact` by its name, for it makes the statement that is given.
        """
        imports = {name for line in lines if "Import" in line.kind for name in line.binds}
        numbers: dict[str, int] = {}

        def resolve(name: str, attributes: list[str]) -> Any:
            thing = names.get(name)
            told = isinstance(thing, types.FunctionType | types.ModuleType | type)
            if name in names and not (told or _is_symbol(thing) or name in imports):
                return ["line", numbers.setdefault(name, len(numbers)), *attributes]
            return self._global(names, name, attributes, by_name="exact")

        def says_nothing(line: Line) -> bool:
            made = [names.get(name) for name in line.binds]
            return line.kind in _ELSEWHERE or (bool(made) and all(map(_is_symbol, made)))

        return [
            [line.kind, meaning(line.parts, line.binds | line.changes | line.loads, resolve)]
            for line in lines
            if not says_nothing(line)
        ]


def _home(module: str | None) -> str:
    """Of the library's modules the wing; the notebook, and files beside it; else foreign."""
    root, _, rest = (module or "").partition(".")
    if root == LIBRARY.name:
        part, _, rest = rest.partition(".")
        return (rest.partition(".")[0] if part == "engine" else part) or root
    file = getattr(sys.modules.get(root), "__file__", None) or ""
    if root == "__main__" or not file or root in sys.stdlib_module_names:
        return _NOTEBOOK if root == "__main__" else _FOREIGN
    main = getattr(sys.modules["__main__"], "__file__", None)
    beside = os.path.dirname(os.path.abspath(main)) if main else os.getcwd()
    file = file.removesuffix(f"{os.sep}__init__.py")
    return _NOTEBOOK if beside == os.path.dirname(os.path.abspath(file)) else _FOREIGN


def _key(module: str, name: str, line: int = 0) -> str:
    """The key of a definition of the library, found by its name, or by a line of it."""
    file = Path(str(sys.modules[module].__file__)).relative_to(LIBRARY)
    top = name.partition(".")[0]
    if top == "<lambda>":
        top = library().module(library().folder / file).bound_at(line)
    return key_of(library().definition(file.as_posix(), top), library())


def _calls(thing: object) -> bool:
    """Whether a thing can be called, or is several that can."""
    several = isinstance(thing, tuple) and thing
    return all(map(callable, several)) if several else callable(thing)


def _is_symbol(thing: object) -> bool:
    return type(thing).__module__.startswith("sympy.") and bool(getattr(thing, "is_Atom", False))


def _name(made: Any) -> str:
    return f"{made.__module__}.{made.__qualname__}"
