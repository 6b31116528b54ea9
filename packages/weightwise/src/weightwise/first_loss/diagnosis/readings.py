"""What `diagnose` answers: predicted against measured, module by module, as text and assertion."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from html import escape

_LAYER = re.compile(r"^(?:.*?layer \d+|\w+)")
SIGMAS = 6.0  # how many deviations a reading may lie off; bench/planted_faults.py counts alarms


@dataclass(frozen=True)
class Reading:
    """One quantity of one module.

    Attributes:
        place: where, such as "layer 0 attention" or the name of a module.
        what: of which quantity, such as "stream" or "standard deviation".
        predicted: what the configuration promises.
        measured: what this model has.
        deviation: how far one draw may lie from the prediction, a standard deviation.
        cause: what would move it, in a few words.
        skewed: whether it is a sum of few squares, which a draw makes large rather than small: what
            is larger than predicted is then compared by its logarithm.
    """

    place: str
    what: str
    predicted: float
    measured: float
    deviation: float
    cause: str
    skewed: bool = False

    @property
    def off(self) -> float:
        """How far it is off, in deviations; infinite where it is no number, or is dead: zero."""
        gap, dead = abs(self.measured - self.predicted), self.measured == 0 != self.predicted
        if not math.isfinite(gap) or dead or not self.deviation:
            return 0.0 if gap == 0 else math.inf
        if self.skewed and self.measured > self.predicted > 0:
            gap = self.predicted * math.log(self.measured / self.predicted)
        return gap / self.deviation

    @property
    def fits(self) -> bool:
        """Whether it lies within six deviations."""
        return self.off <= SIGMAS

    def __str__(self) -> str:
        room = SIGMAS * self.deviation
        said = f"{self.place}, {self.what}: {self.measured:.4g}, due {self.predicted:.4g}"
        return f"{said} ± {room:.2g}"


@dataclass(frozen=True)
class Diagnosis:
    """What a fresh model shows in one pass, beside what its configuration promises.

    Attributes:
        name: the class.
        readings: every quantity that was compared, in the order of the pass.
        unreached: parameters that the loss does not move, by name; empty without a backward pass.
        notes: what could not be compared, and why.

    Example:
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> from weightwise import diagnose
        >>> small = GPT2Config(vocab_size=2000, n_embd=64, n_layer=2, n_head=2,
        ...                    bos_token_id=0, eos_token_id=0)
        >>> diagnose(GPT2LMHeadModel(small)).fits
        True
    """

    name: str
    readings: tuple[Reading, ...]
    unreached: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def wrong(self) -> tuple[Reading, ...]:
        """The readings that leave their prediction, in the order of the pass."""
        return tuple(reading for reading in self.readings if not reading.fits)

    @property
    def fits(self) -> bool:
        """Whether every reading is what is due, and every parameter is reached."""
        return not self.wrong and not self.unreached

    def __str__(self) -> str:
        count, wrong = len(self.readings), self.wrong
        lines = [f"{self.name}: {count - len(wrong)} of {count} readings are what is due"]
        alike: dict[tuple[str, str], list[Reading]] = {}
        for reading in wrong:
            alike.setdefault((reading.what, reading.cause), []).append(reading)
        for first, *others in [*alike.values()][:12]:
            more = f", and {len(others)} like it" if others else ""
            lines.append(f"  {first}{more}\n    would be: {first.cause}")
        if len(alike) > 12:
            lines.append(f"  … and others of {len(alike) - 12} kinds")
        if self.unreached:
            few = ", ".join(self.unreached[:6]) + (" …" if len(self.unreached) > 6 else "")
            lines.append(f"  the loss does not move {len(self.unreached)} parameters: {few}")
            lines.append("    would be: left out of the pass, or behind a detach()")
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)

    def table(self) -> str:
        """Every reading, a line each."""
        width = max(len(f"{each.place}, {each.what}") for each in self.readings)
        return "\n".join(
            f"{'  ' if each.fits else '! '}{f'{each.place}, {each.what}':{width}} "
            f"due {each.predicted:<10.4g} ± {each.deviation:<8.2g} has {each.measured:.4g}"
            for each in self.readings
        )

    def picture(self) -> str:
        """Measured over predicted in the order of the pass, from an eighth to eight times, an SVG.

        A bar is what one draw may differ by, a dot what this model has: red where it does not fit,
        and named where that is so first. What is due to be zero, and is, is left out.
        """
        wide, rows, named, edge = 640.0, list[str](), "", -30.0
        shown = [each for each in self.readings if each.predicted > 0 or not each.fits]

        def height(share: float) -> float:
            return 100 - 26 * math.log2(min(max(share, 1 / 8), 8)) if math.isfinite(share) else 22

        for share in (1 / 8, 1, 8):
            rows.append(_line(0, wide, height(share), height(share)) +
                        f'<text y="{height(share) - 3:.0f}">× {share:g}</text>')  # fmt: skip
        for index, each in enumerate(shown):
            x = 40 + (wide - 50) * index / len(shown)
            due = max(each.predicted, 1e-300)
            share, room = each.measured / due, SIGMAS * each.deviation / due
            place = _LAYER.findall(each.place)[0]
            if place != named and x - edge > 26:
                word = place.split()[-1] if edge > 0 and "layer" in place else place
                rows.append(_line(x, x, 10, 184) + f'<text x="{x:.1f}" y="196">{word}</text>')
                edge = x
            named = place
            rows.append(_line(x, x, height(1 - room), height(1 + room), "stroke-width='3'"))
            colour = "#4f81bd" if each.fits else "#c0504d"
            rows.append(f'<circle cx="{x:.1f}" cy="{height(share):.1f}" r="2.5" fill="{colour}"/>')
        for first in self.wrong[:1]:
            said = f"leaves first: {escape(str(first))}"
            rows.append(f'<text x="60" y="14" fill="#c0504d">{said}</text>')
        return framed(rows, int(wide), 204, str(self).splitlines()[0])

    def _repr_html_(self) -> str:
        return f"{self.picture()}<pre>{escape(str(self))}</pre>"

    def check(self) -> None:
        """Fail where a reading is not what is due, or a parameter is not reached.

        Raises:
            AssertionError: one is not; the message is the diagnosis.
        """
        if not self.fits:
            raise AssertionError(f"model: {self}")


def _line(x: float, until: float, y: float, to: float, more: str = "") -> str:
    path = f"M{x:.1f} {y:.1f}L{until:.1f} {to:.1f}"
    return f'<path d="{path}" stroke="currentColor" opacity=".3" {more}/>'


def framed(rows: list[str], wide: int, high: int, said: str) -> str:
    """Return parts of a picture as an SVG, with what a reader hears who does not see it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img" '
        f'aria-label="{escape(said)}" font-size="13" fill="currentColor" '
        f'style="max-width:{wide}px"><title>{escape(said)}</title>{"".join(rows)}</svg>'
    )
