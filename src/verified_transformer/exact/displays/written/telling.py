r"""Derivations told as a reader would be told them: words, and displays between them.

What is told is read off the object that is proved: the index patterns of the moment engine with
their numbers and moments, the checked steps of a chain, base and step of an induction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import sympy as sp

from ...derivations import Derived
from ...induction import Solved
from ...moments.expectation import Expectation
from ...moments.patterns import Pattern
from .chains import by_induction, by_steps
from .layout import WIDEST, aligned, broken, display, indented, width
from .writing import written

_LETTERS = "SXYZQRUV"
_AVERAGES = {"mean": r"\mathbb{E}", "variance": r"\operatorname{Var}"}
_MOMENT = re.compile(r"E\[(\w+?)(?:\^(\d+))?\]")
_MOST_TERMS = 12  # patterns in one display; more are told as a list


def told(derived: Derived | Solved, formula: str | None = None) -> str:
    r"""Tell a derivation in Markdown: each step a reason in words and a display.

    Args:
        derived: an engine's expectation, a `Derivation`, or an `Induction` that is solved.
        formula: LaTeX of the result as the reader knows it; else it is written as it was derived.

    Returns:
        Markdown, with each display between ``$$``.

    Raises:
        TypeError: it is no derivation, or an `Induction` without its closed form.

    Example:
        >>> from verified_transformer import Index, Normal, Tensor, mean, symbols, total
        >>> d, σ = symbols("d sigma")
        >>> i = Index("i", d)
        >>> w = Tensor("w", Normal(0, σ), d)
        >>> print(told(mean(total(w[i] ** 2, i))))  # doctest: +NORMALIZE_WHITESPACE
        Write $S = \sum_{i=1}^{d} w_{i}^{2}$. The mean of a sum is the sum of the means.
        With $\mathbb{E}[w^{2}] = \sigma^{2}$:
        <BLANKLINE>
        $$
        \begin{aligned}
        \mathbb{E}[S]
        &= d\,\mathbb{E}[w^{2}] \\
        &= d \sigma^{2}.
        \end{aligned}
        $$
    """
    if isinstance(derived, Expectation):
        parts = _by_patterns(derived, formula)
    elif isinstance(derived, Solved):
        parts = by_induction(derived, formula)
    elif hasattr(derived, "steps") and hasattr(derived, "start"):
        parts = by_steps(derived, formula)
    else:
        raise TypeError(
            f"derived: got {type(derived).__name__}; accepted: an engine's expectation, a "
            "Derivation, or an Induction with its closed form (solved_by)"
        )
    return "\n\n".join(parts)


# ---- the moment engine


def _by_patterns(found: Expectation, formula: str | None) -> Iterator[str]:
    letter = _letter(found)
    name = f"{_AVERAGES[found.estimator]}[{letter}]"
    let = f"Write ${letter} = {written(found.statistic)}$."
    patterns = found.patterns
    if found.estimator == "mean":
        yield f"{let} {_reason(found, patterns, 1)}"
        yield from _summed(f"\\mathbb{{E}}[{letter}]", patterns, found.value, formula)
        return
    first, second = found.averages
    yield f"{let} Its variance is the mean square less the square of the mean."
    yield f"*The mean square.* {_reason(found, patterns, 2)}"
    yield from _summed(rf"\mathbb{{E}}[{letter}^2]", patterns, second, None)
    yield "*The mean,* in the same way:"
    yield display([rf"\mathbb{{E}}[{letter}] = {written(first)}."])
    yield "*Their difference:*"
    square = written(first**2) if first else "0"
    rows = [name, *indented(broken("=", [written(second), f"-{_factor(square, first)}"]))]
    yield aligned([*rows, f"&= {formula or written(found.value)}."])


def _reason(found: Expectation, patterns: Sequence[Pattern], power: int) -> str:
    """Say why the mean of a power of the statistic is the sum that follows."""
    name = _letter(found) + (f"^{power}" if power > 1 else "")
    if not patterns:
        return "Every term has a factor with mean zero, so nothing is left:"
    if not found.by_index:
        return (
            f"Put the random factors of ${name}$ into blocks of equal entries, in every way. Each "
            "block is worth a cumulant, and what is left of the fixed matrices contracts:"
        )
    moments = _moments(found, patterns)
    if len(patterns) == 1:
        where = patterns[0].where
        if " = " not in where:
            return f"The mean of a sum is the sum of the means.{moments}"
        return (
            f"Multiply ${name}$ out. Only terms with ${_where(patterns[0])}$ have no factor of "
            f"mean zero.{moments}"
        )
    terms = "Its terms" if _all_terms(found, patterns, power) else "The terms whose mean is not 0"
    return (
        f"Multiply ${name}$ out. {terms} are of {_count(len(patterns))} kinds, by which of the "
        f"indices coincide.{moments}"
    )


def _all_terms(found: Expectation, patterns: Sequence[Pattern], power: int) -> bool:
    """Whether the patterns are all terms: with every entry 1 they give the statistic itself."""
    ones = found.statistic.replace(lambda e: isinstance(e, sp.Indexed), lambda _: sp.S.One).doit()
    return bool(sp.expand(ones**power - sp.Add(*(p.count * p.coefficient for p in patterns))) == 0)


def _moments(found: Expectation, patterns: Sequence[Pattern]) -> str:
    """What the moments in the patterns are: "With E[w^2] = σ^2"."""
    named = sorted({text for pattern in patterns for text in pattern.worth})
    values = []
    for text in named:
        if part := _MOMENT.fullmatch(text):
            value = written(found.draws[part[1]].law.raw_moment(int(part[2] or 1)))
            if width(value) <= WIDEST and value != _moment(text):
                values.append(f"${_moment(text)} = {value}$")
    return f" With {_listed(values)}:" if values else ""


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _summed(
    name: str, patterns: Sequence[Pattern], value: sp.Expr, formula: str | None
) -> Iterator[str]:
    """Tell a sum over patterns: how many terms of what, what that is, and in short."""
    rows = [name]
    for place, pattern in enumerate(patterns):
        text = _terms(pattern)
        sign = ("=" if not place else r"\quad -" if text[0] == "-" else r"\quad +") + " "
        note = (
            f" && {_where(pattern)}" if len(patterns) > 1 and pattern.where[-1:].islower() else ""
        )
        rows.append(f"&{sign}{text.lstrip('-')}{note}")
    worth = [_product(p) for p in patterns]
    result = formula or written(value)
    if 1 < len(worth) <= _MOST_TERMS:
        rows += indented(broken("=", worth))
        if _bare(" + ".join(worth)) == _bare(result):
            rows = rows[: -len(broken("=", worth))]
    yield aligned([*rows, f"&= {result}."]) if patterns else display([f"{name} = 0."])


def _bare(latex: str) -> str:
    return re.sub(r"\\,|\\cdot|[{}\s]", "", latex)


def _terms(pattern: Pattern) -> str:
    """How many terms a pattern has, and of which moments: "d(d-1) E[w^2]^2"."""
    parts = [_factor(written(c), c) for c in pattern.counts if c != 1]
    moments = [_moment(text) for text in pattern.worth]
    if pattern.coefficient != 1:
        parts.insert(0, _factor(written(pattern.coefficient), pattern.coefficient))
    return r"\,".join([*_with_powers(parts), *_with_powers(moments)]) or "1"


def _with_powers(parts: Sequence[str]) -> Iterator[str]:
    for part in dict.fromkeys(parts):
        times = parts.count(part)
        yield part if times == 1 else f"{part}^{{{times}}}"


def _product(pattern: Pattern) -> str:
    if pattern.count == 1 or pattern.value == 1:
        return _factor(written(pattern.count * pattern.value), pattern.count * pattern.value)
    count, value = (_factor(written(x), x) for x in (pattern.count, pattern.value))
    return rf"{count}\cdot {value}" if value[0].isdigit() else rf"{count}\,{value}"


def _factor(text: str, expression: sp.Expr) -> str:
    """LaTeX of a factor: in brackets where it is a sum."""
    if not isinstance(expression, sp.Add):
        return text
    return rf"\left({text}\right)" if r"\frac" in text else f"({text})"


def _moment(text: str) -> str:
    """A moment of an entry, such as E[w^4] or κ2[w], as LaTeX."""
    if found := _MOMENT.fullmatch(text):
        return rf"\mathbb{{E}}[{_spelt(found[1])}{f'^{{{found[2]}}}' if found[2] else ''}]"
    if found := re.fullmatch(r"κ(\d+)\[(\w+)\]", text):
        return rf"\kappa_{{{found[1]}}}({_spelt(found[2])})"
    text = re.sub(r"_(\w+)", r"_{\1}", text.replace(".T", r"^{\top}"))
    text = re.sub(r"\*\*(\d+)", r"^{\1}", text).replace("*", " ").replace("sum", r"\sum")
    return text.replace("tr(", r"\operatorname{tr}(")


def _spelt(name: str) -> str:
    return written(sp.Symbol(name))


def _where(pattern: Pattern) -> str:
    """Which indices coincide, as LaTeX."""
    clauses = []
    for clause in pattern.where.split("; "):
        if clause.endswith(" all different"):
            clauses.append(rf"{clause.removesuffix(' all different')}\text{{ differ}}")
        else:
            clauses.append(clause.replace("any ", r"\text{any }").replace(" != ", r"\ne "))
    return r";\ ".join(clauses)


def _letter(found: Expectation) -> str:
    taken = {s.name for s in found.statistic.free_symbols} | set(found.draws)
    return next(letter for letter in _LETTERS if letter not in taken)


def _count(number: int) -> str:
    words = "no one two three four five six seven eight nine ten eleven twelve".split()
    return words[number] if number < len(words) else str(number)
