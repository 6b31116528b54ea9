"""What a family stores, reads and multiplies at a point: oracles that build it and count.

A point gives the sizes by their letters: n tokens of length d; k factors of q columns, and of m
rows where tokens share them; the rank r. A size that a point leaves out is small, and has no say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from ....exact.formulas.notation import symbols
from ....exact.laws import Normal
from ....exact.moments import Tensor
from ....models import Count
from ....sampling.quantities import Sampled
from ....seeds import generator
from . import shapes, work

Point = Mapping[Any, Any]
Oracle = Callable[[Point], int]

_SMALL = {"n": 11, "d": 7, "m": 6, "k": 4, "q": 3, "r": 2}
_STACKED = ("own", "shared", "inner")  # factors of one shape, one after another


def _sizes(point: Point) -> dict[str, int]:
    return _SMALL | {str(letter): int(value) for letter, value in point.items()}


def shapes_at(family: str, point: Point, rank: int | None = None) -> shapes.Shapes:
    """Return the shapes of a family's factors.

    Args:
        family: one of `work.FAMILIES`.
        point: sizes by their symbols.
        rank: in the place of the point's r.

    Raises:
        ValueError: there is no such family.

    Example:
        >>> n, d, r = symbols("n d r")
        >>> shapes_at("low-rank", {n: 5, d: 4, r: 2})
        [(5, 2), (2, 4)]
    """
    at = _sizes(point)
    rank = at["r"] if rank is None else rank
    rows, lengths = [at["m"]] * at["k"], [at["q"]] * at["k"]
    made: dict[str, Callable[[], shapes.Shapes]] = {
        "dense": lambda: [(at["n"], at["d"])],
        "low-rank": lambda: shapes.low_rank(at["n"], at["d"], rank),
        "product": lambda: shapes.product(at["n"], lengths, rank),
        "kronecker": lambda: shapes.kronecker(rows, lengths, rank),
        "train": lambda: shapes.tensor_train(rows, lengths, rank),
    }
    if family not in made:
        raise ValueError(f"family: got {family!r}; accepted: {', '.join(made)}")
    return made[family]()


def numbers_stored(family: str) -> Oracle:
    """Return how many entries the arrays of a family have, as a function of a point.

    Example:
        >>> n, d, r = symbols("n d r")
        >>> numbers_stored("low-rank")({n: 5, d: 4, r: 2})
        18
    """
    return lambda point: shapes.stored(shapes_at(family, point))


def squares_read(family: str) -> Sampled:
    """Return the sum of squares of all rows that are read, from factors with normal entries.

    Args:
        family: one that has factors. An entry that is read twice, or never, is seen.
    """
    n, d, m, k, q, r = symbols("n d m k q r")
    drawn: dict[str, dict[str, tuple[Any, ...]]] = {
        "low-rank": {"codes": (n, r), "basis": (r, d)},
        "product": {"own": (k, n, r, q)},
        "kronecker": {"shared": (k, m, r, q)},
        "train": {"first": (m, q, r), "inner": (k - 2, m, r, q, r), "last": (m, r, q)},
    }
    tensors = {name: Tensor(name, Normal(0, 1), *shape) for name, shape in drawn[family].items()}

    def read_all(**factors: torch.Tensor) -> torch.Tensor:
        found = torch.zeros(())
        for name, factor in factors.items():
            axis = 2 if name in _STACKED else 1
            every = torch.arange(factor.shape[axis], device=factor.device)
            found = found + factor.index_select(axis, every).flatten(1).square().sum(-1)
        return found

    return Sampled("sum of squares of all rows", tensors, read_all, replicates=1 << 11)


def break_even(family: str) -> Callable[[Point], float]:
    """Return the rank at which a family stores as much as the table, as a function of a point.

    Example:
        >>> n, d = symbols("n d")
        >>> break_even("low-rank")({n: 6, d: 3})
        2.0
    """

    def rank(point: Point) -> float:
        at = _sizes(point)
        rows = at["n"] if family in work.OWN_ROWS else at["m"] ** at["k"]
        width = at["d"] if family == "low-rank" else at["q"] ** at["k"]
        return shapes.rank_of_break_even(
            lambda rank: shapes.stored(shapes_at(family, point, rank)), rows * width
        )

    return rank


def filled(made: shapes.Shapes, name: str) -> list[torch.Tensor]:
    """Return factors of these shapes with normal entries, in double precision."""
    source = generator(name)
    return [torch.randn(shape, generator=source, dtype=torch.float64) for shape in made]


def factors_at(family: str, point: Point) -> list[torch.Tensor]:
    """Return a family's factors with normal entries, in double precision.

    Example:
        >>> n, d, r = symbols("n d r")
        >>> [tuple(factor.shape) for factor in factors_at("low-rank", {n: 5, d: 4, r: 2})]
        [(5, 2), (2, 4)]
    """
    return filled(shapes_at(family, point), family)


def multiplications_of(family: str, made: shapes.Shapes, width: int) -> tuple[int, int]:
    """Return the multiplications of one lookup and of all logits of one hidden state.

    Args:
        family: one of `work.FAMILIES`.
        made: shapes of its factors.
        width: d.

    Example:
        >>> multiplications_of("low-rank", [(11, 3), (3, 7)], 7)
        (21, 54)
    """
    factors = filled(made, family)
    indices = work.indices_of(family, factors, torch.tensor([5]))
    hidden = torch.ones(width, dtype=torch.float64)
    with Count() as lookup:
        work.looked_up(family, factors, indices)
    with Count() as head:
        work.logits(family, factors, hidden)
    return lookup.multiplications, head.multiplications


def in_lookup(family: str, what: str) -> Oracle:
    """Return what one lookup takes, as a function of a point.

    Args:
        family: one of `work.FAMILIES`.
        what: an attribute of `Count`: ``"reads"``, ``"multiplications"``.

    Example:
        >>> d, r = symbols("d r")
        >>> in_lookup("low-rank", "multiplications")({d: 7, r: 3})
        21
    """

    def oracle(point: Point) -> int:
        factors = factors_at(family, point)
        indices = work.indices_of(family, factors, torch.tensor([5]))
        with Count() as count:
            work.looked_up(family, factors, indices)
        return int(getattr(count, what))

    return oracle


def in_head(family: str, what: str, *, composed: bool = False) -> Oracle:
    """Return what all logits of one hidden state take, as a function of a point.

    Args:
        family: one of `work.FAMILIES`.
        what: an attribute of `Count`: ``"multiplications"``, ``"largest"``.
        composed: whether the table is made first, in the place of one factor after another.

    Example:
        >>> n, d, r = symbols("n d r")
        >>> in_head("low-rank", "multiplications")({n: 11, d: 7, r: 3})
        54
    """

    def oracle(point: Point) -> int:
        at, factors = _sizes(point), factors_at(family, point)
        width = at["d"] if family in ("dense", "low-rank") else at["q"] ** at["k"]
        hidden = torch.ones(width, dtype=torch.float64)
        with Count() as count:
            if composed:
                work.logits("dense", [work.whole_table(family, factors)], hidden)
            else:
                work.logits(family, factors, hidden)
        return int(getattr(count, what))

    return oracle


def gives_logits_of_its_table(family: str, point: Point) -> bool:
    """Whether the logits of a family are those of the table that its lookups give.

    Example:
        >>> gives_logits_of_its_table("train", {})
        True
    """
    factors = factors_at(family, point)
    table = work.whole_table(family, factors)
    hidden = torch.linspace(-1, 1, table.shape[1], dtype=torch.float64)
    return torch.allclose(work.logits(family, factors, hidden), table @ hidden)
