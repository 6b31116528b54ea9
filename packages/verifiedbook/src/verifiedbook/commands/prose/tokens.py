"""What in a text says a number or a formula, and so needs an owner."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

WORDS: dict[str, float] = {
    word: value
    for value, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen twenty".split(),
        start=2,
    )
} | {
    "twice": 2, "double": 2, "doubles": 2, "doubled": 2, "half": 0.5, "halves": 0.5,
    "third": 1 / 3, "thirds": 1 / 3, "quarter": 0.25, "quarters": 0.25, "thrice": 3, "triple": 3,
    "tenth": 0.1, "tenths": 0.1, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "hundredth": 0.01,
    "thousand": 1000, "thousandth": 0.001, "million": 1e6, "millionth": 1e-6, "billion": 1e9,
}  # fmt: skip
_HIDDEN = re.compile(
    r"```.*?```|`[^`\n]*`|<!--.*?-->|\]\([^)]*\)|https?://\S+|\{[a-z:]+\}`[^`]*`|</?[A-Za-z][^<>$]*>",
    re.DOTALL,
)
MATHS = re.compile(r"(?<!\\)\$\$(?P<display>.+?)\$\$|(?<!\\)\$(?P<inline>[^$\n]+?)\$", re.DOTALL)
RELATION = re.compile(r"=|<|>|\\(?:approx|sim|propto|leq?|geq?|to|mapsto|neq?|ll|gg)(?![A-Za-z])")
SYMBOL = re.compile(
    r"\s*(?:\\(?:mathbf|tilde|hat)\s)?\\?[A-Za-z]+(?:\{[A-Za-z]+\})?'*"
    r"(?:[_^](?:\{[A-Za-z0-9,'+\-\\* ]*\}|\\?[A-Za-z]+|[0-9*]))*\s*"
)
_NUMBER = re.compile(
    r"(?<![\w.,/\-])[-−]?\d+(?:[\u202f ,]\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?(?:\s?%)?(?![\w])"
)
_WORD = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)
_NAMED = re.compile(  # numbers that are names: of claims, sections, articles, models
    r"(?:section|chapter|notebook|eq\.|equation|line|lines|figure|page|version)s?\s[\d.–, and]+"
    r"|\(\d{1,2}\)|\b[A-Za-z]+-\d+(?:\.\d+)?|\bT5\s1\.1|\b(?:19\d\d|20[0-3]\d)\b|^\s*\d+\.\s"
    r"|\b(?:Gemma|Llama|Phi|Qwen|OLMo|Ministral)\s[1-9](?:\.\d)?(?!\.?\d)(?:\sto\s[1-9]\b)?"
    r"|^#\s\d\s·|^\*\*Step\s\d",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class Token:
    """A piece of a text that needs an owner.

    Attributes:
        text: as it stands, spaces made single.
        kind: "number", "word" or "formula".
    """

    text: str
    kind: str


def tokens(markdown: str) -> Iterator[Token]:
    """Yield what in a Markdown text needs an owner, in its order.

    Numbers, words for numbers from two on and for parts and multiples, and formulas; not single
    symbols such as $d$ or $\\sigma_i^2$, code, addresses, or numbers that are names: of claims,
    years, sections and models.

    Example:
        >>> [token.text for token in tokens("At $d=768$ it is 3.6 %, twice that of `x[3]`.")]
        ['$d=768$', '3.6 %', 'twice']
    """
    text = _HIDDEN.sub(lambda found: " " * len(found.group()), markdown)
    maths = list(MATHS.finditer(text))
    bare = MATHS.sub(lambda found: "\x00" * len(found.group()), text)
    bare = _NAMED.sub(lambda found: "\x01" * len(found.group()), bare)
    found = [
        (match.start(), Token(_single(match.group()), "formula"))
        for match in maths
        if not SYMBOL.fullmatch(match.group("inline") or match.group("display"))
    ]
    found += [(m.start(), Token(_single(m.group()), "number")) for m in _NUMBER.finditer(bare)]
    found += [(m.start(), Token(_single(m.group()), "word")) for m in _WORD.finditer(bare)]
    for _, token in sorted(found, key=lambda item: item[0]):
        yield token


def number_of(token: Token) -> tuple[float, float] | None:
    """Return the number that a token says, and by how much it may be rounded; None for a formula.

    Example:
        >>> number_of(Token("3.6 %", "number"))
        (0.036, 0.0005)
        >>> number_of(Token("twice", "word"))
        (2, 0.1)
    """
    if token.kind == "formula":
        return None
    if token.kind == "word":
        said = WORDS[token.text.lower()]
        return said, 0.05 * said
    per_cent = token.text.endswith("%")
    digits = re.sub(r"[%,\s\u202f]", "", token.text).replace("−", "-")
    mantissa, _, power = digits.lower().partition("e")
    places = len(mantissa.partition(".")[2])
    unit = 0.5 * 10.0 ** (int(power or 0) - places)
    scale = 0.01 if per_cent else 1.0
    return float(f"{float(digits) * scale:.15g}"), float(f"{unit * scale:.3g}")


def _single(text: str) -> str:
    return re.sub(r"[ \t\n]+", " ", text).strip()
