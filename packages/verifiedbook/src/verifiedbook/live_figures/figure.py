"""`live`: proved formulas as curves that a reader moves, in the book, in Jupyter and in Colab."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from importlib import resources
from typing import Any

from .compressed import compressed
from .controls import Preset, Setting, Slider, in_words, settings
from .curves import DASHES, Curve, Curves, Source
from .measured import Points, elsewhere, placed, refuse_off_curve
from .simulated import Stack
from .still import extent, sample, still

LARGEST = 15_000  # bytes of a figure, its picture included


def live(
    curves: Mapping[str, Source],
    *,
    x: Slider,
    y: str,
    caption: str,
    alt: str,
    sliders: Sequence[Slider] = (),
    limits: tuple[float, float] | None = None,
    log: bool = False,
    measured: Sequence[Points] = (),
    breaks: Mapping[str, Source] | None = None,
    rules: Mapping[str, Source] | None = None,
    presets: Mapping[str, Setting] | None = None,
    steps: int = 0,
    hands: Mapping[str, Source] | None = None,
    layers: Stack | None = None,
) -> Live:
    r"""Return an interactive figure that needs no kernel.

    Args:
        curves: by name: a SymPy expression (or a derivation, a reading, a truth), what `tabulated`
            returns, or a dictionary of these by the names of a `choice`.
        x: the horizontal axis, made by `slider`; it also moves the marker at which values are read.
        y: title of the vertical axis, with its unit.
        caption: what is shown and what to look at; stands below.
        alt: what is seen where the sliders stand at first, for those who do not see it.
        sliders: made by `slider` and `choice`.
        limits: ends of the vertical axis; without them it follows the curves.
        log: whether the vertical axis is logarithmic.
        measured: made by `points_of`.
        breaks: wrong versions by what is wrong with them; each has a switch "Break it".
        rules: lines to compare with, such as the loss of a uniform guess.
        presets: settings by name, such as the sizes of a model: each has a button, which sets the
            sliders whose symbols it names.
        steps: how often the first curve is applied to its own value, from the marker on: up to the
            curve, across to the diagonal, and again.
        hands: angles of hands on a dial, 0 at its top; a reader may drag them, which moves the
            marker as the first one turns. Their mean is drawn in the look of the second curve.
        layers: made by `stack`: what the page runs itself beside the curves.

    Returns:
        The figure, which a notebook shows.

    Raises:
        TypeError, ValueError: an argument is not what is accepted, or the figure is too large.

    Example:
        >>> import sympy as sp
        >>> from verifiedbook.live_figures import slider
        >>> a, t = sp.symbols("a t")
        >>> live({"sine": sp.sin(a * t)}, x=slider(t, "time t", 0, 6), y="height",
        ...      sliders=[slider(a, "speed a", 1, 3, start=1)], caption="A wave.", alt="One wave.")
        Live figure. height over time t: sine. Moved by: speed a.
    """
    for name, text in (("caption", caption), ("alt", alt), ("y", y)):
        if not text.strip():
            raise ValueError(f"{name}: got nothing; accepted: a text for the reader")
    if not curves:
        raise ValueError("curves: got none; accepted: a formula or a table for each name")
    controls = [x, *sliders]
    if len({c.symbol.name for c in controls}) < len(controls):
        raise ValueError("sliders: two move the same symbol; accepted: one for each")
    made = Curves(controls)
    names = [*curves]
    shown = [
        made.curve(source, name, f"curves[{name!r}]", DASHES[place % len(DASHES)])
        for place, (name, source) in enumerate(curves.items())
    ]
    shown += [made.curve(source, name, f"rules[{name!r}]", "rule", rule=True)
              for name, source in (rules or {}).items()]  # fmt: skip
    found = placed(measured, names, controls)
    broken = found[0].of if found else 0
    shown += [made.curve(source, name, f"breaks[{name!r}]", f"wrong{place}", broken=broken)
              for place, (name, source) in enumerate((breaks or {}).items())]  # fmt: skip
    shown += [made.curve(source, name, f"hands[{name!r}]", DASHES[2 * place], hand=True)
              for place, (name, source) in enumerate((hands or {}).items())]  # fmt: skip
    refuse_off_curve(found, shown, [control.start for control in controls])
    if layers and not x.stops:
        raise ValueError("x: got a slider without stops; accepted: one stop for each of the layers")
    run = layers.spec(controls) if layers else None
    figure = Live(tuple(controls), tuple(shown), tuple(made.tables), tuple(found), y, log, limits,
                  caption, alt, settings(presets or {}, controls), steps, run)  # fmt: skip
    refuse_large(figure.html)
    return figure


@dataclass(frozen=True, repr=False)
class Live:
    """A live figure; made by `live`."""

    controls: tuple[Slider, ...]
    curves: tuple[Curve, ...]
    tables: tuple[dict[str, Any], ...]
    points: tuple[Points, ...]
    y: str
    log: bool
    limits: tuple[float, float] | None
    caption: str
    alt: str
    presets: tuple[Preset, ...] = ()
    steps: int = 0
    layers: dict[str, Any] | None = None

    def spec(self) -> dict[str, Any]:
        """What the script reads."""
        return {
            "sliders": [control.spec() for control in self.controls],
            "y": self.y, "log": int(self.log), "limits": self.limits,
            "curves": [curve.spec() for curve in self.curves],
            "tables": list(self.tables),
            "points": [group.spec() for group in self.points],
            "elsewhere": elsewhere(self.points, self.controls) if self.points else "",
            **({"presets": list(self.presets)} if self.presets else {}),
            **({"steps": self.steps} if self.steps else {}),
            **({"layers": self.layers} if self.layers else {}),
        }  # fmt: skip

    @cached_property
    def html(self) -> str:
        """The figure without script and style, as the book has it."""
        start = [control.start for control in self.controls]
        here = [p for p in self.points if all(start[k] == v for k, v in p.where)]
        limits = self.limits or extent(self.curves, self.controls[0], start[1:], here, self.log)
        picture = still(self.curves, self.controls, self.y, self.log, limits, here, self.alt,
                        self.steps)  # fmt: skip
        caption = f"{escape(self.caption)}{self._errors()}"
        return element("vt-live", picture, self.curves, self.controls[1:], caption, self.spec())

    def _errors(self) -> str:
        errors = {c.name: c.error for c in self.curves if c.error}
        if not errors:
            return ""
        told_ = "; ".join(
            f"{f'{100 * off:g} %' if share else f'{off:g}'} for “{name}”"
            for name, (off, share) in errors.items()
        )
        return f" Interpolated, with an error of at most {escape(told_)}."

    def __repr__(self) -> str:
        moved = ", ".join(control.label for control in self.controls[1:])
        named = ", ".join(curve.name for curve in self.curves if curve.plotted)
        return (
            f"Live figure. {self.y} over {self.controls[0].label}: {named}."
            + (f" Moved by: {moved}." if moved else "")
            + (f" Set to: {', '.join(name for name, _ in self.presets)}." if self.presets else "")
        )

    def _repr_html_(self) -> str:
        return self.html + style_tag() + script_tag()


def element(
    tag: str, picture: str, curves: Sequence[Curve], sliders: Sequence[Slider], caption: str,
    spec: Mapping[str, Any],
) -> str:  # fmt: skip
    """Return the element of a figure: still picture, key, setting, caption, and the data.

    Args:
        tag: the element's name, which says what the script makes of it.
        curves: those that stand in the key.
        sliders: whose setting is told where no script runs.
        caption: as HTML.
        spec: what the script reads.
    """
    key = "".join(
        f"<li{' hidden' if c.broken is not None else ''}>{sample(c.look)}"
        f"<span>{escape(c.name)}</span> <b></b></li>"
        for c in curves
    )
    setting = ", ".join(f"{c.label} {in_words(c, c.start)}" for c in sliders)
    drawn = f'<p class="vt-live-set">Drawn at {escape(setting)}.</p>' if setting else ""
    data = json.dumps(spec, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<{tag} class="vt-live"><figure><div class="vt-live-stage">{picture}</div>'
        f'<ul class="vt-live-key">{key}</ul>{drawn}'
        f"<figcaption>{caption}</figcaption></figure>"
        f'<script type="application/json">{data}</script></{tag}>'
    )


def refuse_large(html: str) -> None:
    """Refuse a figure that is too heavy for a page.

    Raises:
        ValueError: it has more than `LARGEST` bytes.
    """
    size = len(html.encode())
    if size > LARGEST:
        raise ValueError(
            f"the figure has {size} bytes; accepted: {LARGEST} at most: fewer numbers in its "
            "tables (a larger error, a narrower range, fewer stops) or fewer points"
        )


@cache
def source(name: str) -> str:
    """The text of live.js or live.css without comments and needless blanks, as it is served.

    Args:
        name: "live.js" or "live.css".
    """
    text = (resources.files(__package__) / name).read_text(encoding="utf-8")
    return compressed(text, name.removeprefix("live"))


def script_tag() -> str:
    """The script, for an output that must work by itself; the book takes it out."""
    return f'<script class="vt-live-script">{source("live.js")}</script>'


def style_tag() -> str:
    """The style sheet, in the same way."""
    return f'<style class="vt-live-style">{source("live.css")}</style>'
