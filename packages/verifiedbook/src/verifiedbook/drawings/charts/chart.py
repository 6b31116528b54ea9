"""A chart: a drawing of a few numbers, which it also tells in words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..drawing import WIDEST, Drawing, Panel
from ..labels import SIZE, as_text, text, text_width
from ..marks import line

_TOLD = 60  # numbers that a description for a screen reader lists
_MORE = 4  # significant digits that a position follows: the same picture on every processor


@dataclass(frozen=True)
class Chart(Drawing):
    """A drawing with its numbers as lines of text.

    Args:
        panels, caption, alt: as of a drawing.
        told: a line for each row, its label first.
    """

    told: tuple[str, ...] = ()

    def html(self) -> str:
        """Return the chart as HTML, as a drawing is."""
        return super().html().replace('"vt-drawing"', '"vt-drawing vt-chart"', 1)

    def __repr__(self) -> str:
        return "\n".join((f"[chart] {as_text(self.caption)}", *self.told))


def chart(panels: Iterable[Panel], caption: str, seen: str, told: Sequence[str]) -> Chart:
    """Return a chart whose description lists what it tells.

    Args:
        panels: one to three.
        caption: one or two sentences that say what to look at.
        seen: what kind of picture it is.
        told: a line for each row.
    """
    listed = "; ".join(told[:_TOLD]) + (" and more" if len(told) > _TOLD else "")
    return Chart(tuple(panels), caption, f"{seen} {listed}.", tuple(told))


def finite(name: str, value: float) -> float:
    """Return a number as it is told, to all its digits.

    Raises:
        ValueError: it is no finite number.
    """
    found = float(value)
    if not math.isfinite(found):
        raise ValueError(f"{name}: got {value}; accepted: a finite number")
    return found


def rounded(value: float) -> float:
    """Return a number with the digits that a position or a shade follows.

    Example:
        >>> rounded(75776.0)
        75780.0
    """
    return float(f"{value:.{_MORE}g}")


def written(form: str, value: float) -> str:
    """Write a number as text, with a true minus sign, and a gap for the comma of thousands.

    Example:
        >>> written("{:.1f} nats", -0.25), written("{:,.0f}", 75776)
        ('−0.2 nats', '75 776')
    """
    said = form.format(value).replace("-", "−")
    return re.sub(r"(?<=\d),(?=\d{3})", " ", said)


def refuse_empty(rows: Mapping[str, object], name: str = "rows") -> None:
    """Refuse an empty table.

    Raises:
        ValueError: there is no row.
    """
    if not rows:
        raise ValueError(f"{name}: got none; accepted: a name and its numbers, one or more")


def round_numbers(low: float, high: float, most: int) -> list[float]:
    """Return the multiples of 1, 2 or 5 times a power of ten from one number to another.

    Args:
        low, high: the numbers.
        most: about how many are wanted at most.

    Example:
        >>> round_numbers(0, 0.37, 4)
        [0.0, 0.1, 0.2, 0.3]
    """
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    by = next(power * k for k in (1, 2, 5, 10) if power * k >= rough * 0.999)
    first, last = math.ceil(low / by - 1e-9), math.floor(high / by + 1e-9)
    return [float(f"{k * by:.12g}") for k in range(first, last + 1)]


@dataclass(frozen=True)
class Scale:
    """Where a number stands along an axis.

    Args:
        low, high: ends of the axis, in the unit of the numbers.
        start, end: where they stand, in units of the panel.
        log: whether equal ratios are equal distances.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def of(
        cls, values: Iterable[float], start: float, end: float, *, log: bool = False,
        zero: bool = True, ticks: Sequence[float] = (),
    ) -> Scale:  # fmt: skip
        """Return a scale that holds all values.

        Args:
            values: what it has to hold.
            start, end: of the axis, in units of the panel.
            log: whether it is logarithmic; then it begins and ends at a power of ten.
            zero: whether it holds zero as well, where it is not logarithmic.
            ticks: what it marks and therefore holds; then a logarithmic one ends where they do.

        Raises:
            ValueError: a logarithmic scale is asked for a number that is not positive.
        """
        found = [rounded(value) for value in (*values, *ticks)]
        if log:
            if min(found) <= 0:
                raise ValueError(f"log: got {min(found)}; accepted: positive numbers only")
            if ticks:
                return cls(min(found), max(found), start, end, log=True)
            low = 10.0 ** math.floor(math.log10(min(found)) - 1e-9)
            high = 10.0 ** math.ceil(math.log10(max(found)) + 1e-9)
            return cls(low, high, start, end, log=True)
        low, high = min(found), max(found)
        if zero:
            low, high = min(0.0, low), max(0.0, high)
        room = 0.0 if zero and low == 0 else 0.05 * (high - low)
        return cls(low - room if low < 0 or not zero else low, high or 1.0, start, end)

    def __call__(self, value: float) -> float:
        value = rounded(value)
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 4) -> list[float]:
        """Return round numbers along the axis, at most about ``most`` of them.

        Example:
            >>> Scale(0, 10, 0, 100).ticks(), Scale(0.1, 1000, 0, 1, log=True).ticks(3)
            ([0.0, 5.0, 10.0], [0.1, 10.0, 1000.0])
        """
        if self.log:
            first, last = round(math.log10(self.low)), round(math.log10(self.high))
            step = max(1, math.ceil((last - first) / (most - 1)))
            return [float(f"1e{power}") for power in range(first, last + 1, step)]
        return round_numbers(self.low, self.high, most)


def tick(value: float) -> str:
    """Write the number of a tick: ``1000`` in full, ``10^{6}`` as a power.

    Example:
        >>> tick(0.5), tick(1e6), tick(-20.0)
        ('0.5', '10^{6}', '−20')
    """
    if value and not 1e-3 <= abs(value) < 1e5:
        power = math.floor(math.log10(abs(value)) + 1e-9)
        front = value / 10.0**power
        head = "" if abs(front - 1) < 1e-9 else f"{front:.3g}·"
        return f"{head}10^{{{power}}}".replace("-", "−")
    return f"{value:g}".replace("-", "−")


def legend(
    entries: Sequence[tuple[str, str]], width: float
) -> tuple[list[tuple[float, float, str, str]], float]:
    """Place the entries of a legend in lines.

    Args:
        entries: name and role of each.
        width: of the panel.

    Returns:
        For each entry where its sign stands (x, y), its name and its role; and the height of all.
    """
    placed, x, y = [], 8.0, 14.0
    for name, role in entries:
        wide = 24 + roomy(name, 13) + 12
        if x > 8 and x + wide > width:
            x, y = 8.0, y + 22
        placed.append((x, y, name, role))
        x += wide
    return placed, (y + 12 if entries else 0.0)


def along_the_bottom(
    scale: Scale, y: float, top: float, unit: str = "", ticks: Sequence[float] = ()
) -> list[str]:
    """Return the ticks of a lying axis: faint lines from ``top`` to ``y``, numbers below."""
    marks = []
    for value in ticks or scale.ticks():
        x = scale(value)
        marks.append(line((x, top), (x, y), width=1, faint=True))
        half = roomy(tick(value), 13) / 2
        marks.append(text(min(max(x, half), 318 - half), y + 12, tick(value), size=13))
    if unit:
        marks.append(text((scale.start + scale.end) / 2, y + 30, unit, size=13))
    return marks


def label_width(labels: Iterable[str], most: float, size: float = SIZE) -> float | None:
    """Return how wide a column of labels is, or nothing: then they stand above their rows.

    Raises:
        ValueError: a label is wider than a phone.
    """
    there = list(labels)
    for label in there:
        if roomy(label, size) > WIDEST - 8:
            raise ValueError(f"rows: got the label {label!r}; accepted: one that fits a phone")
    wide = max(roomy(label, size) for label in there)
    return wide + 8 if wide + 8 <= most else None


def roomy(label: str, size: float) -> float:
    """Return how wide a label may be in the widest of a screen's letters."""
    return 1.14 * text_width(label, size) + 0.5 * size * len(re.findall("[mwMW−]", label))
