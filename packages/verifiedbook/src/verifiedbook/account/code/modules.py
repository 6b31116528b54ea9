"""Modules of packages, read and not imported: which name is bound by which statement.

`key` follows a name through them to the statement that defines it, in the book's package and in
every other whose ``__init__`` says ``__sealed__ = True``, wherever Python finds it. What comes from
any other package is known by its name alone. Nothing is executed, so that a page can be built where
torch is not installed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.machinery import PathFinder
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path

from ...serving import served

_SEALED = re.compile(r"^__sealed__ = True\b", re.MULTILINE)
_LATE = "_lazy.attach_stub(__name__, __file__)"  # gives the names of the stub, and no other
_OF_ANOTHER = "({0}.__getattr__, {0}.__dir__, {0}.__all__)"  # gives what another face does
_HANDING_ON = {"__getattr__", "__dir__", "__all__", "_finder"}  # by which it is all handed on
ENGINE = Path(__file__).parents[2]


class CodeFault(ValueError):
    """A name leads nowhere, or the source cannot be followed."""


@dataclass(frozen=True)
class Definition:
    """The statements that bind a name in a module.

    ``name`` is empty for those that bind none; it is ``*`` where the module itself is used.
    """

    module: Module
    name: str

    def __str__(self) -> str:
        return f"{self.module.label}: {self.name or 'what runs on import'}"

    @property
    def statements(self) -> list[ast.stmt]:
        """The statements, in their order."""
        return self.module.bindings.get(self.name, [])


class Module:
    """A module's statements by the name that they bind, and its imports.

    Args:
        file: its source.
        package: the package's folder.
        above: what its label leaves out of the path: the package, or the folder that it lies in.

    Raises:
        CodeFault: the source is not Python.
    """

    def __init__(self, file: Path, package: Path, above: Path) -> None:
        self.file, self.package = file, package
        self.label = file.relative_to(above).as_posix()
        try:
            self.tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
        except SyntaxError as error:
            raise CodeFault(f"{self.label}: line {error.lineno}: {error.msg}") from error

    @property
    def wing(self) -> str:
        """The first part of its path in the package."""
        return self.file.relative_to(self.package).parts[0]

    @cached_property
    def imports(self) -> dict[str, str]:
        """Dotted name by the name that it has here."""
        return dict(self.imported(self.tree))

    @cached_property
    def bindings(self) -> dict[str, list[ast.stmt]]:
        """Statements by the name that they bind; under "" those that bind none and are no text."""
        found: dict[str, list[ast.stmt]] = {}
        for statement in self.tree.body:
            if isinstance(statement, ast.Import | ast.ImportFrom) or says_nothing(statement):
                continue
            for name in dict.fromkeys(bound_in([statement])) or [""]:
                found.setdefault(name, []).append(statement)
        return found

    def imported(self, node: ast.AST) -> Iterator[tuple[str, str]]:
        """Yield the name here and the dotted name of each import in a module or a function.

        Raises:
            CodeFault: it imports everything.
        """
        for child in ast.walk(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    top = alias.name.partition(".")[0]
                    yield (alias.asname, alias.name) if alias.asname else (top, top)
            elif isinstance(child, ast.ImportFrom) and child.module != "__future__":
                start = self._start(child)
                for alias in child.names:
                    if alias.name == "*":
                        raise CodeFault(f"{self.label}: imports everything; accepted: names")
                    yield alias.asname or alias.name, f"{start}.{alias.name}"

    def _start(self, node: ast.ImportFrom) -> str:
        home = [self.package.name, *self.file.relative_to(self.package).parent.parts]
        kept = home[: len(home) - node.level + 1] if node.level else []
        return ".".join([*kept, *([node.module] if node.module else [])])


class Package:
    """Finds what a dotted name stands for, in a package and in all that are sealed with it.

    Args:
        folder: the package's folder; of its own modules labels do not name the package.
        beside: where others are looked for first, then as Python would.
    """

    def __init__(self, folder: Path, *beside: Path) -> None:
        self.folder, self._beside = folder, beside
        self._roots: dict[str, Path | None] = {folder.name: folder}
        self._modules: dict[Path, Module] = {}

    def module(self, file: Path) -> Module:
        """Return a module.

        Raises:
            CodeFault: there is none.
        """
        if file not in self._modules:
            root = next(root for root in self._roots.values() if root and root in file.parents)
            above = root if root == self.folder else root.parent
            if not file.is_file():
                raise CodeFault(f"no module {file.relative_to(above).as_posix()}")
            self._modules[file] = Module(file, root, above)
        return self._modules[file]

    def root(self, name: str) -> Path | None:
        """Return the folder of the package of this name, or None where it is not followed."""
        if name not in self._roots:
            self._roots[name] = _sealed(name, self._beside)
        return self._roots[name]

    def named(self, dotted: str, via: Module) -> tuple[Definition | None, list[str]]:
        """Return the definition that a dotted name leads to, and the attributes asked of it.

        Args:
            dotted: such as ``"weightwise.heads.TiedHead.features"``.

        Returns:
            The definition, and what is left of the name; where it is another package's, None, and
            its name there.

        Raises:
            CodeFault: its package is followed, and it leads nowhere.
        """
        definition, rest, _ = self.followed(dotted, via)
        return definition, rest

    def followed(
        self, dotted: str, via: Module
    ) -> tuple[Definition | None, list[str], list[Definition]]:
        """Return what `named` does, and what runs in the faces that a name is handed through.

        A face that only hands on runs nothing, so that a name counts the same by every way to it.
        """
        first, *parts = dotted.split(".")
        folder = self.root(first)
        if folder is None:
            return None, [first, *parts], []
        while parts and _has_source(folder / parts[0]):
            folder /= parts.pop(0)
        file = folder / "__init__.py"
        if parts and (folder / f"{parts[0]}.py").is_file():
            file = folder / f"{parts.pop(0)}.py"
        found = self.module(file)
        if not parts:
            other = _handed_on(found)
            return self.followed(other, found) if other else (Definition(found, "*"), [], [])
        name, *rest = parts
        if name in found.bindings:
            return Definition(found, name), rest, []
        for source in (found, *self._stub(file)):  # a face loads its names when they are used
            if onward := source.imports.get(name):
                definition, left, through = self.followed(".".join([onward, *rest]), source)
                return definition, left, [*self._run_by(found, onward), *through]
        raise CodeFault(f"{via.label}: asks {found.label} for {name}, which is not there")

    def run_with(self, module: Module) -> Iterator[Definition]:
        """Yield what runs when a module is imported: its own, and what its packages run."""
        yield Definition(module, "")
        for folder in module.file.relative_to(module.package).parents:
            file = module.package / folder / "__init__.py"
            if file.is_file() and self.module(file).bindings.get(""):
                yield Definition(self.module(file), "")

    def every(self, module: Module) -> Iterator[tuple[str, Definition]]:
        """Yield what packages that are followed define of all that a module has, by its names."""
        for name in filter(None, module.bindings):
            yield name, Definition(module, name)
        for source in (module, *self._stub(module.file)):
            for name, dotted in source.imports.items():
                if found := self.named(dotted, source)[0]:
                    yield name, found

    def _run_by(self, face: Module, onward: str) -> Iterator[Definition]:
        """What a face runs beside handing a name on, and what its packages run."""
        yield from dict.fromkeys(part for part in self.run_with(face) if part.statements)
        top, *parts = onward.split(".")[:-1]
        known = {_LATE}
        if face.imports.get(top) == top:  # that package's face, or one of a package in it
            others = accumulate([top, *parts], "{}.{}".format)
            known |= {_OF_ANOTHER.format(other) for other in others}
        late = face.bindings.get("__getattr__", [])
        if not all(isinstance(p, ast.Assign) and ast.unparse(p.value) in known for p in late):
            yield Definition(face, "__getattr__")

    def _stub(self, file: Path) -> list[Module]:
        stub = file.with_suffix(".pyi")
        return [self.module(stub)] if stub.is_file() else []


def _handed_on(face: Module) -> str:
    """The package that a face is another name of, and nothing else; empty of any other face."""
    late = face.bindings.get("__getattr__", [])
    if not late or {*face.bindings} - _HANDING_ON or not isinstance(late[0], ast.Assign):
        return ""
    other = ast.unparse(late[0].value)[1:].partition(".__getattr__")[0]
    return other if ast.unparse(late[0].value) == _OF_ANOTHER.format(other) else ""


@cache
def _has_source(folder: Path) -> bool:
    """Whether a folder is a package: one that moved may have left its compiled files behind."""
    return any(folder.rglob("*.py"))


def _sealed(name: str, beside: tuple[Path, ...]) -> Path | None:
    """The folder of a regular package that Python would import, where the package is sealed."""
    try:
        spec = PathFinder.find_spec(name, [*map(str, beside)]) or find_spec(name)
    except ValueError:  # of a module without a spec, such as `__main__`
        return None
    if spec is None or not spec.submodule_search_locations or not spec.origin:
        return None
    face = Path(spec.origin)
    says = face.suffix == ".py" and _SEALED.search(face.read_text(encoding="utf-8"))
    return face.parent if says else None


def library() -> Package:
    """Return the source of the book that is served, else of this package, read once."""
    return _library(served().package or ENGINE)


@cache
def _library(folder: Path) -> Package:
    return Package(folder)


def says_nothing(node: ast.stmt) -> bool:
    """Whether a statement changes no result: a text, or an import for annotations."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If) and not node.orelse:
        return ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    return isinstance(node, ast.Pass)


def bound_in(nodes: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements bind in their own scope, those of imports left out."""
    waiting: list[ast.AST] = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            inner = [child for child in ast.walk(node) if isinstance(child, ast.NamedExpr)]
            yield from (child.target.id for child in inner)
        elif not isinstance(node, ast.Lambda):
            waiting += reversed(list(ast.iter_child_nodes(node)))
