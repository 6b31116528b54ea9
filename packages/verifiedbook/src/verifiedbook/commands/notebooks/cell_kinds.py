"""What a code cell is for, told from its syntax tree: set-up, card, check, figure or teaching.

>>> kind('claim("LOSS-14")'), kind('claim("LOSS-14").prove(made)'), kind("plt.show()")
('card', 'check', 'figure')
>>> kind("import sympy as sp"), kind("print(1 + 1)")
('set-up', 'teach')
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...account import evidence

CELL_KINDS = ("set-up", "card", "check", "figure", "teach")
_VERBS = {verb for kind in evidence.KINDS.values() for verb in kind.verbs}
_OF_LISTS = {"count"}  # a verb that texts and lists have as well
_DRAWS = {"live", "pile", "Drawing", "exercise"}  # calls whose output is the figure itself


def kind(source: str) -> str:
    """Return what a code cell is for: one of `CELL_KINDS`.

    Raises:
        SyntaxError: the code is no Python.
    """
    tree = parsed(source)
    if _sets_up(tree):
        return "set-up"
    if _is_card(tree):
        return "card"
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if any(map(_decides, calls)):
        return "check"
    return "figure" if any(map(_draws, calls)) else "teach"


def parsed(source: str) -> ast.Module:
    """Return the syntax tree of a cell, magics taken for ``pass``."""
    return ast.parse(re.sub(r"(?m)^(\s*)[%!].*$", r"\1pass", source))


def claims(source: str) -> list[str]:
    """Return the ids that a cell gives to ``claim(…)``, each once, in order."""
    return list(dict.fromkeys(_given(source, "claim")))


def exercised(source: str) -> str:
    """Return the number of the exercise that a cell shows, or nothing.

    >>> exercised('exercise("3.4.1")')
    '3.4.1'
    """
    return next(_given(source, "exercise"), "")


def _given(source: str, name: str) -> Iterator[str]:
    """The texts that a cell gives to the calls of a function."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Call) and _called(node) == name:
            constants = (part.value for part in node.args if isinstance(part, ast.Constant))
            yield from (value for value in constants if isinstance(value, str))


def _called(node: ast.Call) -> str:
    """The last name of what a call calls."""
    of = node.func
    return of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""


def _sets_up(tree: ast.Module) -> bool:
    """Whether a cell begins with imports, at least half of its lines, and prints once at most."""
    imports = (ast.Import, ast.ImportFrom, ast.Try)
    if not tree.body or not isinstance(tree.body[0], imports):
        return False
    if not any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree)):
        return False
    called = [_called(node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if set(called) & _VERBS or called.count("print") > 1:
        return False
    return 2 * sum(_lines(node) for node in tree.body if isinstance(node, imports)) >= sum(
        map(_lines, tree.body)
    )


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _is_card(tree: ast.Module) -> bool:
    if not tree.body or not all(isinstance(node, ast.Expr) for node in tree.body):
        return False
    return all(_states(node.value) for node in tree.body if isinstance(node, ast.Expr))


def _states(node: ast.expr) -> bool:
    """Whether an expression is ``claim("X")``, or a case of it, and nothing else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "case" and _states(node.func.value)
    return isinstance(node, ast.Call) and _called(node) == "claim"


def _decides(node: ast.Call) -> bool:
    if any(map(_states, node.args)):  # a function of the notebook that is given a claim
        return True
    if _called(node) == "derive":
        return True
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in _VERBS:
        return False
    if node.func.attr in _OF_LISTS:
        return "claim" in set(_names(node.func.value)) or bool(node.keywords)
    return True


def _names(node: ast.AST) -> Iterator[str]:
    return (part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def _draws(node: ast.Call) -> bool:
    if isinstance(node.func, ast.Attribute):
        of = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
        return of == "drawings" or (of == "plt" and node.func.attr == "show")
    return _called(node) in _DRAWS
