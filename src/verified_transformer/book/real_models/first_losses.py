"""The first losses of released models, as `bench/initial_loss.py` measured them on their classes.

Whole models at their own number of tokens and width, with layers cut where two cores cannot hold
them all. Each was drawn several times; the loss was streamed on random tokens.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RealStart:
    """A model at step 0.

    Attributes:
        name: of the released model.
        config: its configuration, with the layers that were built.
        layers, of: how many of its layers were built.
        n, d: number of tokens, length of a row of the head.
        draws: of the weights.
        measured, error: mean first loss over these draws, and its standard error.
        article: what eq. 9 of the article (kexue 9698) says.
    """

    name: str
    config: Any
    layers: int
    of: int
    n: int
    d: int
    draws: int
    measured: float
    error: float
    article: float


def real_starts() -> tuple[RealStart, ...]:
    """Return what was measured, a model at a time.

    Example:
        >>> starts = {start.name: start for start in real_starts()}
        >>> round(starts["GPT-2"].measured, 2)
        10.98
    """
    known = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return tuple(_start(name, row) for name, row in known["models"].items())


def _start(name: str, row: dict[str, Any]) -> RealStart:
    from .hugging_face import transformers

    settings = {**row["settings"], "bos_token_id": 0, "eos_token_id": 0}
    config = getattr(transformers, row["class"]).config_class(**settings)
    return RealStart(
        name, config, row["layers"], row["of"], row["n"], row["d"], row["draws"],
        row["measured"], row["error"], row["article"],
    )  # fmt: skip
