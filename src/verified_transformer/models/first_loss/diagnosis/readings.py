"""What `diagnose` answers: predicted against measured, module by module, as text and assertion."""

from __future__ import annotations

import math
from dataclasses import dataclass

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
    """

    place: str
    what: str
    predicted: float
    measured: float
    deviation: float
    cause: str

    @property
    def off(self) -> float:
        """How far it is off, in deviations; infinite where it is no number."""
        gap = abs(self.measured - self.predicted)
        return gap / self.deviation if math.isfinite(gap) else math.inf

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
        >>> from verified_transformer.models import diagnose
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
        for reading in wrong[:12]:
            lines.append(f"  {reading}\n    would be: {reading.cause}")
        if len(wrong) > 12:
            lines.append(f"  … and {len(wrong) - 12} more")
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

    def check(self) -> None:
        """Fail where a reading is not what is due, or a parameter is not reached.

        Raises:
            AssertionError: one is not; the message is the diagnosis.
        """
        if not self.fits:
            raise AssertionError(f"model: {self}")
