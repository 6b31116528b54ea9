"""Advice that names a parameter or a line of code, run on the panel: its effect before and after.

Writes ``book/panel.txt``. Each number is of one fresh tied model of two layers of width 768, with
4096 tokens, whose fair first loss is 8.32 nats.

    python bench/panel.py
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from verified_transformer.book.real_models.panel import (
    PANEL,
    TOKENS,
    first_loss,
    last_norm,
    logits_of,
    stock,
    table_of,
)  # fmt: skip
from verifiedbook.writing import write_whole
from weightwise import grow

TARGET = Path(__file__).parents[1] / "book" / "panel.txt"
IDS = torch.randint(3, TOKENS, (2, 32), generator=torch.Generator().manual_seed(7))


def as_it_is(model: Any) -> Any:
    """The model as its class draws it."""
    return model


def before_head(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Any], Any]:
    """A line of code between the state and the head."""

    def changed(model: Any) -> Any:
        head = model.get_output_embeddings()
        head.register_forward_pre_hook(lambda _, read: change(read[0]))
        return model

    return changed


def gain_of_half(model: Any) -> Any:
    """The gain of the trunk's last norm set to one half; None where it has none."""
    gain = getattr(model.get_submodule(last_norm(model)), "weight", None)
    if gain is None:
        return None
    nn.init.constant_(gain, 0.5)
    return model


def half_table(model: Any) -> Any:
    """The table halved, in its places at both ends."""
    table_of(model).data /= 2
    return model


def own_table(model: Any) -> Any:
    """The head unties by a drawn table of the same spread."""
    head, table = model.get_output_embeddings(), table_of(model)
    drawn = torch.randn(table.shape, generator=torch.Generator().manual_seed(1))
    head.weight = nn.Parameter(drawn * table.std())
    return model


WAYS: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "as it is": (1, as_it_is), "logits ½": (1, before_head(lambda h: h / 2)),
    "last gain ½": (1, gain_of_half), "table ½": (1, half_table), "σ ½": (0.5, as_it_is),
    "rolled": (1, before_head(lambda h: h.roll(1, -1))), "own table": (1, own_table),
}  # fmt: skip


def losses(name: str) -> list[str]:
    """The first loss of a fresh model after each change, in nats."""
    drawn = {scale: stock(name, scale=scale) for scale in (1, 0.5)}
    found = []
    for scale, change in WAYS.values():
        model = change(copy.deepcopy(drawn[scale]))
        found.append("no gain" if model is None else f"{first_loss(model, IDS):.2f}")
    return found


def grown(name: str, tied: bool) -> str:
    """How far the logits of a model grown to twice its width are off, beside the largest."""
    small = stock(name, tied=tied, width=64)
    if not tied and small.get_output_embeddings().weight is table_of(small):
        return "ties all the same"
    try:
        large = grow(small, 2)
    except ValueError:
        return "refused"
    before, after = (logits_of(model, IDS) for model in (small, large))
    off = float((after - before).abs().max() / before.abs().max())
    return "the same" if off < 1e-4 else f"off by {off:.0e}"


def flat_vectors(name: str) -> str:
    """Biases, rates and tables of positions that have two axes, as a matrix has."""
    ends = ("bias", "A_log", "relative_attention_bias.weight")
    named = stock(name, width=64).named_parameters()
    found = {key.split(".")[-1] if not key.endswith(ends[2]) else "relative_attention_bias"
             for key, p in named if key.endswith(ends) and p.ndim > 1}  # fmt: skip
    return ", ".join(f"`{key}`" for key in sorted(found)) or "none"


def main() -> None:
    """Run all advice on all classes and write the tables."""
    lines = [
        f"| fair {math.log(TOKENS):.2f} | {' | '.join(WAYS)} |",
        "|---" * (1 + len(WAYS)) + "|",
    ]
    for name in PANEL:
        lines.append(f"| {name} | {' | '.join(losses(name))} |")
        print(lines[-1], flush=True)
    lines += ["", "| | `grow`, tied | `grow`, untied | shifts with two axes |", "|---|---|---|---|"]
    for name in PANEL:
        cells = (grown(name, True), grown(name, False), flat_vectors(name))
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    write_whole(TARGET, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
