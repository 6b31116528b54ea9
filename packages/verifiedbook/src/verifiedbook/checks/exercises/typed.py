"""What people type as an answer: numbers and formulas, read without running anything as Python.

The characters, words and sentences stand in ``typed.yaml``, from which the pages' script works as
well; `tests/answers.yaml` holds one against the other.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_TABLE: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
)
_LONGEST, _DEEPEST = 200, 30  # letters, brackets
_PLACES = 6  # of a fraction's decimal
_OTHER_NAMES = {"ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan"}
_OTHERS = {"lb": math.log2, "lg": math.log10, "abs": abs}
_NUMBER = (
    r"[1-9]\d{0,2}(?:,\d{3})+(?!\d)(?:\.\d+)?"
    r"|[1-9]\d{0,2}(?:[ \u2009\u202f\xa0]\d{3})+(?!\d)(?:\.\d+)?"
    r"|(?:\d+[.,]?\d*|\.\d+)(?:[eE][-+]?\d+)?"
)
_TOKEN = re.compile(rf"(\s*)(?:({_NUMBER})|([A-Za-z]+|%)|(.))", re.DOTALL)
_Value = Callable[[Mapping[str, float]], float]


class Unreadable(ValueError):
    """An answer that cannot be read; the message is a sentence for whoever typed it."""


@dataclass(frozen=True)
class Typed:
    """An answer that was read.

    Attributes:
        value: the number at values of the symbols, or none where it has no finite one.
        slack: half a unit of the last digit that was written, where the answer is a plain number;
            a fraction is the decimal that it equals, where that ends.
    """

    value: Callable[[Mapping[str, float]], float | None]
    slack: float


def said(what: str, *parts: str) -> str:
    """Return a sentence of the table, its places filled."""
    text: str = _TABLE["say"][what]
    for place, part in enumerate(parts):
        text = text.replace(f"{{{place}}}", part)
    return text


def read_answer(text: str, names: Sequence[str] = (), unit: str = "") -> Typed:
    """Read what somebody typed.

    Args:
        text: such as ``"2 d σ⁴"``, ``"5 %"``, ``"30 522"``, ``"sqrt(2/768)"``, ``"1e-3"``.
        names: the symbols that the question allows; without any, a unit may follow.
        unit: in which a number is wanted.

    Raises:
        Unreadable: the text is neither; the message says what is wrong with it.

    Example:
        >>> read_answer("2 d σ⁴", ["d", "sigma"]).value({"d": 3, "sigma": 2})
        96.0
        >>> read_answer("5 %").value({})
        0.05
        >>> read_answer("dunno", ["d", "sigma"])
        Traceback (most recent call last):
        verifiedbook.checks.exercises.typed.Unreadable: I do not know “dunno” here. \
Write a formula in d, sigma, such as sqrt(d)/3.
    """
    return _Reader(text, names, unit).read()


@cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    known = {*names, *_TABLE["constants"], *_TABLE["functions"], "frac"}
    known |= {other for other, name in _TABLE["names"].items() if name in names}
    return re.compile("|".join(sorted(known, key=lambda name: (-len(name), name))))


class _Reader:
    """A formula read from left to right: a sum of products of powers."""

    def __init__(self, text: str, names: Sequence[str], unit: str) -> None:
        self.names, self.unit = tuple(names), unit
        self.tokens = self._tokens(text)
        self.place = 0

    def read(self) -> Typed:
        if not self.tokens:
            raise Unreadable(said("empty"))
        value = self._sum()
        scale = self._unit()
        kind, what, _ = self.tokens[self.place] if self.place < len(self.tokens) else ("", "", "")
        if kind:
            raise Unreadable(said("close")) if what == ")" else self._strange(kind, what)

        def safely(point: Mapping[str, float]) -> float | None:
            try:
                found = value(point) * scale
            except (ArithmeticError, ValueError, TypeError):
                return None
            real = isinstance(found, int | float) and math.isfinite(found)
            return float(found) if real else None

        return Typed(safely, self._slack() * scale)

    def _tokens(self, text: str) -> list[tuple[str, str, str]]:
        """Kind (number, name, word or sign), text, and the space before it."""
        if len(text) > _LONGEST or text.count("(") > _DEEPEST:
            raise Unreadable(said("long"))
        for sign, meant in _TABLE["signs"].items():
            text = text.replace(sign, meant)
        for letter, name in _TABLE["letters"].items():
            text = text.replace(letter, name)
        small = _TABLE["superscripts"]
        text = re.sub(
            f"[{''.join(small)}]+", lambda m: f"^({''.join(small[c] for c in m[0])})", text
        )
        found: list[tuple[str, str, str]] = []
        for space, number, word, sign in _TOKEN.findall(text.strip()):
            if number:
                found.append(("number", number, space))
            elif word:
                parts = _pattern(self.names).findall(word)
                if "".join(parts) == word:
                    found += [("name", _TABLE["names"].get(part, part), space) for part in parts]
                else:
                    found.append(("word", word, space))
            else:
                found.append(("sign", sign, space))
        return found

    def _next(self, *signs: str) -> bool:
        """Step over the next token where it is one of these signs."""
        here = self.place < len(self.tokens) and self.tokens[self.place][:2] in [
            ("sign", sign) for sign in signs
        ]
        self.place += here
        return here

    def _starts(self) -> bool:
        if self.place == len(self.tokens):
            return False
        kind, what, _ = self.tokens[self.place]
        return kind in ("number", "name") or what == "("

    def _sum(self) -> _Value:
        value = self._product()
        while self._next("+", "-"):
            minus = self.tokens[self.place - 1][1] == "-"
            value = _joined(operator.sub if minus else operator.add, value, self._product())
        return value

    def _product(self) -> _Value:
        start, value, divided = self.place, self._signed(), False
        while True:
            if self._next("*"):
                value, divided = _joined(operator.mul, value, self._signed()), False
            elif self._next("/"):
                value, divided = _joined(operator.truediv, value, self._signed()), True
            elif self._starts():
                kinds = [kind for kind, _, _ in self.tokens[start : self.place]]
                fraction = kinds == ["number", "sign", "number"] and self.tokens[self.place][2]
                if divided and not fraction:  # 4/5 d is one; n/12d may be two things
                    raise Unreadable(said("divided"))
                value, divided = _joined(operator.mul, value, self._power()), False
            else:
                return value

    def _signed(self) -> _Value:
        if self._next("-"):
            return _joined(operator.sub, _constant(0.0), self._signed())
        return self._signed() if self._next("+") else self._power()

    def _power(self) -> _Value:
        base = self._atom()
        return _joined(operator.pow, base, self._signed()) if self._next("^") else base

    def _atom(self) -> _Value:
        if self._next("("):
            value = self._sum()
            if not self._next(")"):
                raise self._missing()
            return value
        if self.place == len(self.tokens):
            raise Unreadable(said("ends"))
        kind, what, _ = self.tokens[self.place]
        self.place += 1
        if kind == "number":
            return _constant(float(_plain(what)))
        if kind == "name" and what in _TABLE["functions"]:
            return self._call(what)
        if kind == "name" and what == "frac":
            return _joined(operator.truediv, self._atom(), self._atom())
        if kind == "name" and what in _TABLE["constants"] and what not in self.names:
            return _constant(_TABLE["constants"][what])
        if kind == "name":
            return lambda point: point[what]
        raise self._strange(kind, what)

    def _call(self, name: str) -> _Value:
        bracket = self.place < len(self.tokens) and self.tokens[self.place][1] == "("
        inside = self._atom() if bracket else self._power()
        if not bracket and self._starts():
            raise Unreadable(said("call", name))
        name = _OTHER_NAMES.get(name, name)
        function: Any = _OTHERS.get(name) or getattr(math, name)
        return lambda point: function(inside(point))

    def _unit(self) -> float:
        """Step over a unit at the end of a number; return what it is times."""
        if self.names or self.place == len(self.tokens):
            return 1.0
        kind, what, _ = self.tokens[self.place]
        if kind != "word" or self.place + 1 < len(self.tokens):
            return 1.0
        self.place += 1
        if what == self.unit:
            return 1.0
        if what not in _TABLE["units"]:
            raise Unreadable(said("unit", self.unit)) if self.unit else self._strange(kind, what)
        return float(_TABLE["units"][what]) / float(_TABLE["units"].get(self.unit, 1))

    def _slack(self) -> float:
        """Half a unit of the last digit of a plain number."""
        plain = [what for kind, what, _ in self.tokens if kind == "number"]
        others = {what for kind, what, _ in self.tokens if kind in ("name", "sign")} - {"+", "-"}
        if len(plain) == 2 and others == {"/"}:
            return _slack_of_fraction(*(float(_plain(number)) for number in plain))
        if len(plain) != 1 or others:
            return 0.0
        digits, _, power = _plain(plain[0]).lower().partition("e")
        return 0.5 * 10.0 ** min(300, int(power or 0) - len(digits.partition(".")[2]))

    def _missing(self) -> Unreadable:
        if self.place == len(self.tokens):
            return Unreadable(said("ends"))
        return self._strange(*self.tokens[self.place][:2])

    def _strange(self, kind: str, what: str) -> Unreadable:
        if what == ")":
            return Unreadable(said("ends"))
        wanted = f"a formula in {', '.join(self.names)}" if self.names else "a number"
        like = f"sqrt({self.names[0]})/3" if self.names else "0.05, 5 %, 3/4 or sqrt(2)"
        return Unreadable(said("word" if kind == "word" else "letter", what, wanted, like))


def _plain(number: str) -> str:
    """A number without the spaces and commas of its thousands, with a decimal point."""
    number = re.sub(r"[ \u2009\u202f\xa0]", "", number)
    grouped = re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+(\.\d+)?", number)
    return number.replace(",", "" if grouped else ".")


def _slack_of_fraction(above: float, below: float) -> float:
    """Half a unit of the last digit of a fraction, 0.05 for 1/2; none where the digits go on."""
    for places in range(_PLACES if below else 0):
        shifted = above / below * 10**places
        if abs(shifted - round(shifted)) < 1e-9:
            return 0.5 * 10.0**-places
    return 0.0


def _constant(number: float) -> _Value:
    return lambda point: number


def _joined(operation: Callable[[float, float], float], left: _Value, right: _Value) -> _Value:
    return lambda point: operation(left(point), right(point))
