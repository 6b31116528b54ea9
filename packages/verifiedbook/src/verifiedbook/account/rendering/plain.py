r"""Statements as plain text: LaTeX as letters, signs, raised and lowered parts.

A list of three hundred statements is searched by them; a claim's page typesets its own.

>>> text(r"so $\mathbb{V}ar\left[\Vert\boldsymbol{w}\Vert^2\right]=2d\sigma^4$")
'so Var[‖w‖²]=2dσ⁴'
>>> html(r"$\frac{a+b}{2}<w_{i,j}$")
'(a+b)/2&lt;w<sub>i,j</sub>'
>>> text(r"$c\tanh x+\log\frac{p(n-1)}{1-p}-\tfrac45d-\tfrac12\log n$")
'c tanh x+log((p(n−1))/(1−p))−(4/5)d−(1/2)log n'
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

Mark = Callable[[str], str]

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[\s\S]")
_GREEK = (
    "alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ kappa κ lambda λ mu μ nu ν "
    "xi ξ pi π rho ρ sigma σ tau τ phi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ "
    "Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω varepsilon ε varphi φ"
)
_SIGNS = (
    r"sum Σ prod ∏ int ∫ infty ∞ times × cdot · cdots … dots … ldots … vdots ⋮ ddots ⋱ otimes ⊗ "
    r"circ ∘ approx ≈ neq ≠ ne ≠ le ≤ leq ≤ ge ≥ geq ≥ in ∈ to → mapsto ↦ Vert ‖ lVert ‖ rVert ‖ "
    r"lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋ langle ⟨ rangle ⟩ top T pm ± partial ∂ nabla ∇ sim ∼ "
    r"propto ∝ equiv ≡ ll ≪ gg ≫ odot ⊙ oplus ⊕ mid | prime ′ forall ∀ notin ∉ subset ⊂ cup ∪ ell ℓ"
)
_WORDS = [*_GREEK.split(), *_SIGNS.split()]
SIGNS = dict(zip(_WORDS[::2], _WORDS[1::2], strict=True))
_FRACTIONS = {"frac", "tfrac", "dfrac"}
_NAMES = {"log", "ln", "exp", "min", "max", "tanh", "sin", "cos", "arccos", "tan", "det", "lim"}
_ACCENTS = {"tilde": "\u0303", "hat": "\u0302", "bar": "\u0304", "widetilde": "\u0303",
            "overline": "\u0305"}  # fmt: skip
_FIXED = dict.fromkeys(
    "left right big Big bigg Bigg bigl bigr Bigl Bigr limits nolimits displaystyle boldsymbol "
    "mathbf mathcal mathrm text operatorname mathbb mathit textbf".split(), ""
) | dict.fromkeys([",", ";", ":", " ", "quad", "qquad"], " ") | {"\\": "; "}  # fmt: skip
_FACTORS = {  # commands with which a factor begins
    *_GREEK.split()[::2], *_NAMES, *_ACCENTS, "left", "bigl", "Bigl", "lVert", "sqrt", "boldsymbol",
    "mathbf", "mathbb", "mathcal", "mathrm", "operatorname",
}  # fmt: skip
_MATRIX = re.compile(r"\\(begin|end)\{[a-z]+\}")
_RAISED = str.maketrans("0123456789+-−=()nijTk", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱʲᵀᵏ")
_LOWERED = str.maketrans("0123456789+-−=()ijklmnxpst", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ᵢⱼₖₗₘₙₓₚₛₜ")


def text(statement: str) -> str:
    """A statement as plain text: raised digits as such, other raised parts after a caret."""
    return _told(statement, str, _as_sign("^", _RAISED), _as_sign("_", _LOWERED))


def html(statement: str) -> str:
    """A statement as HTML: raised and lowered parts as such."""
    return _told(
        statement, escape, lambda part: f"<sup>{part}</sup>", lambda part: f"<sub>{part}</sub>"
    )


def with_latex(formula: str) -> str:
    """A formula as HTML in letters, with its LaTeX beside it for whoever typesets it.

    >>> with_latex(r"\\sigma^2")
    '<span data-latex="\\\\sigma^2">σ<sup>2</sup></span>'
    """
    return f'<span data-latex="{escape(formula)}">{html(f"${formula}$")}</span>'


def _as_sign(mark: str, table: dict[int, int]) -> Mark:
    def shown(part: str) -> str:
        if all(ord(letter) in table for letter in part):
            return part.translate(table)
        return mark + (part if len(part) == 1 else f"({part})")

    return shown


def _told(statement: str, letters: Mark, up: Mark, down: Mark) -> str:
    parts = re.split(r"(?<!\\)\$", statement)
    return "".join(
        _Formula(part, letters, up, down).read() if i % 2 else letters(part.replace("`", ""))
        for i, part in enumerate(parts)
    )


class _Formula:
    """LaTeX, read from left to right."""

    def __init__(self, latex: str, letters: Mark, up: Mark, down: Mark) -> None:
        plain = _MATRIX.sub(lambda found: "[" if found[1] == "begin" else "]", latex)
        self.tokens = _TOKEN.findall(plain)
        self.letters, self.marks = letters, {"^": up, "_": down}

    def read(self, until: str | None = None) -> str:
        """What stands up to the end, or to a closing bracket, which is taken."""
        made = ""
        while self.tokens:
            token = self.tokens.pop(0)
            if token == until:
                break
            if token[1:] in _NAMES and made[-1:].isalpha():
                made += " "
            made += self._shown(token)
        return made

    def _argument(self) -> str:
        while self.tokens and self.tokens[0].isspace():
            self.tokens.pop(0)
        if not self.tokens:
            return ""
        token = self.tokens.pop(0)
        return self.read("}") if token == "{" else self._shown(token)

    def _root(self) -> str:
        if self.tokens[:1] != ["["]:
            return "√"
        self.tokens.pop(0)
        return {"3": "∛", "4": "∜"}.get(degree := self.read("]"), f"root {degree} of ")

    def _fraction(self) -> str:
        return f"{_held(self._argument())}/{_held(self._argument())}"

    def _goes_on(self) -> bool:
        """Whether a factor follows, without a sign between."""
        return bool(self.tokens) and (
            bool(re.match(r"\w|\(", self.tokens[0])) or self.tokens[0][1:] in _FACTORS
        )

    def _shown(self, token: str) -> str:
        if token in self.marks:
            return self.marks[token](self._argument())
        if token == "{":
            return self.read("}")
        if token.startswith("\\"):
            return self._command(token)
        return self.letters({"-": "−", "~": " ", "&": ", ", "'": "′"}.get(token, token))

    def _command(self, token: str) -> str:
        name = token[1:]
        if name in _FRACTIONS:
            made = self._fraction()
            return f"({made})" if self._goes_on() else made
        if name == "sqrt":
            root = self._root() + _held(self._argument())
            return root + " " * self._goes_on()
        if name in _ACCENTS:
            return self._argument() + _ACCENTS[name]
        if name == "mathbb" and self.tokens[:3] == ["{", "R", "}"]:
            del self.tokens[:3]
            return "ℝ"
        if name in _FIXED:
            return _FIXED[name]
        if name in _NAMES:
            if self.tokens and self.tokens[0][1:] in _FRACTIONS:  # of all of it, not of its top
                self.tokens.pop(0)
                return f"{name}({self._fraction()})"
            return name
        if name in SIGNS:
            if self.tokens and self.tokens[0].isspace():
                self.tokens.pop(0)  # it only ended the command
            return SIGNS[name]
        return self.letters(name)


def _held(part: str) -> str:
    """A part of a fraction, or under a root, in brackets where it would fall apart."""
    return part if re.fullmatch(r"[^\s+−=/·×(),<>]+|\d[\d,.]*", _bare(part)) else f"({part})"


def _bare(part: str) -> str:
    return re.sub(r"<(su[bp])>.*?</\1>|&\w+;", "x", part)
