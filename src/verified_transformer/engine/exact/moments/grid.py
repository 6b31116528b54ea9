"""Brute force: a definition as written, on a tensor grid of Gauss nodes over all its entries.

Nothing is multiplied out, and nothing is shared with the two routes.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from itertools import product
from typing import TYPE_CHECKING, Any

import sympy as sp

from ..formulas.evaluation import Approximation, Point
from ..laws.gauss import Rule
from .polynomials import Array, Definition, Index

if TYPE_CHECKING:
    import numpy as np

NUMPY = find_spec("numpy") is not None  # in the published page there is none
LARGEST, CHEAP, _CHUNK = 2_000_000, 200_000, 1 << 16  # nodes
_ROUNDING = 2e-14  # relative, per degree of the polynomial and doubling of the grid
_TRIES = 40  # random points looked at to find two at which the laws exist and the grid is small

Arrays = Mapping[str, Any]  # numbers by name and place
Cell = tuple[str, tuple[int, ...]]  # name of a tensor, place of an entry


class GridTooLarge(ValueError):
    """The grid has more nodes than allowed."""


def brute_force(definition: Definition, estimator: str, point: Point) -> Approximation:
    """Evaluate the mean or the variance of a definition at a point, with a bound for rounding."""
    if not NUMPY:
        return _node_by_node(definition, 1 if estimator == "mean" else 2, point)
    if estimator == "mean":
        weights, values, errors = nodes(definition, point, 1)
        return Approximation(float(weights @ values), float(weights @ errors))
    weights, values, errors = nodes(definition, point, 2)
    values = values - weights @ values
    error = weights @ (2 * abs(values) * errors + errors**2)
    return Approximation(float(weights @ values**2), float(error))


def evaluate(definition: Definition, arrays: Mapping[str, np.ndarray], point: Point) -> np.ndarray:
    """Evaluate a statistic as defined, by literal summation: one number per replicate."""
    numbers, sizes, matrices = definition.at(point)
    for name, tensor in definition.draws.items():
        if name not in arrays:
            raise ValueError(f"arrays: got none for {name}; accepted: one for every random tensor")
        shape = tuple(int(size.subs(numbers)) for size in tensor.sizes)
        if arrays[name].shape[1:] != shape:
            raise ValueError(
                f"arrays: got {name} of shape {arrays[name].shape}; accepted: (n, *{shape})"
            )
    literal = _literal(definition.statistic.xreplace(numbers), sizes)
    found: np.ndarray = literal({**matrices, **arrays}, {})
    return found


def points_and_values(
    definition: Definition, value: Callable[[Point], Approximation]
) -> Iterator[tuple[dict[Any, Any], Approximation]]:
    """Yield points, the same in every run, at which brute force is possible, and its values."""
    integers = [s for s in definition.symbols if s.is_integer]
    for seed in range(_TRIES):
        source = random.Random(seed)
        point: dict[Any, Any] = {
            s: sp.Rational(source.randint(60, 240), 100) for s in definition.symbols
        }
        sizes = source.sample(range(2, 3 + len(integers)), len(integers))
        point |= zip(integers, sizes, strict=True)
        if definition.matrices:
            import numpy as np

            noise = np.random.default_rng(seed)
        for matrix in definition.matrices:
            point[matrix] = noise.normal(size=[int(s.xreplace(point)) for s in matrix.sizes])
        try:
            yield point, value(point)
        except ValueError:  # there is no such law, or the grid is too large
            continue


def nodes(
    definition: Definition, point: Point, power: int, largest: int = LARGEST
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weights, values and rounding errors, exact to a power of the statistic.

    Raises:
        GridTooLarge: more than ``largest`` nodes are needed.
    """
    import numpy as np

    statistic, sizes, matrices, cells = _cells(definition, point, power)
    size = _size(cells, largest)
    positive = statistic.xreplace({x: abs(x) for x in statistic.atoms(sp.Number)})
    literal, magnitude = _literal(statistic, sizes), _literal(positive, sizes)
    absolute = {name: abs(array) for name, array in matrices.items()}
    weights, values, errors = np.ones(size), np.empty(size), np.empty(size)
    degree = power * sum(_degree(statistic, tensor) for tensor in definition.draws.values())
    rounding = _ROUNDING * (size.bit_length() + degree)
    lengths = [len(values) for values, _ in cells.values()]
    for start in range(0, size, _CHUNK):
        block = np.arange(start, min(start + _CHUNK, size))
        arrays: dict[str, dict[Any, np.ndarray]] = defaultdict(dict)
        places = np.unravel_index(block, lengths) if lengths else ()
        for ((name, at), (abscissae, shares)), place in zip(cells.items(), places, strict=True):
            arrays[name][..., *at] = np.array(abscissae)[place]
            weights[block] *= np.array(shares)[place]
        values[block] = literal({**matrices, **arrays}, {})
        for entries in arrays.values():
            entries.update((at, abs(x)) for at, x in entries.items())
        errors[block] = rounding * magnitude({**absolute, **arrays}, {})
    return weights, values, errors


def _node_by_node(definition: Definition, power: int, point: Point) -> Approximation:
    """Brute force where there is no NumPy: the same sum, one node after the other."""
    statistic, sizes, _, cells = _cells(definition, point, power)
    size = _size(cells, CHEAP)
    literal, found = _literal(statistic, sizes), []
    for run in product(*(zip(*rule, strict=True) for rule in cells.values())):
        arrays: dict[str, dict[Any, float]] = defaultdict(dict)
        for (name, at), (node, _) in zip(cells, run, strict=True):
            arrays[name][..., *at] = node
        found.append((math.prod(share for _, share in run), literal(arrays, {})))
    value = math.fsum(share * x for share, x in found)
    if power == 2:
        value = math.fsum(share * (x - value) ** 2 for share, x in found)
    total = math.fsum(share * abs(x) ** power for share, x in found)
    return Approximation(value, 10 * _ROUNDING * size.bit_length() * total)


def _cells(
    definition: Definition, point: Point, power: int
) -> tuple[sp.Expr, dict[Index, int], dict[str, np.ndarray], dict[Cell, Rule]]:
    """The statistic in numbers, sizes, matrices, and for each entry that is used its Gauss rule.

    A fixed index is 0 there.
    """
    numbers, sizes, matrices = definition.at(point)
    statistic = definition.statistic.xreplace(numbers)
    summed = {i for node in definition.statistic.atoms(sp.Sum) for i in node.variables}
    cells: dict[Cell, Rule] = {}
    for tensor in definition.draws.values():
        rule = tensor.law.at(point).nodes(power * _degree(statistic, tensor))
        for entry in definition.entries:
            if entry.base.label == tensor:
                own = list(dict.fromkeys(entry.indices))
                for run in product(*(range(sizes[i] if i in summed else 1) for i in own)):
                    cells[tensor.name, tuple(run[own.index(i)] for i in entry.indices)] = rule
    return statistic, sizes, matrices, cells


def _size(cells: Mapping[Cell, Rule], largest: int) -> int:
    size = math.prod(len(nodes) for nodes, _ in cells.values())
    if size > largest:
        raise GridTooLarge(f"point: the grid has {size} nodes; accepted: at most {largest}")
    return size


def _degree(node: sp.Expr, array: Array) -> int:
    if isinstance(node, sp.Indexed):
        return int(node.base.label == array)
    below = [_degree(part, array) for part in node.args] or [0]
    if isinstance(node, sp.Pow) and below[0]:
        return below[0] * int(node.exp)
    return sum(below) if isinstance(node, sp.Mul) else max(below)


def _literal(
    node: sp.Expr, sizes: Mapping[Index, int]
) -> Callable[[Arrays, Mapping[Index, int]], Any]:
    """Return the function of (arrays by name, values of indices) that a numeric statistic is.

    Sums are loops over their indices; a fixed index takes its first value.
    """
    if isinstance(node, sp.Indexed):
        name, indices = node.base.label.name, node.indices
        return lambda arrays, at: arrays[name][(..., *(at.get(i, 0) for i in indices))]
    if not node.has(sp.Indexed):
        value = float(node)
        return lambda arrays, at: value
    if isinstance(node, sp.Sum):
        body, indices = _literal(node.function, sizes), node.variables
        runs = [*product(*(range(sizes[i]) for i in indices))]
        places = [dict(zip(indices, run, strict=True)) for run in runs]
        return lambda arrays, at: sum(body(arrays, {**at, **place}) for place in places)
    if isinstance(node, sp.Pow):
        base, power = _literal(node.base, sizes), int(node.exp)
        return lambda arrays, at: base(arrays, at) ** power
    parts = [_literal(part, sizes) for part in node.args]
    if isinstance(node, sp.Add):
        return lambda arrays, at: sum(part(arrays, at) for part in parts)
    return lambda arrays, at: math.prod(part(arrays, at) for part in parts)
