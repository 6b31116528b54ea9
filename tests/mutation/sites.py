"""Where a text can be made false: numbers, words, formulas and code, each with what to write."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

WORDS = {
    "two": "three", "three": "four", "four": "three", "five": "six", "six": "five", "half": "third",
    "twice": "three times", "once": "twice", "zero": "one", "none": "one", "both": "neither",
    "larger": "smaller", "smaller": "larger", "more": "less", "less": "more", "fewer": "more",
    "higher": "lower", "lower": "higher", "above": "below", "below": "above", "grows": "falls",
    "falls": "grows", "increases": "decreases", "decreases": "increases", "before": "after",
    "after": "before", "first": "last", "last": "first", "faster": "slower", "slower": "faster",
    "always": "never", "never": "always", "every": "no", "all": "none of", "no": "every",
    "not": "", "cannot": "can", "without": "with", "with": "without", "exactly": "hardly",
    "positive": "negative", "negative": "positive", "rows": "columns", "columns": "rows",
    "variance": "standard deviation", "mean": "variance", "untied": "tied", "tied": "untied",
    "best": "worst", "worst": "best", "same": "other", "independent": "dependent", "even": "odd",
}  # fmt: skip
NUMBER_WORDS = {
    "two", "three", "four", "five", "six", "half", "twice", "once", "zero", "none", "both",
}  # fmt: skip
NEGATIONS = {"not", "no", "never", "without", "cannot"}
WORD = re.compile(rf"\b(?:{'|'.join(WORDS)})\b")
NUMBER = re.compile(r"(?<![\w.\\{^_-])\d+(?:[.,\u202f ]\d+)*(?![\w-])")
# What prose quotes, links or names is no sentence: code, addresses, roles, directives, claims.
APART = re.compile(
    r"<!--.*?-->|```.*?```|`[^`\n]*`|\]\([^)]*\)|<[^>\n]+>|\{[a-z:-]+\}|^:[a-z-]+:.*$|[A-Z]+-\d+|https?://\S+"
    r"|^---\n.*?^---$|^\(.*\)=$", re.S | re.M,
)  # fmt: skip
MATHS = re.compile(r"\$\$.+?\$\$|(?<![\\$])\$[^$]+?\$", re.S)


@dataclass(frozen=True)
class Site:
    """A place in a text, and what would make it false.

    Attributes:
        start, end: of what is replaced.
        new: what stands there instead.
        way: the kind of change, in a word or two.
    """

    start: int
    end: int
    new: str
    way: str

    def apply(self, text: str) -> str:
        """The text with this change."""
        return text[: self.start] + self.new + text[self.end :]


def chosen(sites: list[Site], chance: random.Random) -> Site | None:
    """One of some sites, each way of changing as likely as another."""
    if not sites:
        return None
    way = chance.choice(sorted({site.way for site in sites}))
    return chance.choice([site for site in sites if site.way == way])


def changed_number(text: str) -> str:
    """The number with its last digit another one."""
    digit = text[-1]
    return text[:-1] + str((int(digit) + 1) % 10 if digit != "9" else 7)


# ------------------------------------------------------------------ prose


def in_prose(text: str) -> Iterator[Site]:
    """Sites of Markdown prose: numbers, words, negations, and those of its formulas."""
    maths = [match.span() for match in MATHS.finditer(text)]
    apart = [match.span() for match in APART.finditer(text)]

    def free(match: re.Match[str]) -> bool:
        return not any(a < match.end() and match.start() < b for a, b in apart + maths)

    for match in filter(free, NUMBER.finditer(text)):
        yield Site(*match.span(), changed_number(match[0]), "number")
    for match in filter(free, WORD.finditer(text)):
        way = "number word" if match[0] in NUMBER_WORDS else "word"
        way = "negation" if match[0] in NEGATIONS else way
        yield Site(*match.span(), WORDS[match[0]], way)
    for match in filter(free, re.finditer(r"\b(is|are|does|has)\b (?!not\b|no\b)", text)):
        yield Site(match.end(), match.end(), "not ", "negation")
    for start, end in maths:
        if not any(a < end and start < b for a, b in apart):
            for site in in_formula(text[start:end]):
                yield Site(start + site.start, start + site.end, site.new, "formula: " + site.way)


_OTHER = {r"\log": r"\exp", r"\exp": r"\log"}
LATEX: Mapping[str, tuple[str, Callable[[re.Match[str]], str]]] = {
    "sign": (r"(?<=[\w})\]\s])[+-](?=[\s\w\\({])", lambda m: "-" if m[0] == "+" else "+"),
    "exponent": (r"(?<=\^)\d|(?<=\^\{)\d(?=\})", lambda m: changed_number(m[0])),
    "constant": (r"(?<![\w^_{.\\])\d+(?:\.\d+)?(?![\w.])", lambda m: changed_number(m[0])),
    "fraction": (r"\\frac\{([^{}]+)\}\{([^{}]+)\}", lambda m: rf"\frac{{{m[2]}}}{{{m[1]}}}"),
    "root": (r"\\sqrt\{([^{}]+)\}", lambda m: f"({m[1]})"),
    "relation": (
        r"\\leq?(?![a-z])|\\geq?(?![a-z])|<|>|\\ne(?![a-z])|\\propto|\\approx",
        lambda m: {"<": ">", ">": "<"}.get(m[0], r"\ge" if m[0].startswith(r"\le") else r"\le"),
    ),
    "symbol": (r"(?<![\\a-zA-Z{])[dnhkml](?![a-zA-Z])", lambda m: "n" if m[0] != "n" else "d"),
    "greek": (r"\\sigma(?![a-z])|\\tau(?![a-z])",
              lambda m: r"\tau" if m[0] == r"\sigma" else r"\sigma"),
    "function": (r"\\log(?![a-z])|\\exp(?![a-z])", lambda m: _OTHER[m[0]]),
}  # fmt: skip


def in_formula(latex: str) -> Iterator[Site]:
    """Sites of a formula in LaTeX, its dollar signs included or not."""
    for way, (pattern, change) in LATEX.items():
        for match in re.finditer(pattern, latex):
            yield Site(*match.span(), change(match), way)


# ------------------------------------------------------------------ code


OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.Pow: ("**", "*"), ast.FloorDiv: ("//", "%"), ast.Mod: ("%", "//"), ast.MatMult: ("@", "*"),
}  # fmt: skip
COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", ">="), ast.Gt: (">", "<="), ast.LtE: ("<=", ">"), ast.GtE: (">=", "<"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="),
}  # fmt: skip


def in_code(source: str, *, words: bool = False) -> Iterator[Site]:
    """Sites of Python code: operators, comparisons, constants, signs, arguments in another order.

    Args:
        source: code, IPython's magic lines included.
        words: whether to change the strings as well, such as a figure's labels.
    """
    plain = re.sub(r"(?m)^(\s*)([%!].*)$", lambda m: m[1] + "#" + m[2][1:], source)
    try:
        tree = ast.parse(plain)
    except SyntaxError:
        return
    at = _offsets(plain)
    pieces = {id(p) for f in ast.walk(tree) if isinstance(f, ast.JoinedStr) for p in f.values}
    for node in ast.walk(tree):
        if id(node) not in pieces:  # Python 3.11 places such a text where the whole f-string is
            sites = _in_node(node, plain, at, words)
            yield from (site for site in sites if _is_code(site.apply(plain)))


def _is_code(text: str) -> bool:
    # what is no Python is seen at once, and says nothing of the checks
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _offsets(source: str) -> Callable[[int, int], int]:
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(line: int, column: int) -> int:  # the syntax tree counts bytes
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    return offset


def _in_node(
    node: ast.AST, source: str, at: Callable[[int, int], int], words: bool
) -> Iterator[Site]:
    def span(inner: ast.expr) -> tuple[int, int]:
        end_line, end_column = inner.end_lineno or 0, inner.end_col_offset or 0
        return at(inner.lineno, inner.col_offset), at(end_line, end_column)

    def between(left: ast.expr, right: ast.expr, old: str, new: str, way: str) -> Iterator[Site]:
        start, end = span(left)[1], span(right)[0]
        place = source.find(old, start, end)
        if place >= 0:
            yield Site(place, place + len(old), new, way)

    match node:
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            yield from between(left, right, *OPERATORS[type(op)], "operator")
        case ast.Compare(left, [op], [right]) if type(op) in COMPARISONS:
            yield from between(left, right, *COMPARISONS[type(op)], "comparison")
        case ast.UnaryOp(ast.USub()):
            yield Site(span(node)[0], span(node)[0] + 1, "", "sign")  # its brackets stay
        case ast.UnaryOp(ast.Not()):
            yield Site(span(node)[0], span(node)[0] + len("not "), "", "not")
        case ast.Constant(bool() as value):
            yield Site(*span(node), str(not value), "truth value")
        case ast.Constant(int() | float() as value):
            new = str(value + 1) if isinstance(value, int) else repr(value * 2)
            yield Site(*span(node), new, "constant")
        case ast.Constant(str() as value) if words and value.strip() and "\n" not in value:
            start, end = span(node)
            yield Site(start, end, repr(f"not {value}"), "label")
        case ast.Call(_, [first, second, *_]) if ast.dump(first) != ast.dump(second):
            if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
                (a, b), (c, d) = span(first), span(second)
                swapped = source[c:d] + source[b:c] + source[a:b]
                yield Site(a, d, swapped, "arguments swapped")
