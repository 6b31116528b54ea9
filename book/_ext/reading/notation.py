"""The table of symbols, printed from the one that formulas are read with.

The table stands in the library's `exact.formulas.notation`. The book is built without SymPy, so its
source is read and not run.
"""

from __future__ import annotations

import ast
from pathlib import Path

from docutils import nodes
from markupsafe import Markup
from sphinx.util.docutils import SphinxDirective

from verifiedbook.sphinx.claims import raw

from .state import table as rows_and_heads

SOURCE = Path("packages/verifiedbook/src/verifiedbook/exact/formulas/notation.py")
KINDS = {"size": "whole", "positive": "positive", "real": "real"}
LETTERS = {
    "alpha": "α", "beta": "β", "gam": "γ", "epsilon": "ε", "eta": "η", "kappa": "κ", "lam": "λ",
    "mu": "μ", "rho": "ρ", "sigma": "σ", "tau": "τ",
}  # fmt: skip
COMMANDS = {"lam": r"\lambda", "gam": r"\gamma"}


class Notation(SphinxDirective):
    """The table of symbols."""

    def run(self) -> list[nodes.Node]:
        source = Path(self.env.srcdir) / SOURCE
        self.env.note_dependency(str(source))
        return [raw(table(rows(source.read_text(encoding="utf-8"))))]


def rows(source: str) -> list[tuple[str, str, str]]:
    """The name, kind and meaning of each symbol.

    Args:
        source: the text of the module with the table.

    Raises:
        ValueError: there is no table, or an entry is not written out.

    Example:
        >>> rows('TABLE: tuple = (Entry("d", "size", "width"),)')
        [('d', 'size', 'width')]
    """
    for node in ast.parse(source).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "TABLE":
            entries = getattr(node.value, "elts", [])
            return [tuple(ast.literal_eval(part) for part in entry.args) for entry in entries]
    raise ValueError("source: it has no TABLE; accepted: the notation's module")


def symbol(name: str) -> str:
    """A symbol as LaTeX.

    Example:
        >>> symbol("d"), symbol("sigma"), symbol("lam")
        ('d', '\\\\sigma', '\\\\lambda')
    """
    return COMMANDS.get(name, f"\\{name}" if name in LETTERS else name)


def table(entries: list[tuple[str, str, str]]) -> str:
    """The table in HTML: the symbol, what it is in code, what it may be, what it means."""
    lines = (
        (
            Markup(rf"\({symbol(name)}\)"),
            Markup(f"<code>{LETTERS.get(name, name)}</code>"), KINDS[kind], meaning,
        )
        for name, kind, meaning in entries
    )  # fmt: skip
    return rows_and_heads(["Symbol", "In code", "Values", "Meaning"], lines)
