r"""The marks of a LaTeX formula in their order, without spacing; and what marks there may be."""

from __future__ import annotations

import re
from collections.abc import Callable

import sympy as sp

RELATION_MARKS = {"=", r"\approx", r"\le", r"\ge", "<", ">", r"\ne", r"\equiv", r"\simeq"}
FUNCTION_OF: dict[str, Callable[..., sp.Expr]] = {
    r"\log": sp.log, r"\exp": sp.exp, r"\sin": sp.sin, r"\cos": sp.cos, r"\tan": sp.tan,
    r"\tanh": sp.tanh, r"\arcsin": sp.asin, r"\arccos": sp.acos, r"\arctan": sp.atan,
    r"\cosh": sp.cosh, r"\sinh": sp.sinh, r"\Gamma": sp.gamma, r"\max": sp.Max, r"\min": sp.Min,
    "@erf": sp.erf, "@erfc": sp.erfc, "@sgn": sp.sign, "@sign": sp.sign,
    r"\Phi": lambda x: (1 + sp.erf(x / sp.sqrt(2))) / 2,
    "@relu": lambda x: sp.Max(x, 0), "@ReLU": lambda x: sp.Max(x, 0),
}  # fmt: skip
LETTERS = set(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi "
    "pi rho varrho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma "
    "Upsilon Phi Psi Omega ell infty".split()
)


class Unread(ValueError):
    """A formula has a part that cannot be read; the message names it."""


_DROPPED = re.compile(
    r"\\(?:left|right|[bB]igg?[lr]?|displaystyle|textstyle|limits|nolimits|mathstrut)(?![A-Za-z])"
    r"|(?<!\\)\\[,;:!> ]|\\(?:quad|qquad)(?![A-Za-z])|~|%[^\n]*\n"
)
_MARK = re.compile(
    r"\\begin\{(?P<begin>\w+\*?)\}|\\end\{(?P<end>\w+\*?)\}"
    r"|\\(?:operatorname|mathrm|text|mathbb|mathbf|mathcal|boldsymbol)\*?\s*"
    r"(?:\{(?P<named>[^{}]*)\}|(?P<letter>[A-Za-z]))"
    r"|(?P<command>\\[A-Za-z]+|\\[|{}\\%])|(?P<number>\d+(?:\.\d+)?)|(?P<sign>\S)"
)
_SAME = {
    r"\tfrac": r"\frac", r"\dfrac": r"\frac", r"\ln": r"\log", r"\leq": r"\le", r"\geq": r"\ge",
    r"\lbrace": r"\{", r"\rbrace": r"\}", r"\lvert": "|", r"\rvert": "|", r"\lVert": r"\|",
    r"\rVert": r"\|", r"\lbrack": "[", r"\rbrack": "]", r"\times": r"\cdot", r"\mid": "|",
    r"\mathopen": "", r"\mathclose": "",
}  # fmt: skip
_GOES_ON = re.compile(r"[-+=<>]|\\(?:approx|leq?|geq?|cdot|times|neq?|equiv)(?![a-zA-Z])")
_CASES = re.compile(r"\\begin\{cases\}.*?\\end\{cases\}", re.DOTALL)
_ROW, _COLUMN = "\x02", "\x03"  # of cases, while the rows of a display are cut


def marks(latex: str) -> list[str]:
    r"""Return the marks of a formula: commands, letters, numbers, signs.

    A name such as ``\operatorname{Var}`` is one mark, ``Var``, with ``@`` before it; spacing,
    the sizes of brackets and alignment are left out.

    Example:
        >>> marks(r"\operatorname{Var}\left[w_i\right] = \tfrac12\,\sigma^2")
        ['@Var', '[', 'w', '_', 'i', ']', '=', '\\frac', '12', '\\sigma', '^', '2']
    """
    text = re.sub(r"(?<=\d)\\,(?=\d{3}(?!\d))|\{,\}", "", latex)
    found = []
    for match in _MARK.finditer(_DROPPED.sub(" ", text)):
        kind, mark = match.lastgroup, match.group()
        if kind in ("named", "letter"):
            mark = f"@{match[kind].strip()}"
        elif kind in ("begin", "end"):
            mark = f"{kind}:{match[kind]}"
        mark = _SAME.get(mark, mark)
        found += [mark] if mark else []
    return found


def chains(display: str) -> list[str]:
    r"""Cut a display into its chains of equalities, aligned rows joined.

    A row that begins with a relation or a sign goes on with the row above; the third column of an
    aligned row is a note, and is left out, as are numbers (``\tag``) and words under braces.

    Example:
        >>> chains(r"\begin{aligned} a &= b && \text{as } i\ne j \\ &= c \\ x &= y \end{aligned}")
        ['a = b = c', 'x = y']
        >>> chains(r"x = \underbrace{y_{1}}_{\text{its own}} + z")
        ['x = {y_{1}} + z']
    """
    text = re.sub(r"\\(?:tag|label)\*?\{[^{}]*\}|\\nonumber", "", _without_captions(display))
    text = re.sub(r"\\(?:begin|end)\{(?:aligned|align\*?|split|gathered)\}", "", text)
    rows = [
        part
        for row in re.split(r"\\\\(?:\[[^\]]*\])?", _CASES.sub(_hidden, text))
        for part in re.split(r"\\qquad(?!\s*[-+=])", row)
    ]
    found: list[str] = []
    for row in rows:
        said = " ".join(" ".join(row.split("&")[:2]).split()).strip(" .,;:")
        said = said.replace(_ROW, r" \\ ").replace(_COLUMN, " & ")
        said = re.sub(r"^(?:\\quad|\\[,;!:]|\s|\{\})+", "", said)
        if not said:
            continue
        if found and _GOES_ON.match(said):
            found[-1] += f" {said}"
        else:
            found.append(said)
    return found


def _without_captions(display: str) -> str:
    r"""Put what stands above the words of an ``\underbrace{…}_{\text{words}}`` into braces."""
    for begin in reversed([m.start() for m in re.finditer(r"\\underbrace(?=\{)", display)]):
        start = end = begin + len(r"\underbrace")
        depth = 0
        for end in range(start, len(display)):
            depth += {"{": 1, "}": -1}.get(display[end], 0)
            if not depth:
                break
        after = re.sub(r"^\s*_\s*\{\\text\{[^{}]*\}\}", "", display[end + 1 :])
        display = display[:begin] + display[start : end + 1] + after
    return display


def _hidden(cases: re.Match[str]) -> str:
    return cases.group().replace(r"\\", _ROW).replace("&", _COLUMN)
