"""What code means: its syntax tree without what cannot change a result.

Free are layout, comments, texts, annotations, the words of a refusal, and how modules, definitions
and locals are called. Attributes, parameters and the fields of a class count by name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any, TypeGuard

from .modules import bound_in, says_nothing

Resolve = Callable[[str, list[str]], Any]
_LAYOUT = {"type_comment", "type_params", "kind", "ctx", "annotation", "returns", "simple"}
_TEXTS = ast.Constant | ast.JoinedStr  # those of a refusal
_IMPORTS = ast.Import | ast.ImportFrom


def meaning(nodes: Iterable[ast.AST], outer: Iterable[str], resolve: Resolve) -> list[Any]:
    """Return what statements, or parts of one, mean, as lists of texts and numbers.

    Args:
        nodes: of the syntax tree.
        outer: the names that they have from outside.
        resolve: says what such a name stands for, with the attributes that are asked of it; also
            of what is imported within.
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
