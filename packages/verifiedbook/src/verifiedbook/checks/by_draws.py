"""Deciding on random draws: a predicate that is true on all of them, arrays that are equal.

The library makes the draws, each from a name, so that nobody chooses a seed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..account.records.record import Record, Sample, Score
from .subject import Predicate, Subject, require_functions
from .what_ran import aside, seen, watched

if TYPE_CHECKING:
    import torch

    _Array = Callable[[Any], torch.Tensor]

_LEAST_DRAWS = 20  # fewer cannot tell "always" from "four times in five"
_COMPARED = 3
_NEARLY_ALL = 0.95  # of the spoiled draws, which the predicate must reject
_CONFIDENCE = 0.99  # of the bound on how often it may be false
_ROUNDING = 1e-10  # of the root mean square; float64 leaves 1e-15, and some products lose more
_DIFFERENT = 1e-6  # what lies between is neither equal nor different

_Draw = Callable[[str], Any]


class ByDraws(Subject):
    """The verbs that decide on random draws."""

    @watched()
    def sampled_that(
        self,
        text: str | Predicate,
        predicate: Predicate | None = None,
        *,
        draw: _Draw,
        n: int = 100,
        sees: str | None = None,
        spoiled: Callable[[Any], Any],
    ) -> Record:
        """Decide a statement that has no formula on random draws that the library makes.

        Each draw comes from a name of its own, made from the claim's id. The predicate must be true
        on all of them, and false on nearly all (95 %) of the spoiled ones. A predicate that draws a
        sample itself is one draw: that it is true on all n of them bounds how often it fails by
        chance, and the record says so.

        Args:
            text: what is decided, in a line; left out where the reading's text says it.
            predicate: a function of a draw, which it leaves as it is; returns True or False.
            draw: a function of a name; returns what the predicate takes. Names go to
                `generator(name)`, or to whatever else makes random things from names.
            n: how many draws, at least 20.
            sees: the effect that would have been caught, in words: what ``spoiled`` plants; left
                out where that is what makes the reading false.
            spoiled: a function of a draw, after the predicate has seen it; returns it with that
                effect in it.

        Returns:
            A record of kind "sampled".

        Raises:
            ClaimFailed: the predicate is false on a draw, or true on more than one in twenty of the
                spoiled ones.
            TypeError: an argument is no function, or the predicate returns no bool.
            ValueError: the reading has a formula, the draws do not depend on their names or are
                changed, too few of them, or no effect named.

        Example:
            A truncated law keeps within its bounds; with one entry outside it does not:

            >>> import torch
            >>> from verifiedbook import TruncatedNormal, claim, generator
            >>> def samples(name):
            ...     empty = torch.empty(1000, dtype=torch.float64)
            ...     return TruncatedNormal(0, 1, -2, 2).sample_(empty, generator(name))
            >>> claim("INIT-03").case("bounded").sampled_that(
            ...     "all of 1000 samples lie within [-2, 2]", lambda x: bool((x.abs() <= 2).all()),
            ...     draw=samples, n=20, sees="one entry outside",
            ...     spoiled=lambda x: torch.cat([x, torch.full((1,), 2.01)]),
            ... )  # doctest: +ELLIPSIS
            INIT-03 [bounded] sampled   all of 1000 samples lie within [-2, 2]   true on every ...
        """
        self._refuse_formula()
        text, predicate = self._stated(text, predicate)
        sees = self.reading.false_if if sees is None else sees
        require_functions("a function of a draw", spoiled=spoiled)
        if not isinstance(sees, str) or not sees.strip():
            raise ValueError(
                f"sees: got {sees!r}; accepted: the effect it would have caught, in words"
            )
        names = _names_of(f"{self.name} {self.of}", n)
        false, passed = _counted(predicate, spoiled, zip(names, _drawn(draw, names), strict=True))
        if false:
            raise self._failed(
                f"not so: {text}; false on {len(false)} of {n} draws, the first of them "
                f"{false[0]!r}"
            )
        if passed > (1 - _NEARLY_ALL) * n:
            raise self._failed(
                f"the check cannot see {sees}: it is true on {passed} of {n} spoiled draws; "
                f"allowed: {int((1 - _NEARLY_ALL) * n)}"
            )
        bound = 1 - (1 - _CONFIDENCE) ** (1 / n)
        detail = f"true on every draw, so false on less than {bound:.1%} ({_CONFIDENCE:.0%} sure)"
        return self._emit(
            "sampled", "supports", text, detail,
            given=[predicate, draw],
            sample=Sample(n, (f"{self.name} {self.of} draw 0 … {n - 1}",), sees.strip()),
            rows=[{
                "point": f"{n} draws", "false": "0", "spoiled and true": str(passed),
            }],
        )  # fmt: skip

    @watched()
    def same(
        self,
        text: str,
        first: _Array,
        second: _Array,
        *,
        draw: _Draw,
        n: int = 20,
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

        Returns:
            A record of kind "equality"; it needs no measurement beside it.

        Raises:
            ClaimFailed: the arrays differ, or a wrong version does not.
            TypeError: an argument is no function, or an array no tensor of such numbers.
            ValueError: the reading has a formula, shapes differ, or the array is zero.

        Example:
            >>> import torch
            >>> from verifiedbook import claim, generator
            >>> claim("FACT-47").same(
            ...     "all products of an entry of u and one of v = torch.outer(u, v)",
            ...     lambda pair: pair[0][:, None] * pair[1], lambda pair: torch.outer(*pair),
            ...     draw=lambda name: torch.rand(2, 3, dtype=torch.float64,
            ...                                  generator=generator(name)),
            ... )  # doctest: +ELLIPSIS
            FACT-47 equality   all products of an entry of u and one of v = ... wrong versions ...
        """
        self._refuse_formula()
        require_functions("a function of a draw", first=first, second=second)
        if _one_function(first, second):
            raise ValueError("second: is the first function; accepted: another way to the array")
        names = _names_of(f"{self.name} {self.of}", n)
        _require_draws(draw, names)
        pairs = [_arrays(first, second, draw, name) for name in names]
        apart = _relative(pairs)
        if not apart <= _ROUNDING:
            raise self._failed(
                f"not equal: {text}; the root mean square of the difference is {apart:.3g} of the "
                f"array's, over {n} draws; allowed: {_ROUNDING:g}"
            )
        wrong = self._other_layouts(pairs, names)
        detail = f"{wrong}/{wrong} wrong versions differ"
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
        self, pairs: list[tuple[torch.Tensor, torch.Tensor]], names: list[str]
    ) -> int:
        """How many wrong versions there are, all of which must differ."""
        from .layouts import layouts

        made = layouts(tuple(pairs[0][1].shape))
        alike = [
            label
            for label, make in made.items()
            if _relative([(x, make(y, f"{name} {label}"))
                          for (x, y), name in zip(pairs, names, strict=True)]) <= _DIFFERENT
        ]  # fmt: skip
        if alike:
            raise self._failed(
                f"wrong versions are equal: {', '.join(alike)}; take other draws, or entries of "
                "which no layout is the same"
            )
        return len(made)


def _names_of(subject: str, n: int) -> list[str]:
    """The names from which a claim's draws are made."""
    if not isinstance(n, int) or n < _LEAST_DRAWS:
        raise ValueError(f"n: got {n!r}; accepted: a whole number, at least {_LEAST_DRAWS}")
    return [f"{subject} draw {index}" for index in range(n)]


def _require_draws(draw: _Draw, names: list[str]) -> list[Any]:
    """The things of the first names, if the draw is a function of the name, and of that alone."""
    such_as = "lambda name: torch.randn(3, generator=generator(name))"
    require_functions(f"a function of a name, such as {such_as}", draw=draw)
    things = [draw(name) for name in names[:_COMPARED]]
    found = [_content(thing) for thing in things]
    if None in found:
        return things  # what cannot be written down cannot be compared
    if len(set(found)) < len(found):
        raise ValueError("draw: gives the same thing for different names; make it from the name")
    if _content(draw(names[0])) != found[0]:
        raise ValueError("draw: gives another thing for the same name; make it from the name alone")
    return things


def _drawn(draw: _Draw, names: list[str]) -> Iterator[Any]:
    """What is drawn from each name, once: a real model takes a second to draw."""
    things = _require_draws(draw, names)
    return map(seen, chain(things, map(draw, names[len(things) :])))


def _content(thing: Any) -> object | None:
    """What can be compared of a thing; None where it is more than arrays and numbers."""
    import numpy as np
    import torch

    if isinstance(thing, torch.nn.Module):
        thing = dict(thing.state_dict())
    if isinstance(thing, torch.Tensor):
        thing = thing.detach().cpu().numpy()
    if isinstance(thing, np.ndarray):
        return str(thing.dtype), thing.shape, thing.tobytes()
    if is_dataclass(thing) and not isinstance(thing, type):
        thing = {field.name: getattr(thing, field.name) for field in fields(thing)}
    if isinstance(thing, dict):
        thing = list(thing.items())
    if isinstance(thing, list | tuple):
        parts = [_content(part) for part in thing]
        return None if None in parts else tuple(parts)
    return (thing,) if isinstance(thing, int | float | complex | str) else None


def _counted(
    predicate: Callable[[Any], bool],
    spoiled: Callable[[Any], Any],
    named: Iterable[tuple[str, Any]],
) -> tuple[list[str], int]:
    """On which draws the predicate is false, and on how many spoiled ones it is true."""
    false, passed = [], 0
    for index, (name, thing) in enumerate(named):
        before = None if index else _content(thing)
        if not _answer(predicate, thing, name):
            false.append(name)
        if before is not None and _content(thing) != before:
            raise ValueError(
                f"predicate: changed the draw {name!r}, which is then spoiled; accepted: a "
                "function that leaves it as it is"
            )
        with aside():
            passed += _answer(predicate, spoiled(thing), name)
    return false, passed


def _answer(predicate: Callable[[Any], bool], thing: Any, name: str) -> bool:
    found = predicate(thing)
    if found is not True and found is not False:
        raise TypeError(
            f"predicate: returned {found!r}, a {type(found).__name__}, on {name!r}; accepted: "
            "True or False"
        )
    return found


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


def _arrays(first: _Array, second: _Array, draw: _Draw, name: str) -> tuple[Any, Any]:
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
