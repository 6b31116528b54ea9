"""Wrong versions of a formula: the inputs that every check must reject.

A check that accepts the right formula and all its mutants has tested nothing. The operators follow
the mistakes that people make: a constant off by one, doubled, 1 % off or with the wrong sign; an
exponent off by one; a dropped term or factor; swapped symbols; an off-by-one in a dimension; a
standard deviation where a variance belongs; fan-in where fan-out belongs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import sympy as sp

from .evaluation import equivalent, number_at, random_points

_ONE_PERCENT = sp.Rational(101, 100)


@dataclass(frozen=True)
class Mutant:
    """A formula that differs from the original by one mistake, named by ``label``."""

    label: str
    formula: sp.Expr


def formula_mutants(formula: sp.Expr, at_most: int | None = None) -> list[Mutant]:
    """List the formula's mutants, each different from the formula and from every other one.

    Args:
        formula: the formula of a reading, or the definition in which mistakes are to be planted.
        at_most: consider only about so many, spread evenly over the formula.

    Returns:
        Mutants in a fixed order. Equivalent ones and ones without a finite value are left out, and
        sums and products whose ends are no whole numbers apart, which SymPy evaluates for hours.

    Raises:
        TypeError: ``formula`` is not a SymPy expression.
        ValueError: ``at_most`` is less than 1.

    Example:
        >>> from verifiedbook import parse
        >>> [mutant.label for mutant in formula_mutants(parse("d"))]
        ['whole doubled', 'whole + 1 %', 'sign of the whole', 'whole + 1', 'whole - 1']
    """
    if not isinstance(formula, sp.Basic):
        raise TypeError(f"formula: got {type(formula).__name__}; accepted: a SymPy expression")
    if at_most is not None and at_most < 1:
        raise ValueError(f"at_most: got {at_most}; accepted: 1 or more")
    point = tuple(random_points(formula, count=1)[0].items())
    candidates = {changed: label for label, changed in reversed(list(_changes(formula)))}
    ordered = [(label, changed) for changed, label in reversed(candidates.items())]
    step = max(1, len(ordered) // at_most) if at_most else 1
    return [
        Mutant(label, changed)
        for label, changed in ordered[::step]
        if not _has_broken_end(changed)
        and number_at(changed, point) is not None
        and not equivalent(changed, formula)
    ]


def _has_broken_end(formula: sp.Expr) -> bool:
    """Whether a sum or a product runs from or to a number between two whole ones."""
    ends = (end for run in formula.atoms(sp.Sum, sp.Product) for _, *both in run.limits
            for end in both)  # fmt: skip
    return any(end.is_Rational and not end.is_Integer for end in ends)


def _changes(formula: sp.Expr) -> Iterator[tuple[str, sp.Expr]]:
    yield "whole + 1", formula + 1
    yield "whole - 1", formula - 1
    yield "whole doubled", 2 * formula
    yield "whole + 1 %", _ONE_PERCENT * formula
    yield "sign of the whole", -formula
    for first, second in combinations(sorted(formula.free_symbols, key=lambda s: s.name), 2):
        swapped = formula.subs({first: second, second: first}, simultaneous=True)
        yield f"{first} and {second} swapped", swapped
    for path, node in _nodes(formula):
        for label, replacement in _node_changes(node, path, formula):
            yield label, _replace(formula, path, replacement)


def _nodes(
    formula: sp.Basic, path: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], sp.Basic]]:
    yield path, formula
    for index, argument in enumerate(formula.args):
        if isinstance(formula, sp.Tuple) and index == 0:
            continue  # the bound variable of an integral or a sum
        yield from _nodes(argument, (*path, index))


def _replace(formula: sp.Basic, path: tuple[int, ...], new: sp.Basic) -> sp.Basic:
    if not path:
        return new
    arguments = list(formula.args)
    arguments[path[0]] = _replace(arguments[path[0]], path[1:], new)
    return formula.func(*arguments)


def _node_changes(
    node: sp.Basic, path: tuple[int, ...], formula: sp.Expr
) -> Iterator[tuple[str, sp.Basic]]:
    if node.is_Number and path:
        yield f"{node} -> {node + 1}", node + 1
        yield f"{node} -> {node - 1}", node - 1
        yield f"{node} doubled", 2 * node
        yield f"{node} + 1 %", _ONE_PERCENT * node
        yield f"sign of {node}", -node
    elif node is sp.pi:
        yield "pi -> 3", sp.Integer(3)
        yield "pi doubled", 2 * sp.pi
    elif node.is_Symbol and node in formula.free_symbols:
        if node.is_integer:
            yield f"{node} -> {node} + 1", node + 1
            yield f"{node} -> {node} - 1", node - 1
        else:
            yield f"{node} squared", node**2
            yield f"root of {node}", sp.sqrt(node)
    elif isinstance(node, sp.Pow):
        yield f"exponent {node.exp} + 1 on {node.base}", node.base ** (node.exp + 1)
        yield f"exponent {node.exp} - 1 on {node.base}", node.base ** (node.exp - 1)
        yield f"exponent {node.exp} dropped on {node.base}", node.base
    elif isinstance(node, sp.Add | sp.Mul):
        part = "term" if isinstance(node, sp.Add) else "factor"
        for argument in node.args:
            yield f"{part} {argument} dropped", node.func(*[a for a in node.args if a != argument])
            if part == "term":
                yield f"sign of {part} {argument}", node - 2 * argument
    elif isinstance(node, sp.exp):
        yield f"{node} dropped", sp.Integer(1)
    elif isinstance(node, sp.erf | sp.erfc):
        other = sp.erfc if isinstance(node, sp.erf) else sp.erf
        yield f"{node} -> {other.__name__}", other(*node.args)
        yield f"argument of {node} by root 2", node.func(sp.sqrt(2) * node.args[0])
