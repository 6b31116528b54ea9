"""The judge: do a formula and its definition agree, at which points, and which mutants fell?

Pure functions of a formula, its mutants, an oracle and points. They decide and report; what a
failure is called, and how a record shows it, is the business of those who ask.
"""

from .counting import judge_counted
from .definition import (
    Breaking,
    Comparison,
    Judgement,
    MeasuredJudgement,
    Oracle,
    approximation,
    break_definitions,
    compare,
    comparisons,
    digits_match,
    judge,
    judge_measured,
)
from .typed import is_constant, is_typed, typed_formula
from .vacuous import refuse_nothing

__all__ = [
    "Breaking",
    "Comparison",
    "Judgement",
    "MeasuredJudgement",
    "Oracle",
    "approximation",
    "break_definitions",
    "compare",
    "comparisons",
    "digits_match",
    "is_constant",
    "is_typed",
    "judge",
    "judge_counted",
    "judge_measured",
    "refuse_nothing",
    "typed_formula",
]
