"""Which architectures of the library transformers tie the head to the embedding.

Needs ``transformers``. Nothing is downloaded: defaults are read from the
configuration classes, years from the heads of the source files.
"""

from __future__ import annotations

import inspect
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_YEAR = re.compile(r"Copyright\D*(20[12]\d)")


@dataclass(frozen=True)
class Architecture:
    """A folder of the library's source that holds a model with a language-model head.

    ``year`` stands at the head of its files: that of the port, often a little later than the
    model's own. ``tied`` is the default of ``tie_word_embeddings``; ``decoder``, whether there is
    a class of it that predicts the next token.
    """

    name: str
    year: int
    tied: bool
    decoder: bool


def census() -> tuple[list[Architecture], int]:
    """Read every architecture with a language-model head in the installed version.

    Returns:
        The architectures by name, and how many are left out because they have no year or no
        default.

    Raises:
        ImportError: transformers is not installed.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="IProgress")  # a progress bar that nobody sees
        from transformers.models.auto import modeling_auto as auto

    decoders = set(auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
    names = decoders | {
        *auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
        *auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    }
    # a wrapper around two models of any architecture has no head of its own
    read = {name: _read(name) for name in sorted(names - {"encoder-decoder"})}
    causal = {read[name][0] for name in decoders & set(read)}
    folders = {folder: (year, tied) for folder, year, tied in read.values()}
    found = [
        Architecture(folder, year, tied, folder in causal)
        for folder, (year, tied) in sorted(folders.items())
        if year is not None and tied is not None
    ]
    return found, len(folders) - len(found)


def _read(name: str) -> tuple[str, int | None, bool | None]:
    """Folder, year and default of one model type."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    config = CONFIG_MAPPING[name]
    file = Path(inspect.getfile(config))
    tied = getattr(config, "tie_word_embeddings", None)
    if tied is None:  # T5's family sets it when an instance is made
        tied = getattr(config(), "tie_word_embeddings", None)
    sources = [file, *sorted(file.parent.glob("modeling_*.py"))]
    years = [
        int(year)
        for source in sources
        for year in _YEAR.findall(source.read_text(encoding="utf-8")[:1200])
        if int(year) > 2016
    ]
    return file.parent.name, years[0] if years else None, tied


def is_tied(model: Any) -> bool:
    """Whether a model's head and its embedding hold one and the same parameter.

    Args:
        model: a model of transformers, or anything with ``get_input_embeddings`` and
            ``get_output_embeddings`` that return modules with a ``weight``.

    Raises:
        ValueError: the model has no head, or no embedding.
    """
    both: list[Any] = [
        getattr(model, f"get_{end}_embeddings", lambda: None)() for end in ("input", "output")
    ]
    if any(getattr(end, "weight", None) is None for end in both):
        raise ValueError(
            f"model: got {type(model).__name__}; accepted: a model with an embedding and a head"
        )
    return both[0].weight is both[1].weight
