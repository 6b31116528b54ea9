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

import mpmath
import sympy as sp

from ..formulas.evaluation import Approximation, Point
from ..laws.discrete import Discrete
from ..laws.law import Law, MissingMoment, put
from .polynomials import Array, Definition, Index, Tensor

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

    numbers, sizes, matrices = definition.at(point)
    statistic = definition.statistic.xreplace(numbers)
    degree = 0
    cells: dict[Cell, tuple[np.ndarray, np.ndarray]] = {}
    for tensor in definition.draws.values():
        degree += power * _degree(statistic, tensor)
        rule = tensor.law.at(point).nodes(power * _degree(statistic, tensor))
        cells |= dict.fromkeys(_cells(definition, tensor, sizes), rule)
    lengths = [len(values) for values, _ in cells.values()]
    size = math.prod(lengths)
    if size > largest:
        raise GridTooLarge(f"point: the grid has {size} nodes; accepted: at most {largest}")
    positive = statistic.xreplace({x: abs(x) for x in statistic.atoms(sp.Number)})
    literal, magnitude = _literal(statistic, sizes), _literal(positive, sizes)
    absolute = {name: abs(array) for name, array in matrices.items()}
    weights, values, errors = np.ones(size), np.empty(size), np.empty(size)
    rounding = _ROUNDING * (size.bit_length() + degree)
    for start in range(0, size, _CHUNK):
        block = np.arange(start, min(start + _CHUNK, size))
        arrays: dict[str, dict[Any, np.ndarray]] = defaultdict(dict)
        places = np.unravel_index(block, lengths) if lengths else ()
        for ((name, at), (abscissae, shares)), place in zip(cells.items(), places, strict=True):
            arrays[name][..., *at] = abscissae[place]
            weights[block] *= shares[place]
        values[block] = literal({**matrices, **arrays}, {})
        for entries in arrays.values():
            entries.update((at, abs(x)) for at, x in entries.items())
        errors[block] = rounding * magnitude({**absolute, **arrays}, {})
    return weights, values, errors


def _node_by_node(definition: Definition, power: int, point: Point) -> Approximation:
    """Brute force where there is no NumPy: the same sum, one node after the other."""
    numbers, sizes, _ = definition.at(point)
    statistic = definition.statistic.xreplace(numbers)
    cells: dict[Cell, list[tuple[float, float]]] = {}
    for tensor in definition.draws.values():
        rule = _rule(tensor.law, point, power * _degree(statistic, tensor))
        cells |= dict.fromkeys(_cells(definition, tensor, sizes), rule)
    size = math.prod(map(len, cells.values()))
    if size > CHEAP:
        raise GridTooLarge(f"point: the grid has {size} nodes; accepted: at most {CHEAP}")
    literal, found = _literal(statistic, sizes), []
    for run in product(*cells.values()):
        arrays: dict[str, dict[Any, float]] = defaultdict(dict)
        for (name, at), (node, _) in zip(cells, run, strict=True):
            arrays[name][..., *at] = node
        found.append((math.prod(share for _, share in run), literal(arrays, {})))
    value = math.fsum(share * x for share, x in found)
    if power == 2:
        value = math.fsum(share * (x - value) ** 2 for share, x in found)
    total = math.fsum(share * abs(x) ** power for share, x in found)
    return Approximation(value, 10 * _ROUNDING * size.bit_length() * total)


def _rule(law: Law, point: Point, degree: int) -> list[tuple[float, float]]:
    """Gauss nodes and weights from a law's moments (Golub and Welsch, 1969), without NumPy."""
    if isinstance(law, Discrete):
        pairs = zip(law.values, law.probabilities, strict=True)
        return [(float(put(v, point)), float(put(p, point))) for v, p in pairs]

    def moment(k: int) -> Any:
        try:
            return mpmath.mpf(str(sp.N(put(law.raw_moment(k), point), 50)))
        except MissingMoment:
            if k % 2:  # only moments are known of it: take it as symmetric
                return mpmath.mpf(0)
            raise

    with mpmath.workdps(50):
        n = degree // 2 + 1
        moments = [moment(k) for k in range(2 * n)]
        root = mpmath.cholesky(mpmath.matrix([moments[i : i + n] for i in range(n)]))
        inverse = mpmath.inverse(root)
        shifted = mpmath.matrix([moments[i + 1 : i + 1 + n] for i in range(n)])
        values, vectors = mpmath.eigsy(inverse * shifted * inverse.T)
        return [(float(values[j]), float(vectors[0, j] ** 2)) for j in range(n)]


def _cells(definition: Definition, tensor: Tensor, sizes: Mapping[Index, int]) -> Iterator[Cell]:
    """Yield name and place of the entries that are used; a fixed index is 0 there."""
    summed = {i for node in definition.statistic.atoms(sp.Sum) for i in node.variables}
    for entry in definition.entries:
        if entry.base.label == tensor:
            own = list(dict.fromkeys(entry.indices))
            for run in product(*(range(sizes[i] if i in summed else 1) for i in own)):
                yield tensor.name, tuple(run[own.index(i)] for i in entry.indices)


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
