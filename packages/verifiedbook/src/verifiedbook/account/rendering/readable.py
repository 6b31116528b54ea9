r"""What records say in a line, with formulas instead of Python, for people to read.

A record's text is compared and stays as it is; on a page it is shown by `readable`:

    >>> readable("E(Sum(w[i]**2, (i, 1, d))) = d*sigma**2")
    '$\\mathbb{E}\\left[\\sum_{i=1}^dw_{i}^2\\right]=d\\sigma^2$'
    >>> readable("d=3, sigma=1.3: 2.48, not 8.57; w ~ Normal(0, sigma)")
    'd=3, σ=1.3: 2.48, not 8.57; $w\\sim\\mathcal{N}(0,\\sigma^2)$'
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from ..records.record import Record
from .formulas import latex
from .plain import SIGNS

_POINT = re.compile(r"(?<![\w$])([a-zA-Z]{1,9})=(-?\d[\w.+-]*|-?\w+\*\*[-\w./()]+)(?=[,;: ]|$)")
_CALL = r"[\w.]+\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"  # three deep
_LAW = re.compile(rf"(?<![\w$'])(\w+'?) ~ ({_CALL})")
_SYMBOLS = re.compile(
    r"(?<![\w$\\])(?:(?P<average>E|Var) )?"
    r"(?P<of>(?:\|[\w ]{1,4}\||[A-Za-z]\w{0,7}\([\w ]{1,3}\)|[A-Za-z])"
    r"(?:\*\*\d+|_[a-z0-9](?!\w)))(?![\w$(])"
)
_LETTERS = "alpha beta gamma delta epsilon eta theta kappa lambda mu rho sigma tau phi"
_GREEK = {name: SIGNS[name] for name in _LETTERS.split()}
_RAISED = dict(zip("234dkn", "²³⁴ᵈᵏⁿ", strict=True))
_NUMBER = re.compile(r"-?\d+(\.\d+)?")  # a point's coordinate needs no typesetting
_QUOTED = re.compile(r"“([^”`]*(?:\*\*|\w\()[^”`]*)”")  # lines of a source's code
_KNOWN = set(
    "Var Sum Integral Rational sqrt exp log sin cos tanh erf erfc relu selu gelu sigmoid norm LN "
    "RMS Norm expint gamma sigma tau kappa alpha eta mu beta rho theta pi lambda epsilon oo phi "
    "xi one".split()
)
_RELATIONS = {"=": "=", "!=": r"\ne "}


def readable(text: str) -> str:
    """Return a record's statement or detail with formulas between dollar signs.

    Args:
        text: as the record has it; what cannot be read as a formula stays as it is.
    """
    if "$" in text:  # a reading's own text
        return text
    left, relation, right = _halves(text)
    ending = re.search(r"( within [\d.e-]+)?( in the article's setting)?$", right)
    tail = ending.group() if ending else ""
    formula = _formula(right.removesuffix(tail)) if relation else None
    if not formula:
        return _words(text)
    if said := _quantity(left):
        return f"${said}{_RELATIONS[relation]}{formula}${tail}"
    return f"{_words(left)} ${_RELATIONS[relation]}{formula}${tail}"


def _quantity(text: str) -> str | None:
    """A quantity as a formula, where it has no ordinary words: E |w|**2, E selu(z)**2."""
    words = {w for w in re.findall(r"[A-Za-z]\w*", text) if len(w.partition("_")[0]) > 1}
    if words - _KNOWN or re.fullmatch(r"\w+", text):
        return None
    average, _, inside = text.rpartition("E ") if text.startswith("E ") else ("", "", text)
    inside = re.sub(r"\|([^|]+)\|", r"norm(\1)", inside)
    formula = _formula(re.sub(r"(?<=[\w)]) (?=[\w(])", "*", inside))
    if formula and text.startswith("E "):
        return rf"\mathbb{{E}}\left[{formula}\right]"
    return formula if not average else None


def readable_equation(equation: str) -> str:
    r"""Return a record's equation, whose quantity may be a ``\text``, as words and formulas.

    Example:
        >>> readable_equation(r"\text{E |w|**2} = d")
        '$\\mathbb{E}\\left[\\lVert w\\rVert^2\\right] = d$'
    """
    named = re.match(r"\\text\{((?:[^{}]|\\[{}])*)\}(.*)", equation, re.DOTALL)
    if not named:
        return f"${equation}$"
    quantity = re.sub(r"\\([_#%&{}$])", r"\1", named[1])
    if said := _quantity(quantity):
        return f"${said}{named[2]}$"
    return f"{_words(quantity)} ${named[2].strip()}$"


def readable_head(latex: str | None, statement: str) -> str:
    """Return what a record is about: its equation, or its statement where it has none.

    Example:
        >>> readable_head(None, "rank = d*n/(d + n)")
        'rank $=\\\\frac{dn}{d+n}$'
    """
    return readable_equation(latex) if latex else readable(statement)


def _halves(text: str) -> tuple[str, str, str]:
    """The two sides of the last relation that stands between blanks."""
    found = [*re.finditer(r" (!?=) ", text)]
    if not found:
        return text, "", ""
    return text[: found[-1].start()], found[-1][1], text[found[-1].end() :]


def _formula(text: str) -> str | None:
    try:
        return latex(re.sub(r"\blambda\b", "lam", text))
    except (ValueError, AssertionError, IndexError, AttributeError):
        return None


def _words(text: str) -> str:
    return _outside(r"(\$[^$]*\$)", _laws(_QUOTED.sub(r"“`\1`”", text)), _marked)


def _outside(pattern: str, text: str, change: Callable[[str], str]) -> str:
    """A text, changed where the pattern, a group, is not."""
    pieces = re.split(pattern, text)
    return "".join(piece if place % 2 else change(piece) for place, piece in enumerate(pieces))


def _marked(text: str) -> str:
    def point(found: re.Match[str]) -> str:
        letter = found[1] if len(found[1]) == 1 else _GREEK.get(found[1])
        if letter and _NUMBER.fullmatch(found[2]):
            return f"{letter}={found[2].replace('-', '−')}"
        name, value = _formula(found[1]), _formula(found[2])
        return f"${name}={value}$" if name and value else found.group()

    text = _POINT.sub(point, text)
    text = _outside(r"(\$[^$]*\$)", text, lambda piece: _SYMBOLS.sub(_symbol, piece))
    return _outside(r"(\$[^$]*\$|`[^`]*`)", text, _lettered)


def _lettered(text: str) -> str:
    """Put signs for what is left of Python among words: (new - t * old)**2 is (new - t · old)²."""
    text = re.sub(r"\*\*([234dkn])(?!\w)", lambda found: _RAISED[found[1]], text)
    text = re.sub(r"\bsqrt\((\w)\)", r"√\1", text)
    return re.sub(r"\bsqrt\(", "√(", text).replace(" * ", " · ")


def _symbol(found: re.Match[str]) -> str:
    average = {"E": r"\mathbb{E}\,", "Var": r"\operatorname{Var}"}.get(found["average"] or "", "")
    text = re.sub(r"\|([^|]+)\|", r"\\lVert \1\\rVert", found["of"])
    text = re.sub(r"\*\*(\d)", r"^\1", text)
    text = re.sub(r"\b([A-Za-z]{2,})\(", r"\\operatorname{\1}(", text)
    return f"${average}{text}$"


def _laws(text: str) -> str:
    """Put formulas for laws, such as ``w ~ Normal(0, sigma)``."""
    return _LAW.sub(lambda found: _law(found[1], found[2]) or found[0], text)


def _law(name: str, called: str) -> str | None:
    try:
        node = ast.parse(called, mode="eval").body
        assert isinstance(node, ast.Call)
        return _LAWS[ast.unparse(node.func)](_name(name), *map(ast.unparse, node.args))
    except (SyntaxError, AssertionError, KeyError, ValueError, TypeError):
        return None


def _name(name: str) -> str:
    names = {letter: word for word, letter in _GREEK.items()}
    letter = name.rstrip("'")
    return latex(names.get(letter, letter)) + name[len(letter) :]


def _discrete(name: str, *given: str) -> str:
    values, chances = (
        [latex(part) for part in ast.unparse(ast.parse(text)).strip("()").split(", ")]
        for text in given
    )
    chance = ", ".join(f"${value}$ ($p={p}$)" for value, p in zip(values, chances, strict=True))
    return f"${name}$ one of {chance}"


def _normal(name: str, mean: str, sd: str) -> str:
    root = re.fullmatch(r"1 / sqrt\((\w+)\)", sd)
    squared = f"1/{latex(root[1])}" if root else sd if sd == "1" else latex(f"({sd})**2")
    return rf"${name}\sim\mathcal{{N}}({latex(mean)},{squared})$"


def _general(name: str, moments: str) -> str:
    node = ast.parse(moments, mode="eval").body
    assert isinstance(node, ast.Dict)
    powers = [ast.unparse(key) if key else "" for key in node.keys]
    values = [latex(ast.unparse(value)) for value in node.values]
    of = [name if power == "1" else f"{name}^{power}" for power in powers]
    means = [rf"$\mathbb{{E}}[{x}]={mean}$" for x, mean in zip(of, values, strict=True)]
    return f"any ${name}$ with {', '.join(means)}"


_LAWS: dict[str, Callable[..., str]] = {
    "Normal": _normal,
    "Uniform": lambda x, low, high: rf"${x}\sim\mathcal{{U}}({latex(low)},{latex(high)})$",
    "TruncatedNormal": lambda x, mean, sd, low, high:
        f"{_normal(x, mean, sd)} cut off to $[{latex(low)},{latex(high)}]$",
    "General": _general,
    "Discrete": _discrete,
    "Rademacher": lambda x, size: rf"${x}=\pm {latex(size)}$",
}  # fmt: skip


# ------------------------------------------------------------------ what was done about a claim


_Records = Sequence[Record]


def told(records: _Records) -> str:
    """Say in a line what was done about a claim.

    Args:
        records: of one claim, those of what the article says and those of what is true instead.

    Returns:
        Words such as ``proved case by case · measured to 1 % at 2 points · 19/19 wrong versions
        rejected``.
    """
    parts = _done([r for r in records if r.of == "reading"])
    if right := _done([r for r in records if r.of == "truth"]):
        parts.append(f"the right statement {', '.join(right)}")
    scores = [r.mutants for r in records if r.mutants and r.mutants.total]
    if scores:
        killed, total = sum(s.killed for s in scores), sum(s.total for s in scores)
        parts.append(f"{killed}/{total} wrong versions rejected")
    return " · ".join(parts) or "nothing has run here"


def _done(records: _Records) -> list[str]:
    kinds = ((words, [r for r in records if r.kind == kind]) for kind, words in _WORDS.items())
    return [words(of) for words, of in kinds if of]


def _times(count: int, one: str, many: str) -> str:
    return one if count == 1 else many.format(count)


def _count(records: _Records, of: str) -> int:
    """How many points, runs or data the records tell of, summed."""
    return sum(r.counts.get(of, 0) for r in records)


def _at_points(records: _Records) -> str:
    points = _count(records, "points")
    return f" at {points} point{'s' * (points > 1)}" if points else ""


def _proof(records: _Records) -> str:
    ways = {r.way for r in records if r.way}
    return f"proved {ways.pop()}" if len(ways) == 1 else "proved"


def _exact(records: _Records) -> str:
    at = _at_points(records)
    return f"computed exactly{at}" if at else "checked exactly, and a broken version fails"


def _measurement(records: _Records) -> str:
    sees = [r.tolerance for r in records if r.tolerance]
    to = f" to {max(sees, key=lambda text: float(text.split()[0]))}" if sees else ""
    return f"measured{to}{_at_points(records)}"


def _draws(records: _Records) -> int:
    return max(r.sample.n if r.sample else 0 for r in records)


_TRIED = {
    "supports": "seen{}", "contradicts": "the opposite seen{}", "unsettled": "tried{}, not settled",
}  # fmt: skip


def _experiment(records: _Records) -> str:
    parts = []
    for outcome, words in _TRIED.items():
        if of := [r for r in records if r.outcome == outcome]:
            runs = _count(of, "runs")
            parts.append(words.format(f" in {runs} runs" if runs else ""))
    return ", ".join([*parts, *["recorded"] * any(r.recorded for r in records)])


def _set_aside(records: _Records) -> str:
    nature = records[0].statement
    return f"set aside: {'an' if nature[:1] in 'aeiou' else 'a'} {nature}"


_WORDS: dict[str, Callable[[_Records], str]] = {  # what speaks against a claim stands first
    "counterexample": lambda r: _times(
        len(r), "refuted by a counter-example", "refuted by {} counter-examples"
    ),
    "proof": _proof,
    "exact": _exact,
    "count": lambda r: "counted" + _at_points(r),
    "equality": lambda r: f"equal on {_draws(r)} random draws",
    "measurement": _measurement,
    "sampled": lambda r: f"true on {_draws(r)} random draws",
    "census": lambda r: f"counted in {_count(r, 'data')} published data",
    "experiment": _experiment,
    "citation": lambda r: _times(len(r), "held against a source", "held against {} sources"),
    "witness": lambda r: "false without its condition",
    "met": lambda r: "its condition met in the article's setting",
    "set-aside": _set_aside,
    "attempt": lambda r: "tried, and not settled",
}
