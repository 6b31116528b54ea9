"""The real models of which a reading speaks, held against what ran.

A reading names the class, and whether its head is its embedding: ``model: "BertModel"``,
``model: ["BertForMaskedLM, tied", "nn.TransformerEncoder"]``. A record in which another class of
transformers ran, or one that is tied otherwise, is refused; and until each of them has run, the
claim is not decided. Parts of torch may run beside them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..records.ran import TORCH, TRANSFORMERS, Ran

_TIES = {None: None, "tied": True, "untied": False}
_MODEL = re.compile(r"((?:nn\.)?[A-Z]\w*)(?:, (tied|untied))?")


@dataclass(frozen=True)
class Model:
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


def read_models(given: object, refuse: Callable[[str], Exception]) -> tuple[Model, ...]:
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
    return tuple(Model(m[1], _TIES[m[2]]) for m in found if m)


def model_fault(ran: Iterable[Ran], models: Sequence[Model], what: str) -> str | None:
    """Say which real model ran of which the reading does not speak, or return None.

    Args:
        models: of the reading; where it names none, anything may run.
    """
    for one in ran if models else ():
        if one.home == TRANSFORMERS and not any(model.is_what(one) for model in models):
            spoken = " or ".join(map(str, models))
            return f"{what} ran {one}; the reading speaks of {spoken}"
    return None


def not_run(ran: Iterable[Ran], models: Sequence[Model]) -> str | None:
    """Return the first model of a reading that did not run, in words; None where all did."""
    every = list(ran)
    missing = (str(m) for m in models if not any(m.is_what(one) for one in every))
    return next((f"a run of {name}" for name in missing), None)
