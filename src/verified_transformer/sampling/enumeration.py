"""Exact means by enumeration, where every entry of every input has a few outcomes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from ..exact.formulas.evaluation import Approximation, Point
from ..exact.laws import Discrete
from .definition import require_definition, values_of
from .inputs import Draws, Statistic, checked_draws, law_at, sizes_at

_AT_MOST = 1 << 20  # outcomes; a second or so for a cheap statistic
_AT_A_TIME = 1 << 16
_ROUNDING = 1e-14  # of the statistic itself, relative to the mean of its modulus


class Enumerated:
    """The mean of a statistic of discrete inputs, over all outcomes with their probabilities.

    It is an exact oracle, for ``claim("…").check(Enumerated(…), at=points)`` and for `refute` and
    `fails_without`. The same statistic can be measured.

    Args:
        quantity: one line of text naming it.
        draws: the random inputs of the statistic, by name; each law a `Discrete` one.
        statistic: the definition in torch: called with the tensors of all outcomes by name, each of
            shape (outcomes, *sizes), and with ``point`` where it asks for it; one number an
            outcome.
        at_most: refuse more outcomes than that.

    Raises:
        TypeError: an input's law is not discrete.

    Example:
        >>> import sympy as sp
        >>> from verified_transformer import Enumerated, Rademacher, Tensor, symbols
        >>> d, σ = symbols("d sigma")
        >>> w = Tensor("w", Rademacher(σ), d)
        >>> dot = Enumerated("E (w_1 + … + w_d)^4", {"w": w}, lambda w: w.sum(-1) ** 4)
        >>> dot.oracle({d: 3, σ: 2}).value  # sigma^4 (3 d^2 - 2 d)
        336.0
    """

    def __init__(
        self, quantity: str, draws: Draws, statistic: Statistic, *, at_most: int = _AT_MOST
    ) -> None:
        self.quantity, self.draws = quantity, checked_draws(draws)
        self.statistic, self.at_most = statistic, at_most
        for name, item in self.draws.items():
            if not isinstance(item.law, Discrete):
                raise TypeError(
                    f"draws: {name!r} follows {item.law.name}; accepted: Discrete or Rademacher, "
                    "whose outcomes can be listed"
                )

    def oracle(self, point: Point) -> Approximation:
        """Return the mean over all outcomes at a point, with a bound for its rounding.

        Raises:
            ValueError: too many outcomes; or the statistic is no definition: it ignores an input,
                mixes outcomes, or does not return one finite number for each.
        """
        require_definition(self.statistic, self.draws, point, self.quantity)
        terms, sizes = [], []
        for tensors, weights in self._outcomes(point):
            values = values_of(self.statistic, tensors, point)
            if not values.isfinite().all():
                raise ValueError(f"statistic: {self.quantity} is not finite at some outcome")
            terms.append((weights @ values).item())
            sizes.append((weights @ values.abs()).item())
        return Approximation(math.fsum(terms), _ROUNDING * math.fsum(sizes))

    def _outcomes(self, point: Point) -> Iterator[tuple[dict[str, torch.Tensor], torch.Tensor]]:
        laws = {
            name: [torch.as_tensor(x) for x in law_at(name, item, point).nodes(0)]
            for name, item in self.draws.items()
        }
        shapes = {name: sizes_at(name, item, point) for name, item in self.draws.items()}
        count = math.prod(len(laws[name][0]) ** math.prod(shapes[name]) for name in laws)
        if count > self.at_most:
            raise ValueError(
                f"at: {self.quantity} has {count} outcomes at this point; accepted: at most "
                f"{self.at_most}; smaller sizes, or fewer values in the laws"
            )
        for start in range(0, count, _AT_A_TIME):
            rest = torch.arange(start, min(start + _AT_A_TIME, count))
            weights, tensors = torch.ones(len(rest), dtype=torch.float64), {}
            for name, (values, shares) in laws.items():
                chosen = []
                for _ in range(math.prod(shapes[name])):
                    chosen.append(rest % len(values))
                    rest = rest // len(values)
                places = torch.stack(chosen, -1) if chosen else rest.new_zeros(len(rest), 0)
                weights = weights * shares[places].prod(-1)
                tensors[name] = values[places].reshape(-1, *shapes[name])
            yield tensors, weights
