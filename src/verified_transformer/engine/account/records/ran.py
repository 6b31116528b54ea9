"""What ran: a model of a check, as its own objects describe it.

A name that somebody types says what ought to have run. What stands here was read off the modules:
which class it was, whether its head is its embedding, what its norms add. Data alone; the reading
off is `checks.what_ran`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TRANSFORMERS, TORCH, OWN = "transformers", "torch.nn", "the book"
HOMES = (TRANSFORMERS, TORCH, OWN)
_TIED = {True: "tied by identity", False: "untied", None: ""}


class RecordError(ValueError):
    """A record is not what a record can be; the message names the field."""


@dataclass(frozen=True)
class Ran:
    """A model that ran, or that a check was given.

    Attributes:
        name: of its class.
        home: where that class is from, one of `HOMES`.
        layers: how many there are in each of its stacks.
        tied: whether embedding and head have one parameter; None where it has no such pair.
        norms: class and ε of its norms, each once, such as ``"LayerNorm ε 1e-12"``.
        scales: by what its attention multiplies scores, such as ``"1/√8"``, where it says so.
        dtypes: of its parameters.
    """

    name: str
    home: str = TRANSFORMERS
    layers: tuple[int, ...] = ()
    tied: bool | None = None
    norms: tuple[str, ...] = ()
    scales: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.home not in HOMES:
            raise RecordError(f"ran: got the home {self.home!r}; accepted: {', '.join(HOMES)}")

    def __str__(self) -> str:
        """The description in a line.

        Example:
            >>> print(Ran("BertForMaskedLM", layers=(2,), tied=True, norms=("LayerNorm ε 1e-12",)))
            BertForMaskedLM, 2 layers, tied by identity, LayerNorm ε 1e-12
        """
        count = " + ".join(map(str, self.layers))
        name = {TRANSFORMERS: "", TORCH: "nn.", OWN: "the book's "}[self.home] + self.name
        layers = f"{count} layer{'' if self.layers == (1,) else 's'}" if self.layers else ""
        scale = " and ".join(self.scales)
        norms = [norm.removeprefix(f"{self.name} ") for norm in self.norms]
        parts = [name, layers, _TIED[self.tied], " and ".join(norms)]
        parts += [f"scale {scale}" if scale else "", " and ".join(self.dtypes)]
        return ", ".join(filter(None, parts))


def ran_in_words(ran: Sequence[Ran]) -> str:
    """Return what ran in a line; an empty text where nothing did.

    Example:
        >>> ran_in_words([Ran("Linear", "torch.nn", dtypes=("float64",)), Ran("T5Stack")])
        'What ran: nn.Linear, float64; T5Stack'
    """
    return f"What ran: {'; '.join(map(str, ran))}" if ran else ""
