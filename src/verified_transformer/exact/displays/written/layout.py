"""Displays that fit on a phone: lines of formulas, broken between terms; words with symbols."""

from __future__ import annotations

import re
from collections.abc import Sequence

import sympy as sp

from .writing import written

WIDEST = 30  # characters of a line of a display that fits on a phone


def lines(relation: str, expression: sp.Expr) -> list[str]:
    """Return "= an expression" in lines that fit on a phone, broken between terms.

    Args:
        relation: what stands before it, such as ``=``.
        expression: what is written; only a sum is broken.
    """
    whole = written(expression)
    if width(whole) <= WIDEST or not isinstance(expression, sp.Add):
        return [f"{relation} {whole}"]
    terms = expression.as_ordered_terms() if not expression.has(sp.Integral) else expression.args
    return broken(relation, [written(term) for term in terms])


def broken(relation: str, terms: Sequence[str]) -> list[str]:
    """Put terms behind a relation, as many on a line as fit.

    Args:
        relation: what stands before the first.
        terms: LaTeX of each, with its minus where it has one.
    """
    rows: list[str] = []
    row = f"{relation} "
    for place, term in enumerate(terms):
        signed = (
            term if not place else (f"- {term[1:].lstrip()}" if term[0] == "-" else f"+ {term}")
        )
        if place and width(row + signed) > WIDEST:
            rows.append(row.rstrip())
            row = r"\quad " + signed + " "
        else:
            row += signed + " "
    return [*rows, row.rstrip()]


def width(latex: str) -> int:
    """Return about how many characters wide a formula is: of a fraction counts the wider part."""
    text = re.sub(r"\\(?:left|right|operatorname|mathbb|text|mathrm)\b", "", latex)
    while found := re.search(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", text):
        text = text.replace(found.group(), max(found.groups(), key=width), 1)
        text = re.sub(r"([_^])\{([^{}]*)\}", lambda m: m[2][: (len(m[2]) + 1) // 2], text)
    text = re.sub(r"([_^])\{([^{}]*)\}", lambda m: "x" * ((_bare(m[2]) * 2 + 2) // 3), text)
    return _bare(text)


def _bare(text: str) -> int:
    text = re.sub(r"\\[a-zA-Z]+", "x", text)
    return len(re.sub(r"[\s{}\\,;!_^]", "", text))


def rows(relation: str, expression: sp.Expr, end: str = "") -> str:
    """Return "= an expression" as a display, in as many lines as fit."""
    rows = lines(relation, expression)
    return display([rows[0].strip() + end]) if len(rows) == 1 else aligned(indented(rows), end)


def indented(rows: Sequence[str]) -> list[str]:
    """Put the alignment mark before each row."""
    return [f"&{row.strip()}" for row in rows]


def display(rows: Sequence[str]) -> str:
    """Return rows as one display."""
    return "$$\n" + "\n".join(row.strip() for row in rows) + "\n$$"


def aligned(rows: Sequence[str], end: str = "") -> str:
    """Return rows as an aligned display; a row without a mark has a line of its own."""
    first, *others = rows
    # a long left side has a line of its own, so that the chain below it fits on a phone
    body = [f"{first}\n{others[0]}" if not first.startswith("&") else first]
    body += others[1:] if not first.startswith("&") else others
    inside = " \\\\\n".join(body) + end
    return f"$$\n\\begin{{aligned}}\n{inside}\n\\end{{aligned}}\n$$"


def sentence(text: str) -> str:
    """Return a reason as the beginning of a sentence."""
    return words(text[:1].upper() + text[1:])


def words(text: str) -> str:
    """A line of text with its symbols as formulas: x_0, d**2 and |w|^2."""
    if "$" in text:
        return text
    text = re.sub(r"\*\*(\w)", r"^\1", text)
    symbol = r"(?<![\w$])(?:E |Var )?(?:\|\w\||\w)(?:[_^]\w+)+(?![\w$])"
    return re.sub(symbol, lambda found: f"${_averaged(found.group())}$", text)


def _averaged(text: str) -> str:
    text = re.sub(r"^E ", r"\\mathbb{E}\\,", text)
    text = re.sub(r"^Var ", r"\\operatorname{Var}", text)
    return re.sub(r"\|(\w)\|", r"\\lVert \1\\rVert", text)
