"""Chains of checked steps and inductions, told in words and displays."""

from __future__ import annotations

from collections.abc import Iterator

from ...derivations import Derived
from ...induction import Solved
from .layout import aligned, display, indented, lines, rows, sentence, words
from .writing import written


def by_steps(derived: Derived, formula: str | None) -> Iterator[str]:
    """Tell a chain: the definition, then each step's reason and what then stands there.

    Args:
        derived: the chain.
        formula: LaTeX of the result as the reader knows it.
    """
    start, *steps = derived.steps
    yield f"*{sentence(derived.quantity)}.* By definition:"
    yield display(lines("", start.expression)) if not steps else rows("", start.expression)
    for step in steps:
        last = step is steps[-1]
        yield f"{sentence(step.reason)}:"
        if last and formula:
            same = written(step.expression).replace(" ", "") == formula.replace(" ", "")
            shown = "" if same else written(step.expression) + " = "
            yield display([f"= {shown}{formula}."])
        else:
            yield rows("=", step.expression, "." if last else "")


def by_induction(solved: Solved, formula: str | None) -> Iterator[str]:
    """Tell an induction: base, step, and the closed form put into it.

    Args:
        solved: the recursion with its closed form.
        formula: LaTeX of the closed form as the reader knows it.
    """
    it = solved.induction
    over, value = written(it.over), solved.value
    closed = formula or written(value)
    (_, base, _), (_, step, then) = it.both_sides(it.start, it.first, it.rule, value)
    what = words(solved.quantity)
    yield f"*By induction over ${over}$.* Write $u_{over}$ for the {what}. It begins with"
    yield display([f"u_{{{written(it.start)}}} = {written(base)},"])
    yield "and one step makes of a value $u_t$ the next:"
    yield rows("u_{t+1} =", it.rule, ".")
    yield f"The closed form $u_{over} = {closed}$ begins there, too, and put into the step it gives"
    yield aligned(["u_{t+1}", *indented(lines("=", step)), *indented(lines("=", then))], ",")
    yield "which is itself, one place further."
