"""What a definition means: its syntax tree without what cannot change a result."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any

from .modules import Definition, Module, Package, bound_in, says_nothing

_LAYOUT = {"type_comment", "type_params", "kind", "ctx", "annotation", "returns", "simple"}
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

Target = Definition | str  # a definition of the package, or a private attribute's name


@dataclass
class Mentioned:
    """What was met so far, in all definitions that are reached.

    ``attributes`` by name; ``spoken``: names in calls and texts; ``private``: attributes that the
    package itself defines; ``foreign``: classes with a base from elsewhere, near or far. Where
    others call what is reached (``whole``), classes count with every method, and parameters of
    what is public by name.
    """

    whole: bool = False

    attributes: set[str] = field(default_factory=set)
    spoken: set[str] = field(default_factory=set)
    private: set[str] = field(default_factory=set)
    foreign: set[tuple[str, str]] = field(default_factory=set)

    @property
    def size(self) -> int:
        """How much was met."""
        attributes = 0 if self.whole else len(self.attributes)
        return attributes + len(self.spoken) + len(self.private) + len(self.foreign)


@dataclass
class _Scope:
    bound: set[str]
    imports: dict[str, str] = field(default_factory=dict)
    is_class: bool = False
    outer: set[str] = field(default_factory=set)  # global or nonlocal here
    numbers: dict[str, int] = field(default_factory=dict)


class Meaning:
    """The syntax tree of a definition without what cannot change a result.

    ``tree`` names what lies outside by the place in ``targets``.
    """

    def __init__(self, definition: Definition, package: Package, seen: Mentioned) -> None:
        self.module, self.package, self.seen = definition.module, package, seen
        self.targets: dict[Target, int] = {}
        self._home = definition
        self._scopes: list[_Scope] = []
        self._locals = count()
        names = package.every(self.module) if definition.name == "*" else ()
        self.tree = [[name, self._outside(found)] for name, found in names]
        self.tree += [self._of(statement) for statement in definition.statements]

    def _of(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._of(item) for item in node if not self._is_free(item)]
        if not isinstance(node, ast.AST):
            return repr(node)
        special = getattr(self, f"_{type(node).__name__.lower()}", None)
        if special is not None:
            return special(node)
        if isinstance(node, _SCOPES):
            return self._function(node)
        if isinstance(node, _COMPREHENSIONS):
            return self._comprehension(node)
        return self._fields(node)

    def _fields(self, node: ast.AST) -> Any:
        fields = {key: value for key, value in ast.iter_fields(node) if key not in _LAYOUT}
        kept = [[key, self._of(value)] for key, value in fields.items() if value not in (None, [])]
        return [type(node).__name__, kept]

    def _comprehension(self, node: Any) -> Any:
        first = self._of(node.generators[0].iter)  # the only part that runs outside
        names = {name for part in node.generators for name in _stored(part.target)}
        self._scopes.append(_Scope(names))
        inside = [
            [self._of(part.target), number and self._of(part.iter), self._of(part.ifs)]
            for number, part in enumerate(node.generators)
        ]
        made = [self._of(getattr(node, key, None)) for key in ("elt", "key", "value")]
        self._scopes.pop()
        return [type(node).__name__, first, inside, made]

    @staticmethod
    def _is_free(node: Any) -> bool:
        if isinstance(node, ast.Import | ast.ImportFrom):
            return True
        bare = isinstance(node, ast.AnnAssign) and node.value is None
        return isinstance(node, ast.stmt) and (bare or says_nothing(node))

    def _name(self, node: ast.Name) -> Any:
        return self._known(node.id, [])

    def _known(self, name: str, attributes: list[str]) -> Any:
        """What a name stands for, and attributes of it."""
        for depth in reversed(range(len(self._scopes))):
            scope = self._scopes[depth]
            hidden = scope.is_class and depth < len(self._scopes) - 1
            if hidden or name in scope.outer:
                continue
            if name in scope.imports:
                return self._imported(scope.imports[name], attributes)
            if name in scope.bound:
                if scope.is_class:
                    return self._attributes(["member", self._member(name)], attributes)
                if name not in scope.numbers:
                    scope.numbers[name] = next(self._locals)
                return self._attributes(["local", scope.numbers[name]], attributes)
        return self._elsewhere(name, attributes)

    def _elsewhere(self, name: str, attributes: list[str]) -> Any:
        """What a name stands for that no scope in here binds."""
        if name in self.module.bindings:
            target = self._outside(Definition(self.module, name))
            return self._attributes(target, attributes)
        if name in self.module.imports:
            return self._imported(self.module.imports[name], attributes)
        return self._attributes(["builtin", name], attributes)

    def _imported(self, dotted: str, attributes: list[str]) -> Any:
        full = ".".join([dotted, *attributes])
        definition, rest = self.package.named(full, self.module)
        return self._attributes(self._outside(definition), rest) if definition else full

    def _outside(self, target: Target) -> Any:
        return ["outside", self.targets.setdefault(target, len(self.targets))]

    def _attribute(self, node: ast.Attribute) -> Any:
        names, base = [node.attr], node.value
        if isinstance(node.ctx, ast.Store) and is_private(node.attr):
            self.seen.private.add(node.attr)
        while isinstance(base, ast.Attribute):
            names, base = [base.attr, *names], base.value
        if isinstance(base, ast.Name):
            return self._known(base.id, names)
        return self._attributes(self._of(base), names)

    def _attributes(self, meaning: Any, names: Iterable[str]) -> Any:
        for name in names:
            self.seen.attributes.add(name)
            meaning = ["of", meaning, self._member(name)]
        return meaning

    def _member(self, name: str) -> Any:
        return self._outside(name) if name in self.seen.private else name

    def _function(self, node: Any) -> Any:
        defaults = [*node.args.defaults, *node.args.kw_defaults]
        around = [
            self._of(getattr(node, "decorator_list", [])),
            [self._of(value) for value in defaults],
        ]
        scope = _Scope(*_bound(node, self.module))
        called = self.seen.whole and all(outer.is_class for outer in self._scopes)
        public = called and not is_private(getattr(node, "name", "_"))
        self._scopes.append(scope)
        inside = [self._parameters(node.args, public), self._of(node.body)]
        self._scopes.pop()
        return [type(node).__name__, around, inside]

    def _parameters(self, arguments: ast.arguments, public: bool) -> Any:
        def parameter(arg: ast.arg | None) -> Any:
            # one that a call may name is kept by name: its place in the list says too little
            named = arg and (public or arg.arg in self.seen.spoken)
            return arg and [self._known(arg.arg, []), named and arg.arg]

        lists = (arguments.posonlyargs, arguments.args, arguments.kwonlyargs)
        several = [[parameter(arg) for arg in args] for args in lists]
        return [*several, parameter(arguments.vararg), parameter(arguments.kwarg)]

    def _functiondef(self, node: ast.FunctionDef) -> Any:
        name = self._known(node.name, []) if self._scopes else None
        return [name, self._function(node)]

    _asyncfunctiondef = _functiondef

    def _classdef(self, node: ast.ClassDef) -> Any:
        name = self._known(node.name, []) if self._scopes else None
        around = [self._of(part) for part in (node.decorator_list, node.bases, node.keywords)]
        self.seen.private |= {name for name in bound_in(node.body) if is_private(name)}
        foreign = any(self._is_foreign(base) for base in around[1])
        if foreign and not self.seen.whole:
            self.seen.foreign.add((self._home.module.label, node.name))
        body = [part for part in node.body if self._counts(part, foreign)]
        self._scopes.append(_Scope(set(bound_in(node.body)), is_class=True))
        inside = self._of(body)
        self._scopes.pop()
        return ["ClassDef", name, around, inside]

    def _counts(self, part: ast.stmt, foreign: bool) -> bool:
        if self.seen.whole or not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            return True
        if part.name in self.seen.attributes | self.seen.spoken or is_special(part.name):
            return True
        decorators = {ast.unparse(decorator) for decorator in part.decorator_list}
        static = decorators & {"classmethod", "staticmethod"} and not is_private(part.name)
        return foreign and not static

    def _is_foreign(self, base: Any) -> bool:
        if not isinstance(base, list) or base[0] != "outside":
            return base != ["builtin", "object"]
        target = list(self.targets)[base[1]]
        if not isinstance(target, Definition):
            return True
        return (target.module.label, target.name) in self.seen.foreign

    def _annassign(self, node: ast.AnnAssign) -> Any:
        return ["Assign", self._of(node.target), node.value and self._of(node.value)]

    def _assign(self, node: ast.Assign) -> Any:
        return ["Assign", *[self._of(target) for target in node.targets], self._of(node.value)]

    def _raise(self, node: ast.Raise) -> Any:
        error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return ["Raise", error and self._of(error)]

    def _keyword(self, node: ast.keyword) -> Any:
        if node.arg is not None:
            self.seen.spoken.add(node.arg)
        return ["keyword", node.arg, self._of(node.value)]

    def _constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, str) and node.value.isidentifier():
            self.seen.spoken.add(node.value)
        return ["Constant", repr(node.value)]

    def _excepthandler(self, node: ast.ExceptHandler) -> Any:
        name = node.name and self._known(node.name, [])
        return ["except", node.type and self._of(node.type), name, self._of(node.body)]

    def _matchas(self, node: ast.MatchAs) -> Any:
        name = node.name and self._known(node.name, [])
        return ["as", node.pattern and self._of(node.pattern), name]


@cache
def _bound(node: Any, module: Module) -> tuple[set[str], dict[str, str], bool, set[str]]:
    """Of a function: names that it binds, its imports, that it is no class, and outer names."""
    body = ast.Module([] if isinstance(node, ast.Lambda) else node.body, [])
    names = {part.arg for part in ast.iter_child_nodes(node.args) if isinstance(part, ast.arg)}
    inner = [part for part in ast.walk(body) if isinstance(part, ast.Global | ast.Nonlocal)]
    outer = {name for part in inner for name in part.names}
    return {*names, *bound_in(body.body)}, dict(module.imported(body)), False, outer


def _stored(target: ast.AST) -> set[str]:
    return {child.id for child in ast.walk(target) if isinstance(child, ast.Name)}


def is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def is_private(name: str) -> bool:
    return name.startswith("_") and not is_special(name)
