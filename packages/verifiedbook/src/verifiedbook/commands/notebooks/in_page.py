"""A cell of a published page, run where the reader stands: with SymPy, and without PyTorch.

Of the notebook's earlier cells only those statements run whose names the cell uses, so that what
measures is left out. After a cell that derives, the folded one below it holds what was derived to
its claim. Their displays and their failure are those of the notebook.
"""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...account.code.cells import names_of
from .cell_kinds import parsed

DERIVES = "derives"  # the tag of an open cell whose function the cell below holds to a claim
_DERIVES = "@derive("
_HOLDS = ".derive("
_STYLE = r"\displaystyle "  # with which SymPy begins
_LEFT_OUT = "Not run here, for it needs {}, and the page has SymPy alone: {}"


@dataclass
class Shown:
    """What a cell has shown.

    Attributes:
        bundles: its displays, by media type.
        printed: its text.
        failed: its error, as the last line of a notebook's; empty where it ran.
        left_out: what could not run in a page, in a sentence.
    """

    bundles: list[dict[str, str]] = field(default_factory=list)
    printed: str = ""
    failed: str = ""
    left_out: str = ""


def derives(source: str, tags: Sequence[str]) -> bool:
    """Return whether a cell can run in the page: an open one that derives.

    Args:
        source: the cell's code.
        tags: of the cell.
    """
    return "open" in tags and (DERIVES in tags or _DERIVES in source)


def needed(earlier: Sequence[str], source: str) -> list[tuple[int, ast.stmt]]:
    """Return the statements of earlier cells on which a cell rests by its names.

    Args:
        earlier: sources of the code cells before it.
        source: the cell's own.

    Returns:
        Pairs of a cell's place and a statement, in their order; of an import what is used.

    Example:
        >>> cells = ["import torch\\nfrom math import e, pi", "x = torch.ones(2)", "y = pi"]
        >>> [ast.unparse(statement) for _, statement in needed(cells, "print(y + 1)")]
        ['from math import pi', 'y = pi']
    """
    wanted: set[str] = set()
    found: list[tuple[int, ast.stmt]] = []
    for place, code in reversed([*enumerate([*earlier, source])]):
        own = place == len(earlier)
        for statement in reversed([*_statements(code)]):
            binds, changes, uses = names_of(statement)
            if own or (binds | changes) & wanted:
                found.append((place, statement))
                whole = not isinstance(statement, ast.For | ast.If | ast.While)
                wanted = (wanted - binds if whole else wanted) | uses
    return [(place, statement) for place, statement in found[::-1] if place < len(earlier)]


def _statements(source: str) -> Iterator[ast.stmt]:
    """The statements of a cell, of imports one for each name."""
    for statement in parsed(source).body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                one = type(statement)(**{**dict(ast.iter_fields(statement)), "names": [alias]})
                yield ast.copy_location(one, statement)
        else:
            yield statement


def holding(source: str) -> str:
    """Return the lines of a cell down to the last one that holds a derivation to a claim.

    Args:
        source: the cell's code.

    Example:
        >>> holding("x = 1\\nclaim('A').derive(f, wrong=x)\\nclaim('A').measure(f)")
        "x = 1\\nclaim('A').derive(f, wrong=x)"
    """
    ends = [part.end_lineno or 0 for part in parsed(source).body if _HOLDS in ast.unparse(part)]
    return "\n".join(source.splitlines()[: max(ends, default=0)])


def run_cell(earlier: Sequence[str], source: str, below: str = "") -> Shown:
    """Run a cell after what it needs of earlier ones.

    Args:
        earlier: sources of the code cells before it.
        source: the cell's own, which the reader may have changed.
        below: source of the code cell after it, of which runs what holds a derivation to a claim.

    Returns:
        What it has shown; an error is told there, not raised.

    Example:
        >>> run_cell(["from math import pi", "import torch"], "print(round(pi, 2))").printed
        '3.14\\n'
        >>> run_cell([], "1 / 0").failed
        'ZeroDivisionError: division by zero'
        >>> run_cell([], "from sympy import Symbol\\nSymbol('x') ** 2").bundles
        [{'text/markdown': '$$x^{2}$$'}]
    """
    held = holding(below)
    shown = Shown()
    scope: dict[str, Any] = {"__name__": "__main__"}
    texts = io.StringIO()
    absent: ImportError | None = None
    derived = False
    try:
        with _shell() as shown.bundles, contextlib.redirect_stdout(texts):
            for place, statement in needed(earlier, f"{source}\n{held}"):
                try:
                    _execute(statement, earlier[place], f"<cell {place}>", scope)
                except ImportError as error:
                    absent = error
            shown.bundles.clear()
            for statement in parsed(source).body:
                try:
                    left = _execute(statement, source, "<this cell>", scope)
                    shown.bundles.extend(_formula(left))
                except NameError as error:
                    if absent is None or not derived:
                        raise absent or error from error
                    line = ast.unparse(statement).splitlines()[0]
                    shown.left_out = _LEFT_OUT.format(absent.name, line)
                    break
                derived = derived or any(map(_derives, getattr(statement, "decorator_list", ())))
            for statement in parsed(held).body:
                _execute(statement, held, "<the cell below>", scope)
    except SyntaxError as error:
        shown.failed = f"SyntaxError: {error.msg} (line {error.lineno})"
    except Exception as error:  # whatever it is: the reader's cell has failed
        shown.failed = f"{type(error).__name__}: {error}"
    shown.printed = texts.getvalue()
    return shown


def _derives(decorator: ast.expr) -> bool:
    return ast.unparse(decorator).startswith("derive(")


def _execute(statement: ast.stmt, source: str, name: str, scope: dict[str, Any]) -> Any:
    """Run a statement of a cell; return its value where it is an expression."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    if isinstance(statement, ast.Expr):
        return eval(compile(ast.Expression(statement.value), name, "eval"), scope)
    exec(compile(ast.Module([statement], []), name, "exec"), scope)
    return None


def _formula(value: Any) -> Iterator[dict[str, str]]:
    """The display of a formula that an expression has left, as in a notebook."""
    written = getattr(type(value), "_repr_latex_", None)
    if written is not None and (latex := written(value)):
        yield {"text/markdown": f"$${latex.strip('$').removeprefix(_STYLE)}$$"}


@contextlib.contextmanager
def _shell() -> Iterator[list[dict[str, str]]]:
    """Take the place of the notebook's shell, and keep what is displayed."""
    kept: list[dict[str, str]] = []
    shell = types.ModuleType("IPython")
    shell.get_ipython = lambda: shell  # type: ignore[attr-defined]
    shell.display = types.SimpleNamespace(  # type: ignore[attr-defined]
        display=lambda data, **_: kept.append(data)
    )
    before = sys.modules.get("IPython")
    sys.modules["IPython"] = shell
    try:
        yield kept
    finally:
        del sys.modules["IPython"]
        if before is not None:
            sys.modules["IPython"] = before
