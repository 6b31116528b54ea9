"""Whether an exercise is sound: its answer follows from what is proved, and is judged right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Any

import sympy as sp

from ...account import registry
from ...account.questions import Question
from ...exact.definitions import definition
from ...exact.displays import relations
from ...exact.displays.marks import Unread
from ...exact.displays.names import Names
from ...exact.formulas.evaluation import equivalent, number
from ...exact.formulas.notation import parse, symbols
from ...exact.moments import Expectation
from .answers import functions, judge_answer

_MATHS = re.compile(r"\$+([^$]+)\$+( [mb]illion)?")
_IMPORTS = """import io, itertools, re
import numpy as np, torch
import torch.nn.functional as F
from scipy import special
from torch import nn
from torch.utils.flop_counter import FlopCounterMode"""  # what says which choice is right may use


def exercise_faults(asked: Question) -> list[str]:
    """Say what is wrong with an exercise; nothing where it is sound.

    Its answer must follow from its claim or its definition, and be judged right; each known wrong
    answer must be judged wrong, with the words that are meant for it. What its solution says that
    numbers make has to be so.
    """
    found = [*_false_numbers(asked)]
    if asked.kind == "open":
        return [f"{asked.id}: {fault}" for fault in found]
    if asked.kind == "function":
        right, wrong = functions(asked)
        answers: list[Any] = [right, *wrong.values()]
    else:
        answers = [asked.answer, *asked.known]
    found += _unfounded(asked) if asked.because else []
    if asked.right and (letters := _right_letters(asked)) != [asked.answer]:
        found.append(f"the answer is {asked.answer}, and what is right {letters}")
    if not judge_answer(asked, answers[0]):
        found.append(f"the answer {asked.answer} is judged wrong")
    for answer, (text, say) in zip(answers[1:], asked.known.items(), strict=True):
        judgement = judge_answer(asked, answer)
        if judgement.right or judgement.say != say:
            found.append(f"{text} is told {judgement.say!r}, not {say!r}")
    return [f"{asked.id}: {fault}" for fault in found]


def _false_numbers(asked: Question) -> Iterator[str]:
    """What a solution says of numbers and is not so: sums with their results, and ``numbers``."""
    for formula, millions in _MATHS.findall(asked.solution):
        with suppress(Unread):
            sides = relations.members(formula.replace("=", r"\approx"), Names())
            for pair in pairwise(sides):
                if not (millions or any(side.value.free_symbols for side in pair)):
                    yield from relations.faults(pair, {}, None)
    names: dict[str, Any] = {"said": {}}
    exec(f"{_IMPORTS}\n{asked.numbers}" if asked.numbers else "", names)
    for text, value in names["said"].items():
        number, unit = re.sub(r"[ %]", "", text), 0.01 if "%" in text else 1
        places = len(number.partition(".")[2]) or len(number.rstrip("0")) - len(number)
        if abs(value - float(number) * unit) > 0.501 * unit * 10.0**-places:
            yield f"{text} is {value:.6g}"
        if not re.search(rf"(?<![\d.]){re.escape(text)}(?![\d]|\.\d)", asked.solution):
            yield f"{text} is computed, and the solution does not say it"


def _right_letters(asked: Question) -> list[str]:
    names: dict[str, Any] = {}
    exec(f"{_IMPORTS}\n{asked.right}", names)
    return [x for x, text in asked.choices.items() if names["right"](text.strip("$`"))]


def _unfounded(asked: Question) -> list[str]:
    wanted = parse(asked.answer)
    if "solves" in asked.because:
        left = parse(asked.because["solves"]).subs(symbols(asked.because["for"]), wanted)
        return [] if equivalent(left, sp.S.Zero) else [f"{wanted} does not solve the equation"]
    source = _source(asked.because)
    if asked.kind == "number":
        follows, said = number(source, {}), number(wanted, {})
        if follows is not None and said is not None and abs(follows - said) <= 1e-9 * abs(said):
            return []
        told = "nothing" if follows is None else sp.N(follows, 8)
        return [f"answer {sp.N(wanted, 8)}, but {told} follows"]
    same = equivalent(source, wanted)
    return [] if same else [f"answer {wanted}, but {source} follows"]


def _source(because: Mapping[str, Any]) -> sp.Expr:
    """The formula that follows from a claim or from a definition, at the values that are given."""
    if "claim" in because:
        formula = _claimed(because["claim"])
    else:
        built = definition(because["quantity"], because.get("where", {}))
        formula = built.value if isinstance(built, Expectation) else built
    values = {symbols(name): parse(str(value)) for name, value in because.get("at", {}).items()}
    formula = formula.subs(values, simultaneous=True)
    return parse(because["then"]).subs(symbols("x"), formula) if "then" in because else formula


def _claimed(name: str) -> sp.Expr:
    match = re.fullmatch(registry.PART, name)
    if match is None:
        raise ValueError(f"claim: got {name!r}; accepted: LOSS-14, LOSS-12[square], LOSS-15.truth")
    reading = registry.reading_of(match["id"], match["case"])
    return parse(registry.formula_of(reading, match["part"]))
