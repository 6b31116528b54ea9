"""Equality of arrays: the mean square of their difference is zero, and no other layout's is."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...account.records.record import Record, Sample, Score
from ..subject import Subject
from ..what_ran import seen, watched
from .draws import Draw, names_of, require_draws

if TYPE_CHECKING:
    import torch

    Array = Callable[[Any], torch.Tensor]

_ROUNDING = 1e-10  # of the root mean square; float64 leaves 1e-15, and some products lose more
_DIFFERENT = 1e-6  # what lies between is neither equal nor different


class ByEquality(Subject):
    """The verb that decides whether two arrays are equal."""

    @watched()
    def same(
        self,
        text: str,
        first: Array,
        second: Array,
        *,
        draw: Draw,
        n: int = 20,
        equal_under: Mapping[str, str] | None = None,
    ) -> Record:
        """Decide that two arrays are equal, whatever the weights and inputs are.

        On random draws the mean square of the difference is zero, to rounding. The library makes
        wrong versions of the second array (tiled, doubled, zero-padded, rolled or reversed along
        each axis, transposed, turned, with noise, with another sign or size): each must differ.

        Args:
            text: what is equal, in a line.
            first, second: functions of a draw; each returns a float64 (or whole-number, or
                complex128) tensor, of one shape. They share no code that could be wrong in both.
            draw: a function of a name; returns the weights and inputs that both take.
            n: how many draws, at least 20.
            equal_under: wrong versions that are equal to the array for a reason: the name, as the
                message says it, and the reason. That they are equal is verified.

        Returns:
            A record of kind "equality"; it needs no measurement beside it.

        Raises:
            ClaimFailed: the arrays differ, a wrong version does not, or one that is said to be
                equal is not.
            TypeError: an argument is no function, or an array no tensor of such numbers.
            ValueError: the reading has a formula, shapes differ, the array is zero, or
                ``equal_under`` names no wrong version or gives no reason.

        Example:
            >>> import torch
            >>> from verified_transformer import claim, generator
            >>> claim("FACT-47").same(
            ...     "all products of an entry of u and one of v = torch.outer(u, v)",
            ...     lambda pair: pair[0][:, None] * pair[1], lambda pair: torch.outer(*pair),
            ...     draw=lambda name: torch.rand(2, 3, dtype=torch.float64,
            ...                                  generator=generator(name)),
            ... )  # doctest: +ELLIPSIS
            FACT-47 equality   all products of an entry of u and one of v = ... wrong versions ...
        """
        if self.reading.formula and self.of == "reading":
            raise ValueError(f"{self.name}: has a formula; use prove, check or measure")
        for what, thing in (("first", first), ("second", second)):
            if not callable(thing):
                raise TypeError(
                    f"{what}: got {type(thing).__name__}; accepted: a function of a draw"
                )
        if _one_function(first, second):
            raise ValueError("second: is the first function; accepted: another way to the array")
        names = names_of(f"{self.name} {self.of}", n)
        require_draws(draw, names)
        pairs = [_arrays(first, second, draw, name) for name in names]
        apart = _relative(pairs)
        if not apart <= _ROUNDING:
            raise self._failed(
                f"not equal: {text}; the root mean square of the difference is {apart:.3g} of the "
                f"array's, over {n} draws; allowed: {_ROUNDING:g}"
            )
        wrong, argued = self._other_layouts(pairs, names, dict(equal_under or {}))
        reasons = "; ".join(f"equal when {name}: {why}" for name, why in argued.items())
        detail = f"{wrong}/{wrong} wrong versions differ" + (f"; {reasons}" if reasons else "")
        return self._emit(
            "equality", "supports", text, detail, mutants=Score(wrong, wrong),
            given=[first, second, draw],
            sample=Sample(
                n, (f"{self.name} {self.of} draw 0 … {n - 1}",),
                f"a relative difference of {_ROUNDING:g}",
            ),
            rows=[{"point": f"{n} draws", "relative difference": f"{apart:.2g}"}],
        )  # fmt: skip

    def _other_layouts(
        self,
        pairs: list[tuple[torch.Tensor, torch.Tensor]],
        names: list[str],
        argued: dict[str, str],
    ) -> tuple[int, dict[str, str]]:
        """How many wrong versions differ, as all must but for those with a reason."""
        from .layouts import layouts

        made = layouts(tuple(pairs[0][1].shape))
        for name, why in argued.items():
            if name not in made:
                raise ValueError(f"equal_under: got {name!r}; accepted: {', '.join(made)}")
            if not isinstance(why, str) or not why.strip():
                raise ValueError(f"equal_under: got {why!r} for {name!r}; accepted: the reason")
        found = {
            label: _relative([
                (x, make(y, f"{name} {label}")) for (x, y), name in zip(pairs, names, strict=True)
            ])
            for label, make in made.items()
        }  # fmt: skip
        alike = [
            name for name, apart in found.items() if apart <= _DIFFERENT and name not in argued
        ]
        if alike:
            raise self._failed(
                f"wrong versions are equal: {', '.join(alike)}; take other draws, or say why in "
                "equal_under"
            )
        other = [name for name in argued if found[name] > _ROUNDING]
        if other:
            raise self._failed(
                f"not equal when {other[0]}: the difference is {found[other[0]]:.3g} of the array"
            )
        return len(made) - len(argued), {name: argued[name] for name in made if name in argued}


def _one_function(first: Any, second: Any) -> bool:
    """Whether two are one function, or the same steps over the same things written twice."""
    if first is second or not (hasattr(first, "__code__") and hasattr(second, "__code__")):
        return first is second
    things, others = _things(first), _things(second)
    same_things = len(things) == len(others) and all(map(operator.is_, things, others))
    return same_things and _steps(first.__code__) == _steps(second.__code__)


def _things(function: Any) -> tuple[Any, ...]:
    """What a function holds beside its steps."""
    cells = function.__closure__ or ()
    return (*(function.__defaults__ or ()), *(cell.cell_contents for cell in cells))


def _steps(code: Any) -> tuple[Any, ...]:
    """What code does, without its place in the file."""
    inner = tuple(_steps(c) if hasattr(c, "co_code") else (type(c), c) for c in code.co_consts)
    return code.co_code, code.co_names, code.co_freevars, inner


def _arrays(first: Array, second: Array, draw: Draw, name: str) -> tuple[Any, Any]:
    """Both arrays of a draw, in double precision; each from a draw of its own."""
    import torch

    found = []
    with torch.no_grad():
        for what, array in (("first", first), ("second", second)):
            x = array(seen(draw(name)))
            if not isinstance(x, torch.Tensor):
                raise TypeError(f"{what}: returned {type(x).__name__}; accepted: a torch tensor")
            if (x.is_floating_point() and x.dtype != torch.float64) or x.dtype == torch.complex64:
                raise TypeError(f"{what}: returned {x.dtype}; accepted: float64, complex128, int64")
            if not x.isfinite().all():
                raise ValueError(f"{what}: is not finite on {name!r}; accepted: finite numbers")
            found.append(x if x.is_complex() else x.double())
    if found[0].shape != found[1].shape:
        shapes = [tuple(x.shape) for x in found]
        raise ValueError(f"second: returned shape {shapes[1]}; accepted: first's, {shapes[0]}")
    return found[0], found[1]


def _relative(pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> float:
    """Root mean square of the difference, over that of the first array."""
    size = sum(float(x.abs().square().sum()) for x, _ in pairs)
    if not size:
        raise ValueError("first: is zero on every draw; nothing can be told from it")
    return float((sum(float((x - y).abs().square().sum()) for x, y in pairs) / size) ** 0.5)
