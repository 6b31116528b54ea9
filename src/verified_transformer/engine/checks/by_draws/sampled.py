"""A predicate on random draws: true on all of them, and false on nearly all that are spoiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...account.records.record import Record, Sample
from ..subject import Predicate, Subject
from ..what_ran import aside, watched
from .draws import Draw, content, drawn, names_of

_NEARLY_ALL = 0.95  # of the spoiled draws, which the predicate must reject
_CONFIDENCE = 0.99  # of the bound on how often it may be false


class BySampling(Subject):
    """The verb that supports a statement by a predicate on random draws."""

    @watched()
    def sampled_that(
        self,
        text: str | Predicate,
        predicate: Predicate | None = None,
        *,
        draw: Draw,
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
            >>> from verified_transformer import TruncatedNormal, claim, generator
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
        if self.reading.formula and self.of == "reading":
            raise ValueError(f"{self.name}: has a formula; use prove, check or measure")
        text, predicate = self._stated(text, predicate)
        sees = self.reading.false_if if sees is None else sees
        if not callable(spoiled):
            raise TypeError(
                f"spoiled: got {type(spoiled).__name__}; accepted: a function of a draw"
            )
        if not isinstance(sees, str) or not sees.strip():
            raise ValueError(
                f"sees: got {sees!r}; accepted: the effect it would have caught, in words"
            )
        names = names_of(f"{self.name} {self.of}", n)
        false, passed = _counted(predicate, spoiled, zip(names, drawn(draw, names), strict=True))
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
            given=[predicate, draw], broken=[spoiled],
            sample=Sample(n, (f"{self.name} {self.of} draw 0 … {n - 1}",), sees.strip()),
            rows=[{
                "point": f"{n} draws", "false": "0", "spoiled and true": str(passed),
            }],
        )  # fmt: skip


def _counted(
    predicate: Callable[[Any], bool],
    spoiled: Callable[[Any], Any],
    named: Iterable[tuple[str, Any]],
) -> tuple[list[str], int]:
    """On which draws the predicate is false, and on how many spoiled ones it is true."""
    false, passed = [], 0
    for index, (name, thing) in enumerate(named):
        before = None if index else content(thing)
        if not _answer(predicate, thing, name):
            false.append(name)
        if before is not None and content(thing) != before:
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
