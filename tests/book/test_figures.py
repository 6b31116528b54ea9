"""Figures as data: what they show is stored, and a change of it is seen and told."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from matplotlib.axes import Axes

from verified_transformer.book import figures
from verifiedbook.account.records import pictures
from verifiedbook.figures import figure, measured, plt

pytestmark = pytest.mark.slow


def output(draw: Callable[[Axes], object], x: str = "x", log: bool = False) -> dict:
    """A picture as a notebook stores it."""
    fig, (ax,) = figure(x, "y")
    draw(ax)
    if log:
        ax.set_yscale("log")
    data, metadata = figures.picture(fig)
    plt.close(fig)
    return {"data": {"image/png": data}, "metadata": {"image/png": metadata}}


def curve(ax: Axes) -> None:
    ax.plot(range(1, 100), [v**2 for v in range(1, 100)], label="square")
    measured(ax, [10, 50], [100, 2500], [10, 10], "measured")
    ax.axhline(5000)
    ax.fill_between([1, 50], [0, 0], [100, 900])
    ax.scatter([20, 30], [400, 900])
    ax.bar([5, 80], [1000, 2000])
    ax.legend()


@cache
def stored() -> dict:
    """The picture of `curve`, which others are held against."""
    return output(curve)


def told(stored: list, new: list) -> list[str]:
    """What can be seen to differ."""
    return [text for _, text, units in pictures.moved(stored, new) if units > 1]


def test_a_picture_is_its_datas_and_like_itself() -> None:
    first, second = stored(), output(curve)
    assert pictures.picture_fault(first) is None
    assert told([first], [second]) == []


CHANGES = {
    "a sign": (lambda ax: ax.lines[0].set_ydata([-v**2 for v in range(1, 100)]), "square: moved"),
    "a label": (lambda ax: ax.lines[0].set_label("cube"), "'square' stored, 'cube' came out"),
    "a colour": (lambda ax: ax.lines[0].set_color("black"), "look is"),
    "an axis": (lambda ax: ax.set_ylabel("z"), "y is 'y' stored, 'z' came out"),
    "a scale": (lambda ax: ax.set_xscale("log"), "scales is"),
    "a mark more": (lambda ax: ax.plot([1, 2], [1, 2]), "marks are stored"),
    "a bar": (lambda ax: ax.patches[0].set_height(4000), "moved by"),
    "a point": (lambda ax: ax.collections[-1].set_offsets([[20, 400], [30, 1400]]), "moved by"),
    "a name at a tick": (lambda ax: ax.set_xticks([1, 50], ["small", "large"]), "ticks is"),
    "a text": (lambda ax: ax.text(1, 1, "here"), "texts is"),
}  # fmt: skip


@pytest.mark.canary
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_picture_is_told(change: str) -> None:
    alter, says = CHANGES[change]

    def changed(ax: Axes) -> None:
        curve(ax)
        alter(ax)

    assert any(says in text for text in told([stored()], [output(changed)]))


def test_what_cannot_be_seen_is_no_change() -> None:
    near = output(lambda ax: ax.plot([1, 2], [1, 2.0001]))
    assert not told([output(lambda ax: ax.plot([1, 2], [1, 2]))], [near])


def test_on_a_logarithmic_axis_a_factor_counts() -> None:
    one = output(lambda ax: ax.plot([1, 2], [1e-6, 1]), log=True)
    other = output(lambda ax: ax.plot([1, 2], [2e-6, 1]), log=True)
    assert any("moved by" in text for text in told([one], [other]))


@pytest.mark.canary
def test_a_swapped_picture_is_found() -> None:
    first, second = output(curve), output(lambda ax: ax.plot([1, 2], [1, 2]))
    first["data"] = second["data"]
    assert "not the one" in (pictures.picture_fault(first) or "")
    del second["metadata"]["image/png"]
    assert "without its data" in (pictures.picture_fault(second) or "")
    assert told([stored()], []) == ["1 pictures are stored, 0 came out"]


def test_points_of_unstable_training_are_stored_and_not_compared() -> None:
    def trained(high: float, label: str = "loss") -> dict:
        fig, (ax,) = figure("step", "loss", travels=False)
        ax.plot([1, 2], [1, high], label=label)
        data, metadata = figures.picture(fig)
        plt.close(fig)
        return {"data": {"image/png": data}, "metadata": {"image/png": metadata}}

    assert not told([trained(2)], [trained(7)])
    assert told([trained(2)], [trained(2, "gain")])
