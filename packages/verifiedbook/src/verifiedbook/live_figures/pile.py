"""`pile`: a random quantity that a reader draws again and again, beside what formulas predict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import sympy as sp

from .controls import Slider, shown_number
from .curves import Curve, Curves, Source
from .figure import element, refuse_large, script_tag, style_tag
from .simulated import LAWS
from .still import frame, line
from .translation import script_of

BINS = 60


def pile(
    quantity: sp.Expr,
    *,
    drawn: Mapping[sp.FunctionClass, str | Slider],
    y: str,
    mean: Source,
    spread: Source,
    limits: tuple[float, float],
    seen: Sequence[float],
    sliders: Sequence[Slider],
    caption: str,
    alt: str,
    breaks: Mapping[str, tuple[str, Source]] | None = None,
    largest: tuple[sp.Symbol, Source, Source] | None = None,
) -> Pile:
    """Return a figure that draws a quantity and piles up what comes out.

    Args:
        quantity: in the symbols of the sliders and in values of functions that are drawn, such as
            ``Sum(w(i)**2, (i, 1, d))``; within one draw ``w(3)`` is the same number everywhere.
        drawn: for each of these functions its distribution: one of `LAWS`, of mean 0 and variance
            1 (the exponential one has the mean 1), or a `choice` among them, one of the sliders.
        y: what the quantity is, with its unit.
        mean, spread: what is predicted, as `live` takes a curve.
        limits: ends of the axis.
        seen: values that were drawn where the sliders stand at first: the pile that one meets.
        sliders: made by `slider` and `choice`.
        caption: what is shown and what to try.
        alt: what is seen at first, for those who do not see it.
        breaks: wrong predictions by what is wrong with them: of the "mean" or of the "spread".
        largest: a symbol with its first and last value: what piles up is then the largest of the
            quantity over it, and each draw shows them all.

    Raises:
        TypeError, ValueError: an argument is not what is accepted, or the figure is too large.

    Example:
        >>> w, i, d = sp.Function("w"), sp.Symbol("i"), sp.Symbol("d")
        >>> from verifiedbook.live_figures import slider
        >>> pile(sp.Sum(w(i), (i, 1, d)), drawn={w: "normal"}, y="sum", mean=0, spread=sp.sqrt(d),
        ...      limits=(-9, 9), seen=[1.0, -2.0], caption="A sum.", alt="Two numbers.",
        ...      sliders=[slider(d, "terms d", 1, 9, whole=True)])  # doctest: +ELLIPSIS
        A pile. sum: 2 drawn, mean 0, spread 2.24. Moved by: terms d.
    """
    names = [control.symbol.name for control in sliders]
    laws: list[str | int] = []
    for function, law in drawn.items():
        if isinstance(law, Slider) and law in sliders and set(law.names) <= set(LAWS) and law.names:
            laws.append([*sliders].index(law))
        elif law in LAWS:
            laws.append(str(law))
        else:
            raise ValueError(
                f"drawn[{function}]: got {law!r}; accepted: {', '.join(LAWS)}, or a choice among "
                "them that is one of the sliders"
            )
    if not limits[0] < limits[1]:
        raise ValueError(f"limits: got {limits}; accepted: two numbers that rise")
    index = [largest[0].name] if largest else []
    functions = [f.__name__ for f in drawn]
    js = script_of(sp.sympify(quantity), [*names, *index], "quantity", functions)
    if largest:
        ends = ", ".join(script_of(sp.sympify(end), names, "largest") for end in largest[1:])
        js = f"largest(k => (v => {js})([...v, k]), {ends}, draw)"
    made = Curves(sliders)
    curves = [
        Curve(y, "", js, sp.sstr(quantity), lambda v: math.nan),
        made.curve(mean, "predicted mean", "mean", "s0"),
        made.curve(spread, "predicted spread, on both sides", "spread", "s1"),
    ]
    for place, (name, (of, source)) in enumerate((breaks or {}).items()):
        if of not in ("mean", "spread"):
            raise ValueError(f"breaks[{name!r}]: got {of!r}; accepted: mean, spread")
        broken = 1 if of == "mean" else 2
        argument = f"breaks[{name!r}]"
        curves.append(made.curve(source, name, argument, f"wrong{place}", broken=broken))
    found = Pile(tuple(sliders), tuple(curves), tuple(made.tables), tuple(laws), limits,
                 tuple(map(float, seen)), caption, alt)  # fmt: skip
    refuse_large(found.html)
    return found


@dataclass(frozen=True, repr=False)
class Pile:
    """A pile of draws; made by `pile`."""

    controls: tuple[Slider, ...]
    curves: tuple[Curve, ...]
    tables: tuple[dict[str, Any], ...]
    laws: tuple[str | int, ...]
    limits: tuple[float, float]
    seen: tuple[float, ...]
    caption: str
    alt: str

    def predicted(self) -> tuple[float, float]:
        """Mean and spread where the sliders stand at first."""
        at = [control.start for control in self.controls]
        return self.curves[1].at(at), self.curves[2].at(at)

    def bins(self) -> list[int]:
        """How many of the values seen lie in each of `BINS` equal parts of the axis."""
        low, high = self.limits
        places = [math.floor((v - low) / (high - low) * BINS) for v in self.seen]
        return [places.count(k) for k in range(BINS)]

    def spec(self) -> dict[str, Any]:
        """What the script reads; sums of powers count from the predicted mean."""
        mean = self.predicted()[0]
        sums = [float(f"{sum((v - mean) ** p for v in self.seen):.6g}") for p in range(5)]
        return {
            "sliders": [control.spec() for control in self.controls],
            "curves": [curve.spec() for curve in self.curves],
            "tables": list(self.tables), "laws": list(self.laws), "y": self.curves[0].name,
            "low": self.limits[0], "high": self.limits[1],
            "seen": {"bins": self.bins(), "sums": sums},
        }  # fmt: skip

    @cached_property
    def html(self) -> str:
        """The figure without script and style, as the book has it."""
        return element("vt-pile", self._picture(), self.curves[1:], self.controls,
                       escape(self.caption), self.spec())  # fmt: skip

    def _picture(self) -> str:
        low, high = self.limits
        axis = Slider(sp.Symbol("x"), self.curves[0].name, low, high, low)
        bins, (mean, spread) = self.bins(), self.predicted()
        most = max(4, *bins) * 1.08
        start, across, up, bottom = frame(axis, "how many", (0, most), False, self.alt)
        width = across(low + (high - low) / BINS) - across(low)
        heaps = "".join(
            f"M{across(low) + width * k:.1f} {bottom:.1f}V{up(c):.1f}h{width - 1:.1f}V{bottom:.1f}Z"
            for k, c in enumerate(bins) if c
        )  # fmt: skip
        lines = [("s0", mean), ("s1", mean - spread), ("s1", mean + spread)]
        return "".join([
            *start, f'<path class="heap" d="{heaps}"/>',
            *(line(f"curve {look}", across(v), up(0), across(v), up(most)) for look, v in lines),
            "</svg></svg>",
        ])  # fmt: skip

    def __repr__(self) -> str:
        mean, spread = self.predicted()
        moved = ", ".join(control.label for control in self.controls)
        return (
            f"A pile. {self.curves[0].name}: {len(self.seen)} drawn, mean {shown_number(mean)}, "
            f"spread {shown_number(spread)}. Moved by: {moved}."
        )

    def _repr_html_(self) -> str:
        return self.html + style_tag() + script_tag()
