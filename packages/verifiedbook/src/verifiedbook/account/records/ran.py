"""What ran: a model of a check, as its own objects describe it.

A name that somebody types says what ought to have run. What stands here was read off the modules:
which class it was, whether its head is its embedding, what its norms add. Data alone; the reading
off is `checks.what_ran`.

A reading may name the real models of which it speaks, ``model: ["BertForMaskedLM, tied"]``. A
record in which another class of transformers ran, or one that is tied otherwise, is refused; and
until each of them has run, the claim is not decided. Parts of torch may run beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..rules import Refuse

TRANSFORMERS, TORCH, OWN = "transformers", "torch.nn", "the book"
_TIED = {True: "tied by identity", False: "untied", None: ""}
_TIES = {None: None, "tied": True, "untied": False}
_MODEL = re.compile(r"((?:nn\.)?[A-Z]\w*)(?:, (tied|untied))?")


class RecordError(ValueError):
    """A record is not what a record can be; the message names the field."""


@dataclass(frozen=True)
class Ran:
    """A model that ran, or that a check was given.

    Attributes:
        name: of its class.
        home: where that class is from: transformers, torch, or the book.
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


@dataclass(frozen=True)
class NamedModel:
    """A class of transformers, or of torch (``nn.…``), and how its head has to be.

    Attributes:
        name: of the class.
        tied: whether its head is its embedding; None where that is free.
    """

    name: str
    tied: bool | None = None

    def __str__(self) -> str:
        """The model as a reading has it."""
        return self.name + {None: "", True: ", tied", False: ", untied"}[self.tied]

    def is_what(self, ran: Ran) -> bool:
        """Whether it is this that ran."""
        home, _, name = self.name.rpartition(".")
        same = ran.name == name and ran.home == (TORCH if home else TRANSFORMERS)
        return same and self.tied in (None, ran.tied)


def read_models(given: object, refuse: Refuse) -> tuple[NamedModel, ...]:
    """Return the models that a reading names.

    Args:
        given: one model or a list of them, as the claims file has it; None where it names none.

    Raises:
        RegistryError: one of them is no class, with or without ``tied`` or ``untied`` behind it.
    """
    every = given if isinstance(given, list) else [] if given is None else [given]
    found = [_MODEL.fullmatch(str(item)) for item in every]
    if None in found:
        raise refuse(f"model: got {given!r}; accepted: a class, such as BertForMaskedLM, tied")
    return tuple(NamedModel(m[1], _TIES[m[2]]) for m in found if m)


def model_fault(ran: Iterable[Ran], models: Sequence[NamedModel], what: str) -> str | None:
    """Say which real model ran of which the reading does not speak, or return None.

    Args:
        models: of the reading; where it names none, anything may run.
    """
    for one in ran if models else ():
        if one.home == TRANSFORMERS and not any(model.is_what(one) for model in models):
            spoken = " or ".join(map(str, models))
            return f"{what} ran {one}; the reading speaks of {spoken}"
    return None


def not_run(ran: Iterable[Ran], models: Sequence[NamedModel]) -> str | None:
    """Return the first model of a reading that did not run, in words; None where all did."""
    every = list(ran)
    missing = (str(m) for m in models if not any(m.is_what(one) for one in every))
    return next((f"a run of {name}" for name in missing), None)
