"""What can be measured: a statistic of random tensors, with its definition and its moments."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import sympy as sp
import torch

from ..exact.formulas.evaluation import Point, place
from ..exact.integrals.law_means import Draw, LawMean
from ..exact.laws import SKEWED, Discrete, Law
from ..exact.moments import Tensor
from ..seeds import generator

_LEAST_PILOT = 1024


class Piloted:
    """The mean of a statistic whose moments no engine knows, such as a norm or a logsumexp.

    Variance and skewness come from a pilot of independent draws, the variance as an upper bound
    (five standard errors above the pilot's estimate).

    Args:
        quantity: one line of text naming it.
        draws: the random inputs of the statistic, by name.
        definition: the statistic in NumPy, called as a torch statistic is; written apart from the
            one that is measured, against which it is compared.
        replicates: size of the pilot.

    Raises:
        TypeError: an input without law and sizes.
        ValueError: no inputs, or a pilot of fewer than 1024 replicates.
    """

    estimator = "mean"

    def __init__(
        self,
        quantity: str,
        draws: Draws,
        definition: Callable[..., Any],
        *,
        replicates: int = 1 << 16,
    ) -> None:
        if not callable(definition):
            raise TypeError(f"definition: got {definition!r}; accepted: a function of the inputs")
        if replicates < _LEAST_PILOT:
            raise ValueError(f"replicates: got {replicates}; accepted: at least {_LEAST_PILOT}")
        self.quantity, self.draws, self.definition = quantity, checked_draws(draws), definition
        self.replicates = replicates

    def statistic_moments(self, point: Point, order: int) -> list[float]:
        """Raw moments from the pilot; the second one is an upper bound."""
        source = generator(f"{self.quantity} pilot")
        tensors = draw_inputs(self.draws, point, self.replicates, source)
        values = torch.as_tensor(self.evaluate(_arrays(tensors), point))
        moments = [values.pow(k).mean().item() for k in range(1, order + 1)]
        if order >= 2:
            spread = (values - moments[0]).pow(2)
            room = 5 * spread.std().item() / math.sqrt(self.replicates)
            moments[1] += room
            if order >= 3:  # so that the third central moment stays the pilot's
                moments[2] += 3 * moments[0] * room
        return moments

    def evaluate(self, arrays: Mapping[str, Array], point: Point) -> Array:
        """The statistic as defined."""
        return np.asarray(call(self.definition, arrays, point), dtype=float)


class Sampled(Piloted):
    """A statistic with one definition, in torch: for the pilot and for the measurement.

    No second statistic is needed: ``claim("…").measure(Sampled(…), at=points)``. The one
    definition must be able to fail: it is refused where it is constant (the closed form in its
    place), ignores an input that varies, mixes replicates, or draws numbers of its own.

    Args:
        quantity: one line of text naming it.
        draws: the random inputs of the statistic, by name.
        statistic: the definition in torch: called with the random tensors by name, each of shape
            (replicates, *sizes), and with ``point`` where it asks for it; one number a replicate.
        replicates: size of the pilot.

    Example:
        >>> import math
        >>> from verifiedbook import Normal, Sampled, Tensor, measure, symbols
        >>> d, σ = symbols("d sigma")
        >>> w = Tensor("w", Normal(0, σ), d)
        >>> norm = Sampled("E |w|", {"w": w}, lambda w: w.norm(dim=-1))
        >>> expected = 1.3 * math.sqrt(math.pi / 2)
        >>> found = measure(norm, None, {d: 2, σ: 1.3}, expected, name="an example")
        >>> found.rejects(found.expected), found.rejects(1.01 * found.expected)
        (False, True)
    """

    def evaluate(self, arrays: Mapping[str, Array], point: Point) -> Array:
        """The statistic as defined."""
        tensors = {name: torch.as_tensor(array) for name, array in arrays.items()}
        found: Array = values_of(self.definition, tensors, point).numpy()
        return found

    def require_definition(self, point: Point) -> None:
        """Refuse the statistic where it could not be wrong; see `statistics`."""
        require_definition(self.definition, self.draws, point, self.quantity)


def _arrays(tensors: Mapping[str, torch.Tensor]) -> dict[str, Array]:
    return {name: tensor.cpu().numpy() for name, tensor in tensors.items()}


def literal_statistic(quantity: Quantity, point: Point) -> Statistic:
    """Return a quantity's own definition as a torch statistic.

    Args:
        quantity: a `Sampled` one, or an engine's, whose statistic is summed literally.
        point: values of all symbols.

    Raises:
        TypeError: its definition is in NumPy, and cannot run where the measurement does.
    """
    if isinstance(quantity, Sampled):
        return quantity.definition
    if isinstance(quantity, Piloted):
        raise TypeError(
            f"statistic: none given, and the definition of {quantity.quantity} is in NumPy; "
            "accepted: a torch statistic beside it, or a Sampled quantity in its place"
        )
    if isinstance(quantity, LawMean):  # a function of one variable, which SymPy compiles for NumPy
        return lambda **z: torch.as_tensor(quantity.evaluate(_arrays(z), point))
    return lambda **tensors: torch.as_tensor(quantity.evaluate(tensors, point))


def central_moments(quantity: Quantity, point: Point) -> tuple[float, float, float]:
    r"""Return mean, variance and skewness of the replicate that a measurement averages.

    For the estimator "mean" the replicate is the statistic $X$; for "variance" it is
    $Y=\tfrac12(X-X')^2$ from two independent draws, whose mean is exactly $\mathrm{Var}X$ and for
    which nothing needs to be known about $\mathbb{E}X$.

    Args:
        quantity: the quantity to be measured.
        point: values of its symbols.

    Returns:
        Mean, variance and skewness.
    """
    if quantity.estimator == "mean":
        m1, m2, m3 = quantity.statistic_moments(point, 3)
        variance = m2 - m1**2
        third = m3 - 3 * m1 * m2 + 2 * m1**3
        return m1, variance, third / variance**1.5 if variance > 0 else 0.0
    raw = [1.0, *quantity.statistic_moments(point, 6)]
    c = [
        sum(math.comb(k, j) * raw[j] * (-raw[1]) ** (k - j) for j in range(k + 1)) for k in range(7)
    ]
    # even central moments of the difference of two independent copies, halved and squared
    differences = [
        sum(math.comb(k, j) * c[j] * c[k - j] * (-1) ** (k - j) for j in range(k + 1))
        for k in (2, 4, 6)
    ]
    first, second, third_raw = (
        value / 2**power for power, value in enumerate(differences, start=1)
    )
    variance = second - first**2
    third = third_raw - 3 * first * second + 2 * first**3
    return first, variance, third / variance**1.5 if variance > 0 else 0.0


# ------------------------------------------------------------------ statistics
# A statistic gives one number a replicate, made from that replicate's inputs. Where a quantity has
# two definitions, they are compared on inputs that follow another law (`require_same`). Where it
# has one, which then serves the pilot, the measurement or the enumeration, that one must be able to
# fail: `require_definition` refuses a constant or the closed form, a statistic that ignores an
# input, mixes replicates, or draws numbers of its own.


Array = npt.NDArray[Any]
Statistic = Callable[..., torch.Tensor]
RandomInput = Tensor | Draw  # a random tensor: the law of its iid entries, and its sizes
Draws = Mapping[str, RandomInput]

_ROWS = 256
_COMPARED = 2048
_ROUNDING = 1e-9  # of the definition's spread; two definitions in float64 differ by 1e-13
_SAME = 1e-5  # of the largest value; wide enough for a statistic that works in float32


class Quantity(Protocol):
    """What can be measured: the mean or the variance of a statistic of random tensors."""

    quantity: str
    estimator: str

    @property
    def draws(self) -> Mapping[str, RandomInput]:
        """Random inputs of the statistic, by name."""

    def statistic_moments(self, point: Point, order: int) -> list[float]:
        """Raw moments of the statistic at a point, from the first to ``order``."""

    def evaluate(self, arrays: Mapping[str, Any], point: Point) -> Any:
        """The statistic as defined, on arrays with a leading replicate axis."""


def checked_draws(draws: Draws) -> dict[str, RandomInput]:
    """Return the random inputs by name, or say which of them is none.

    Raises:
        TypeError: an input without a law and sizes.
    """
    for name, item in draws.items():
        if not isinstance(name, str) or not hasattr(item, "law") or not hasattr(item, "sizes"):
            raise TypeError(
                f"draws: got {name!r}: {item!r}; accepted: a name and what is drawn under it, such "
                "as Tensor('w', Normal(0, sigma), d)"
            )
    if not draws:
        raise ValueError("draws: got none; accepted: at least one random input")
    return dict(draws)


def input_at(name: str, item: RandomInput, point: Point) -> tuple[Law, tuple[int, ...]]:
    """Return the law of an input at a point, with numbers for its symbols, and its sizes.

    Args:
        name: of the input, for the message.
        item: the input.
        point: values of all symbols.

    Raises:
        TypeError: a key of the point is a text instead of a symbol.
        ValueError: the point does not give a symbol, or a size that is no positive integer.
    """
    for key in point:
        if not isinstance(key, sp.Basic):
            raise TypeError(
                f"point: got the key {key!r}, a {type(key).__name__}; accepted: the symbol itself, "
                "as symbols(…) returned it"
            )
    sizes = sp.Tuple(*item.sizes)
    for where, used in (("a size", sizes.free_symbols), ("in the law", item.law.free_symbols)):
        if missing := ", ".join(sorted(str(s) for s in used if s not in point)):
            raise ValueError(f"point: got no value for {missing}, {where} of the input {name!r}")
    found = sizes.subs(dict(point))
    for size in found:
        if size != int(size) or size < 1:
            raise ValueError(
                f"point: gives the input {name!r} the size {size}; accepted: a positive integer"
            )
    return item.law.at(point), tuple(map(int, found))


def draw_inputs(
    draws: Draws,
    point: Point,
    rows: int,
    source: torch.Generator,
    *,
    law: Law | None = None,
) -> dict[str, torch.Tensor]:
    """Draw all inputs of a statistic, in float64 on the generator's device.

    Args:
        draws: the random inputs by name.
        point: values of all symbols.
        rows: number of replicates.
        source: torch generator.
        law: draw every entry from this law instead of its own.

    Returns:
        Tensors of shape (rows, *sizes) by name.
    """
    found = {}
    for name, item in draws.items():
        own, sizes = input_at(name, item, point)
        empty = torch.empty((rows, *sizes), dtype=torch.float64, device=source.device)
        found[name] = (law or own).sample_(empty, source)
    return found


def call(statistic: Callable[..., Any], arrays: Mapping[str, Any], point: Point) -> Any:
    """Call a statistic with its inputs by name, and with ``point`` where it asks for it.

    Args:
        statistic: a function in torch or NumPy.
        arrays: its inputs, tensors or NumPy arrays.
        point: values of all symbols; the statistic is given sizes as integers, others as floats.

    Raises:
        TypeError: the statistic takes other names.
    """
    accepted = inspect.signature(statistic).parameters
    given = dict(arrays)
    if "point" in accepted:
        values = ((s, sp.sympify(value)) for s, value in point.items())
        given["point"] = {s: int(v) if s.is_integer else float(v) for s, v in values}
    try:
        inspect.signature(statistic).bind(**given)
    except TypeError:
        raise TypeError(
            f"statistic: takes {', '.join(accepted) or 'nothing'}; accepted: the names of its "
            f"inputs, {', '.join(arrays)}, and point where it needs it"
        ) from None
    return statistic(**given)


def values_of(statistic: Statistic, tensors: dict[str, torch.Tensor], point: Point) -> torch.Tensor:
    """Evaluate a statistic in float64 without gradients: one number for each replicate.

    Raises:
        TypeError: it returns no tensor.
        ValueError: it returns another shape.
    """
    rows = len(next(iter(tensors.values())))
    with torch.no_grad():
        values = call(statistic, tensors, point)
    if not isinstance(values, torch.Tensor):
        raise TypeError(f"statistic: returned {type(values).__name__}; accepted: a torch tensor")
    if values.shape != (rows,):
        raise ValueError(
            f"statistic: returned shape {tuple(values.shape)}; accepted: ({rows},), one number "
            "per replicate"
        )
    return values.double()


def require_definition(statistic: Statistic, draws: Draws, point: Point, name: str) -> None:
    """Refuse a statistic that could not be wrong, whatever it is compared with.

    Args:
        statistic: the torch function.
        draws: its random inputs by name.
        point: values of all symbols.
        name: what is measured, for the message and the seed.

    Raises:
        ValueError: it is constant, ignores an input that varies, mixes replicates, or draws numbers
            of its own.
    """
    source = generator(f"{name} definition")
    inputs = draw_inputs(draws, point, _ROWS, source)
    values = values_of(statistic, inputs, point)
    if _differ(values, values_of(statistic, inputs, point)):
        raise ValueError(
            f"statistic: of {name}: called twice on the same inputs it returns other numbers; "
            "accepted: a function of its inputs, which draws nothing itself"
        )
    chosen = torch.randperm(_ROWS, generator=source)[: _ROWS // 2]
    alone = values_of(statistic, {key: x[chosen] for key, x in inputs.items()}, point)
    if _differ(values[chosen], alone):
        raise ValueError(
            f"statistic: of {name}: mixes replicates: a row's number changes with the other rows; "
            "accepted: each number from its own row (sum or average over the last axes only)"
        )
    varying = {key: item for key, item in draws.items() if not _is_constant(item.law, point)}
    ignored = [
        key
        for key, item in varying.items()
        if not _depends_on(key, item, statistic, inputs, values, point, source)
    ]
    if len(ignored) == len(varying):
        raise ValueError(
            f"statistic: of {name}: is {values[0]:.6g} whatever its inputs "
            f"{', '.join(draws)} are; accepted: the definition, not a constant and not the closed "
            "form in its place"
        )
    if ignored:
        raise ValueError(
            f"statistic: of {name}: ignores its input {', '.join(ignored)}: other draws of it "
            "change nothing; accepted: a function of all its inputs, or fewer draws"
        )


def _depends_on(
    key: str,
    item: RandomInput,
    statistic: Statistic,
    inputs: dict[str, torch.Tensor],
    values: torch.Tensor,
    point: Point,
    source: torch.Generator,
) -> bool:
    """Whether other draws of one input, from its own law or a skewed one, change the values."""
    for law in (None, SKEWED):
        other = draw_inputs({key: item}, point, _ROWS, source, law=law)
        if _differ(values, values_of(statistic, {**inputs, **other}, point), 1e-9):
            return True
    return False


def _is_constant(law: Law, point: Point) -> bool:
    known = law.at(point)
    return isinstance(known, Discrete) and sum(p != 0 for p in known.probabilities) == 1


def _differ(first: torch.Tensor, second: torch.Tensor, share: float = _SAME) -> bool:
    inside = first.isfinite() & second.isfinite()
    if not inside.any():
        return False
    room = share * first[inside].abs().max()
    return bool((first - second)[inside].abs().max() > room)


class OtherStatistic(ValueError):
    """A torch statistic is not the definition of the quantity that it is to measure."""


def require_same(quantity: Quantity, statistic: Statistic, point: Point, name: str) -> None:
    """Refuse a torch statistic that is not the quantity's definition.

    Both are evaluated on the same 2048 draws from a skewed discrete law and 2048 from the inputs'
    own laws. A statistic that is the closed form in disguise, or that ignores its input, is found
    here whatever its mean is.

    Args:
        quantity: the quantity, whose definition is evaluated literally.
        statistic: the torch function to be compared.
        point: values of all symbols.
        name: what the seed is derived from.

    Raises:
        OtherStatistic: they differ; the message has an example, the same on every machine.
        ValueError: the definition itself does not vary with its inputs.
    """
    why = _difference(quantity, statistic, point, name)
    if why:
        where = f" at {place(point)}" if point else ""
        raise OtherStatistic(
            f"the torch statistic is not the definition of {quantity.quantity}{where}: {why}; "
            "look at its sums, axes and factors"
        )


def _difference(quantity: Quantity, statistic: Statistic, point: Point, name: str) -> str:
    source = generator(f"{name} skewed")
    skewed = draw_inputs(quantity.draws, point, _COMPARED, source, law=SKEWED)
    own = draw_inputs(quantity.draws, point, _COMPARED, source)
    tensors = {key: torch.cat([skewed[key], own[key]]) for key in own}
    defined, found = _both(quantity, statistic, tensors, point)
    if found.shape != defined.shape:
        return f"it returns the shape {found.shape}, the definition {defined.shape}"
    if not np.isfinite(found).all():
        return "it returns numbers that are not finite"
    inside = np.isfinite(defined)  # a function may be defined on its law's support only
    spread = float(np.std(defined[inside])) if inside.any() else 0.0
    if spread == 0.0:
        raise ValueError(f"{quantity.quantity}: the definition does not depend on its inputs")
    if np.max(np.abs(found[inside] - defined[inside])) < _ROUNDING * spread:
        return ""
    return _example(quantity, statistic, point)


def _both(
    quantity: Quantity, statistic: Statistic, tensors: dict[str, torch.Tensor], point: Point
) -> tuple[Array, Array]:
    defined = quantity.evaluate({key: value.numpy() for key, value in tensors.items()}, point)
    with torch.no_grad():
        found = call(statistic, tensors, point)
    return defined, torch.as_tensor(found).double().numpy()


def _example(quantity: Quantity, statistic: Statistic, point: Point) -> str:
    """What both give on a fixed small sample of the skewed law, where they are furthest apart."""
    fixed = torch.Generator().manual_seed(0)  # neither salted nor named: part of a message
    tensors = draw_inputs(quantity.draws, point, 64, fixed, law=SKEWED)
    defined, found = _both(quantity, statistic, tensors, point)
    with np.errstate(invalid="ignore"):
        distance = np.nan_to_num(np.abs(found - defined))
    worst = int(np.argmax(distance))
    if distance[worst] <= _SAME * abs(defined[worst]):
        return "they differ on random inputs, by little"
    return (
        f"for inputs drawn from {SKEWED.name} the definition gives {defined[worst]:.6g} where the "
        f"statistic gives {found[worst]:.6g}"
    )
