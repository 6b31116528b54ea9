"""The book's figures: one look, axes named, readable on a phone and in print, kept as data.

nbval does not compare pictures. Every figure of the book therefore leaves its labels and points in
the metadata of its output, and `account.records.pictures` compares them with those of a new run.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection, LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FuncFormatter

from .account.records.pictures import KEY

__all__ = ["COLOURS", "figure", "measured", "picture", "plt", "show_as_data"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")  # Okabe and Ito
_STYLE = {
    "figure.dpi": 144,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "axes.prop_cycle": plt.cycler(color=COLOURS),
    "legend.frameon": False,
}


def figure(x: str, y: str, *, panels: int = 1, travels: bool = True) -> tuple[Figure, np.ndarray]:
    """Return a figure in the book's style with named axes.

    Args:
        x, y: labels of the axes, with units where there are any.
        panels: how many panels side by side.
        travels: whether another processor draws nearly the same; where it does not, as for curves
            of unstable training, points are stored and not compared.

    Returns:
        The figure and an array of its ``panels`` axes.

    Raises:
        ValueError: fewer than one panel.
    """
    if panels < 1:
        raise ValueError(f"panels: got {panels}; accepted: 1 or more")
    with plt.rc_context(_STYLE):
        fig, axes = plt.subplots(
            1, panels, figsize=(6.4 if panels == 1 else 4.2 * panels, 3.6),
            layout="constrained", squeeze=False,
        )  # fmt: skip
    fig.set_gid("" if travels else STAYS)
    show_as_data()  # after the first figure: matplotlib's own set-up drops what was set before
    for ax in axes[0]:
        ax.set_xlabel(x)
    axes[0][0].set_ylabel(y)
    return fig, axes[0]


def measured(
    ax: Axes, x: Sequence[float], mean: Sequence[float], error: Sequence[float], label: str
) -> None:
    """Draw measured points with error bars of ±3 standard errors.

    Args:
        ax: where.
        x, mean, error: places, means and their standard errors, equally many.
        label: of the points.

    Raises:
        ValueError: not equally many.
    """
    if not len(x) == len(mean) == len(error):
        got = f"{len(x)}, {len(mean)}, {len(error)}"
        raise ValueError(f"x, mean, error: got {got} numbers; accepted: equally many")
    ax.errorbar(
        x, mean, yerr=3 * np.asarray(error), fmt="o", ms=4, capsize=3, color=COLOURS[1],
        label=f"{label} (± 3 standard errors)",
    )  # fmt: skip


# --------------------------------------------------------------------- what a figure shows, as data

STAYS = "stays"  # the mark of a figure whose points are another processor's others
_MOST_POINTS = 33  # of a line; a longer one is thinned evenly
_DIGITS = 5


def drawn(figure: Figure) -> list[dict[str, Any]]:
    """Return what a figure shows: for each panel its labels, scales, limits, texts and marks.

    Args:
        figure: a figure with all that is to be seen on it.

    Returns:
        A list of panels, made of texts and numbers of five digits.

    Example:
        >>> from verifiedbook.figures import figure
        >>> fig, (ax,) = figure("x", "square")
        >>> _ = ax.plot([1, 2, 3], [1, 4, 9], label="x²")
        >>> panel = drawn(fig)[0]
        >>> panel["y"], panel["marks"][0]["points"]
        ('square', [[1.0, 1.0], [2.0, 4.0], [3.0, 9.0]])
    """
    figure.canvas.draw()
    return [_panel(ax) for ax in figure.axes]


def _panel(ax: Axes) -> dict[str, Any]:
    legend = ax.get_legend()
    return {
        "x": ax.get_xlabel(), "y": ax.get_ylabel(), "title": ax.get_title(),
        "scales": [ax.get_xscale(), ax.get_yscale()],
        "limits": [[_rounded(v) for v in ax.get_xlim()], [_rounded(v) for v in ax.get_ylim()]],
        "ticks": [text for axis in (ax.xaxis, ax.yaxis) for text in _named_ticks(axis)],
        "legend": [text.get_text() for text in legend.get_texts()] if legend else [],
        "texts": [text.get_text() for text in ax.texts],
        "marks": [mark for part in ax.get_children() for mark in _marks(ax, part)],
    }  # fmt: skip


def _named_ticks(axis: Axis) -> list[str]:
    """The ticks that were given names; others follow from the limits."""
    named = isinstance(axis.get_major_formatter(), FixedFormatter | FuncFormatter)
    return [text.get_text() for text in axis.get_ticklabels()] if named else []


def _marks(ax: Axes, part: Artist) -> list[dict[str, Any]]:
    """The marks of a part of a panel that lie in its data; nothing for spines, axes and texts."""
    if isinstance(part, Line2D):
        look = [to_hex(part.get_color()), part.get_linestyle(), str(part.get_marker())]
        return [_mark("line", part, look, np.column_stack(part.get_data()).astype(float))]
    if isinstance(part, PathCollection):
        return [_mark("points", part, _colours(part), np.asarray(part.get_offsets(), float))]
    if isinstance(part, Collection):
        kind = "bars" if isinstance(part, LineCollection) else "area"
        corners = [path.vertices for path in part.get_paths()]
        return [_mark(kind, part, _colours(part), np.concatenate(corners))] if corners else []
    if isinstance(part, Patch) and part.get_transform().contains_branch(ax.transData):
        path = part.get_patch_transform().transform_path(part.get_path())
        vertices = np.asarray(path.vertices, float)
        return [_mark("patch", part, [to_hex(part.get_facecolor())], vertices)]
    return []


def _mark(kind: str, part: Artist, look: list[str], points: np.ndarray) -> dict[str, Any]:
    if len(points) > _MOST_POINTS:
        points = points[np.linspace(0, len(points) - 1, _MOST_POINTS).round().astype(int)]
    label = str(part.get_label())
    return {
        "kind": kind,
        "label": "" if label.startswith("_") else label,
        "look": look,
        "points": [[_rounded(value) for value in point] for point in points.tolist()],
    }


def _colours(part: Collection) -> list[str]:
    found = [*part.get_facecolor(), *part.get_edgecolor()]
    return sorted({to_hex(colour) for colour in found})


def _rounded(value: float) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if np.isfinite(value) else None


def picture(figure: Figure) -> tuple[str, dict[str, Any]]:
    """Return a figure as Jupyter shows it: PNG in base 64, and the metadata that say what it shows.

    Args:
        figure: the figure.

    Returns:
        The picture, and what it shows with a hash of the picture.
    """
    panels, buffer = drawn(figure), BytesIO()
    if figure.get_gid() == STAYS:
        panels = [{**panel, "stays": True} for panel in panels]
    figure.savefig(buffer, format="png", bbox_inches="tight", dpi=figure.dpi)
    data = b64encode(buffer.getvalue()).decode()
    return data, {KEY: {"panels": panels, "picture": hashlib.sha256(data.encode()).hexdigest()}}


def line(figure: Figure) -> str:
    """Return what a figure shows in a line, for those who do not see it and for comparison."""
    panels = []
    for ax in figure.axes:
        legend = ax.get_legend()
        named = [text.get_text() for text in legend.get_texts()] if legend else []
        panels.append(f"{ax.get_ylabel() or '–'} over {ax.get_xlabel() or '–'}"
                      + (f": {', '.join(named)}" if named else ""))  # fmt: skip
    return "Figure. " + "; ".join(panels)


def show_as_data() -> None:
    """Let Jupyter store what figures show beside their pictures; elsewhere do nothing."""
    try:
        from IPython import get_ipython
    except ImportError:
        return
    shell = get_ipython()
    if shell is not None:
        formatters = shell.display_formatter.formatters
        formatters["image/png"].for_type(Figure, picture)
        formatters["text/plain"].for_type(Figure, lambda fig, printer, _: printer.text(line(fig)))
