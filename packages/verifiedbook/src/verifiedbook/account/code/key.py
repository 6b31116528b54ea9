"""A key of the code that a result came from: every definition that a function reaches, by meaning.

From the function on, each name is followed to the statement that defines it, through the imports
of all packages that are sealed (`modules`); a class counts whole, and so does what a module does on
import. What comes from other packages counts by its name. So a rename is free, a function that
nothing reaches is free, and a changed seed, law or formula is not; `_meaning` says what else is
free.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeGuard

from ..hashing import hash_of
from .cells import Line, names_of
from .modules import ENGINE, CodeFault, Definition, Package, bound_in, library, says_nothing


@dataclass(frozen=True)
class Code:
    """What a function reaches: a key of all of it, and one of each definition, for messages."""

    key: str
    definitions: dict[str, str]
    files: list[Path]

    def changed_since(self, definitions: dict[str, str]) -> list[str]:
        """Name the definitions whose keys another list lacks; else those that it has beside."""
        new = [name for name, key in self.definitions.items() if key not in definitions.values()]
        here = self.definitions.values()
        return new or [name for name, key in definitions.items() if key not in here]


def code_of(module: Path, package: Package) -> Code:
    """Return the key of all that an experiment's ``run`` reaches.

    Args:
        module: the experiment's file, of the package or of one that is sealed with it.
        package: which keeps what it has read, for the next experiment.

    Raises:
        CodeFault: the module or its ``run`` is not there, or a name in between leads nowhere.
    """
    start = Definition(package.module(package.folder / module), "run")
    if not start.statements:
        raise CodeFault(f"{start.module.label}: has no run")
    return _code_from(start, package)


@cache
def key_of(definition: Definition, package: Package) -> str:
    """Return the key of all that a definition reaches."""
    return _code_from(definition, package).key


def _code_from(start: Definition, package: Package) -> Code:
    """The key of all that a definition reaches, in the order in which it is met."""
    places, found = {start: 0}, [start]
    for definition in found:  # which grows
        for target in (*_read(definition, package)[1], *package.run_with(definition.module)):
            if target not in places:
                places[target] = len(found)
                found.append(target)
    read = {definition: _read(definition, package) for definition in found}
    whole = [[tree, [places[target] for target in targets]] for tree, targets in read.values()]
    kept = {definition: _key(tree) for definition, (tree, _) in read.items() if tree}
    files = sorted({definition.module.file for definition in kept})
    return Code(_key(whole), {str(definition): key for definition, key in kept.items()}, files)


@cache
def _read(definition: Definition, package: Package) -> tuple[list[Any], list[Definition]]:
    """What a definition means, and the definitions that it names, by their places in that."""
    module, targets = definition.module, dict[Definition, int]()
    statements = definition.statements
    inside = dict(pair for statement in statements for pair in module.imported(statement))

    def outside(target: Definition) -> list[Any]:
        return ["outside", targets.setdefault(target, len(targets))]

    def resolve(name: str, attributes: list[str]) -> Any:
        if name in module.bindings and name not in inside:
            return [*outside(Definition(module, name)), *attributes]
        dotted = (module.imports | inside).get(name, name)
        dotted = ".".join([dotted, *attributes])
        target, rest, through = package.followed(dotted, module)
        return [*map(outside, through), *outside(target), *rest] if target else dotted

    outer = [name for statement in statements for names in names_of(statement) for name in names]
    every = package.every(module) if definition.name == "*" else ()
    tree: list[Any] = [[name, outside(target)] for name, target in every]
    return tree + _meaning(statements, outer, resolve), [*targets]


def _key(tree: Any) -> str:
    return hash_of(json.dumps(tree))


# ------------------------------------------------------------------ what code means
# Its syntax tree without what cannot change a result. Free are layout, comments, texts,
# annotations, the words of a refusal, and how modules, definitions and locals are called.
# Attributes, parameters and the fields of a class count by name.


Resolve = Callable[[str, list[str]], Any]
_LAYOUT = {"type_comment", "type_params", "kind", "ctx", "annotation", "returns", "simple"}
_TEXTS = ast.Constant | ast.JoinedStr  # those of a refusal
_IMPORTS = ast.Import | ast.ImportFrom


def _meaning(nodes: Iterable[ast.AST], outer: Iterable[str], resolve: Resolve) -> list[Any]:
    """What statements, or parts of one, mean, as lists of texts and numbers.

    Of the names that they have from outside, and of what is imported within, ``resolve`` says what
    they stand for, with the attributes that are asked of them.
    """
    tree = _Tree(outer, resolve)
    kept = list(nodes)
    for node in (inner for outermost in kept for inner in ast.walk(outermost)):
        if isinstance(node, _IMPORTS):
            tree.outer |= {part.asname or part.name.partition(".")[0] for part in node.names}
        elif isinstance(node, ast.ClassDef):
            tree.fields |= set(bound_in(node.body))
        elif isinstance(node, ast.arg):
            tree.fields.add(node.arg)
    found: list[Any] = tree.of(kept)
    return found


class _Tree:
    """Writes a syntax tree as lists; ``fields`` count by name, other locals by their number."""

    def __init__(self, outer: Iterable[str], resolve: Resolve) -> None:
        self.outer, self.fields = set(outer), set[str]()
        self._resolve, self._numbers = resolve, dict[str, int]()

    def of(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.of(item) for item in node if not _is_free(item)]
        if not isinstance(node, ast.AST):
            return repr(node)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            if all(isinstance(said, _TEXTS) for said in node.exc.args):
                node = ast.Raise(node.exc.func)
        elif isinstance(node, ast.ClassDef):  # what has no value yet may be a field, by its place
            parts = [ast.Expr(p.target) if _is_bare(p) else p for p in node.body]
            node = ast.ClassDef(node.name, node.bases, node.keywords, parts, node.decorator_list)
        elif isinstance(node, ast.AnnAssign) and node.value:
            node = ast.Assign([node.target], node.value)
        attributes, base = list[str](), node
        while isinstance(base, ast.Attribute):
            attributes, base = [base.attr, *attributes], base.value
        if isinstance(base, ast.Name) and base.id in self.outer:
            return self._resolve(base.id, attributes)
        if isinstance(node, ast.Name):
            return self._local(node.id)
        written = [
            [key, self._named(value) if key in ("name", "names", "rest") else self.of(value)]
            for key, value in ast.iter_fields(node)
            if key not in _LAYOUT and value not in (None, [])
        ]
        return [type(node).__name__, written]

    def _named(self, names: str | list[str]) -> Any:
        """What a statement names without a node of its own."""
        return self._local(names) if isinstance(names, str) else [*map(self._local, names)]

    def _local(self, name: str) -> Any:
        """A name that a statement binds: of a field itself, else a number."""
        if name in self.fields:
            return name
        if name in self.outer:
            return self._resolve(name, [])
        return self._numbers.setdefault(name, len(self._numbers))


def _is_free(node: Any) -> bool:
    free = _is_bare(node) or isinstance(node, _IMPORTS)
    return isinstance(node, ast.stmt) and (free or says_nothing(node))


def _is_bare(node: Any) -> TypeGuard[ast.AnnAssign]:
    """Whether a statement only annotates a name."""
    return isinstance(node, ast.AnnAssign) and node.value is None


# ------------------------------------------------------------------ keys of what a notebook runs


# what judges, and what states: they have tests of their own
_BY_NAME = {"account", "checks", "commands", "exact", "serving.py"}


def how_made(lines: Sequence[Line]) -> str | None:
    """Return a key of how evidence was made, read and not run.

    The lines count by what they mean, so that a literal in one of them moves the key, and a comment
    or another name does not; what they use of the library by the key of its definition, which
    covers all that it reaches. By its name counts what judges and states (this package but
    for what draws), and what is of a package that is not sealed.

    Args:
        lines: of the notebook, that made what a check was given (`cells.made_by`), its own
            among them.

    Returns:
        Eight hexadecimal digits; None outside a notebook, where there are no lines.

    Raises:
        CodeFault: a name of the library leads nowhere.
    """
    package = library()
    face = package.module(package.folder / "__init__.py")
    imports = dict(pair for line in lines for pair in face.imported(line.statement))
    bound = {name for line in lines for name in line.binds} - set(imports)
    numbers: dict[str, int] = {}

    def resolve(name: str, attributes: list[str]) -> Any:
        if name in bound:
            return ["line", numbers.setdefault(name, len(numbers)), *attributes]
        dotted = ".".join([imports.get(name, name), *attributes])
        definition, rest, through = package.followed(dotted, face)
        if definition is None:
            return dotted
        ran = [key_of(part, package) for part in through]
        if definition.module.package == ENGINE and definition.module.wing in _BY_NAME:
            return [*ran, definition.name, *rest]
        return [*ran, key_of(definition, package), *rest]

    found = [
        _meaning([line.statement], line.binds | line.changes | line.loads, resolve)
        + [body for *_, body in line.within]
        for line in lines
    ]
    return hash_of(found) if found else None


def notebook_key(notebook: Path, package: Package) -> str:
    """Return a key that changes when a notebook's cells do, or what they reach of the library.

    Free is what is free in the library, so that the key is the same on every Python, whose
    syntax trees differ.

    Args:
        notebook: its file; nothing is executed.
        package: the library, which keeps what it has read, for the next notebook.

    Raises:
        CodeFault: a name that it imports from the library is not there.
    """
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    home = package.module(package.folder / "__init__.py")
    trees = [ast.parse(source) for source in sources]
    imports = dict(pair for tree in trees for pair in home.imported(tree))
    names = sorted({*imports.values()})
    found = {name: package.followed(name, home) for name in names}
    reached = {
        name: "".join(key_of(part, package) for part in (*through, definition))
        for name, (definition, _, through) in found.items() if definition
    }  # fmt: skip

    def resolve(name: str, attributes: list[str]) -> str:
        return ".".join([imports.get(name, name), *attributes])

    cells_mean = _meaning([node for tree in trees for node in tree.body], (), resolve)
    return hash_of(json.dumps([cells_mean, reached]))
