"""The book's figures: one look, axes named, readable on a phone and in print, kept as data."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .drawn import STAYS, show_as_data

__all__ = ["COLOURS", "figure", "measured", "plt"]

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
