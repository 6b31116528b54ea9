"""The API pages: signatures and docstrings of what a face of the library offers.

They are read from the sources, which are never imported, so that a page says what the code says
and needs neither torch nor SymPy. ``.. api:: weightwise`` shows all names in the
face's stub; a longer name shows that one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.ext.napoleon import GoogleDocstring
from sphinx.util.docutils import SphinxDirective

import verified_transformer
from verifiedbook.account.code.modules import Module, Package

FOLDER = Path(verified_transformer.__file__).parent
_PIECES = re.compile(r"(``.+?``|`.+?`|(?<!\\)\$[^$]+?\$)", re.DOTALL)
_MARKS = re.compile(r"(?<!\\)([*|])(?=\S)")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("api", Api)
    app.add_css_file("api.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class Api(SphinxDirective):
    """Shows the names of a face of the library, or one name."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return what Sphinx's own directives make of signatures and docstrings."""
        found = StringList()
        for file, line in described(self.arguments[0], self.config):
            found.append(line, file)
            self.env.note_dependency(file)
        holder = nodes.container()
        self.state.nested_parse(found, 0, holder)
        return holder.children


def described(dotted: str, config: Any = None) -> Iterator[tuple[str, str]]:
    """Yield file and line of a description in reStructuredText.

    Args:
        dotted: a face (a package with a stub), or a name in a module.
        config: Sphinx's, for napoleon.
    """
    package = Package(FOLDER)
    first, *rest = dotted.split(".")
    stub = (package.root(first) or FOLDER).joinpath(*rest, "__init__.pyi")
    face = package.module(stub if stub.is_file() else FOLDER / "__init__.py")
    names = sorted(face.imports, key=str.casefold) if stub.is_file() else [""]
    for name in names:
        definition, _ = package.named(f"{dotted}.{name}".rstrip("."), face)
        if definition is None:
            continue
        for statement in definition.statements:
            for line in _block(statement, definition.module, config):
                yield str(definition.module.file), line


def _block(node: ast.stmt, module: Module, config: Any, inside: bool = False) -> Iterator[str]:
    """One definition, with the methods of a class below it."""
    text = ast.get_docstring(node) if isinstance(node, ast.FunctionDef | ast.ClassDef) else None
    if text is None:
        return
    marks = {ast.unparse(mark) for mark in getattr(node, "decorator_list", [])}
    if isinstance(node, ast.ClassDef):
        kind, signature = "class", _of_class(node)
    elif not inside:
        kind, signature = "function", _signature(node)
    elif "property" in marks:
        kind, signature = "property", ""
    else:
        kind, signature = "method", _signature(node, skip="staticmethod" not in marks)
    yield f".. py:{kind}:: {node.name}{signature}"
    if marks & {"classmethod", "staticmethod"}:
        yield f"   :{min(marks & {'classmethod', 'staticmethod'})}:"
    if not inside:
        path = module.file.relative_to(module.package.parent).with_suffix("")
        yield f"   :module: {'.'.join(path.parts)}"
    yield ""
    lines = GoogleDocstring(_as_rst(text), config, what=kind).lines()
    yield from (f"   {line}".rstrip() for line in lines)
    yield ""
    for part in node.body if isinstance(node, ast.ClassDef) else []:
        if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
            yield from (f"   {line}".rstrip() for line in _block(part, module, config, inside=True))


def _signature(node: ast.FunctionDef, skip: bool = False) -> str:
    arguments = ast.arguments(**dict(ast.iter_fields(node.args)))
    if skip:
        arguments.args = arguments.args[1:]
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({ast.unparse(arguments)}){returned}"


def _of_class(node: ast.ClassDef) -> str:
    """How an instance is made: by ``__init__``, by ``__new__``, or from the fields."""
    makers = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
    for name in ("__init__", "__new__"):
        if name in makers:
            return _signature(makers[name], skip=True).partition(" -> ")[0]
    fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
    return f"({', '.join(ast.unparse(part) for part in fields)})" if fields else ""


def _as_rst(text: str) -> str:
    """Docstrings are Markdown at heart: formulas between dollars; stars and bars mean nothing."""
    pieces = _PIECES.split(text)
    for place, piece in enumerate(pieces):
        if piece.startswith("$"):
            pieces[place] = f":math:`{' '.join(piece.strip('$').split())}`"
        elif not piece.startswith("`"):
            pieces[place] = "\n".join(_escaped(line) for line in piece.split("\n"))
    return "".join(pieces)


def _escaped(line: str) -> str:
    code = line.lstrip().startswith((">>>", "..."))
    return line if code else _MARKS.sub(r"\\\1", line)
