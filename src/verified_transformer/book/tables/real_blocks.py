"""Blocks of real models: what one costs, counted while its class runs, and small models of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from ...models.counting import Count
from ...models.factorised import TensorProductEmbedding
from ...seeds import generator
from ..real_models.tiny import randomised, tiny

REAL_BLOCKS = ("bert", "gpt2", "llama")
_FREE = {"scalar_tensor", "cos", "sin"}  # masks and angles; functions of one number do not count


class _ModelCount(Count):
    """The counter, with the calls of GPT-2 and Llama that it does not know."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        name = str(func.overloadpacket).removeprefix("aten.")
        if name in _FREE:
            return func(*args, **(kwargs or {}))
        if name == "pow" and args[1] == 3:  # in GPT-2's gelu
            self.multiplications += 2 * args[0].numel()
            return func(*args)
        return super().__torch_dispatch__(func, types, args, kwargs)


def block_multiplications(kind: str, width: int, tokens: int) -> int:
    """Return the multiplications of a block: those of a model of two less those of one of one.

    The inner layer has four times the width (in Llama beside a gate of the same size), attention
    four heads.

    Args:
        kind: one of `REAL_BLOCKS`.
        width: d, a multiple of 4.
        tokens: length T of the one sequence, at most 16.

    Raises:
        ValueError: another kind, or a width that four heads do not divide.

    Example:
        >>> block_multiplications("bert", 16, 5) > 5 * 12 * 16**2
        True
    """
    if kind not in REAL_BLOCKS:
        raise ValueError(f"kind: got {kind!r}; accepted: {', '.join(REAL_BLOCKS)}")
    if width < 4 or width % 4:
        raise ValueError(f"width: got {width}; accepted: a multiple of 4")

    def work(layers: int) -> int:
        model = tiny(kind, attn_implementation="eager", **_sizes(kind, width, layers))
        with torch.no_grad(), _ModelCount() as count:
            model(torch.arange(tokens)[None])
        return count.multiplications

    return work(2) - work(1)


def _sizes(kind: str, width: int, layers: int) -> dict[str, Any]:
    if kind == "gpt2":
        return {"n_embd": width, "n_layer": layers, "n_head": 4}
    sizes = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": 4}
    return {**sizes, "intermediate_size": 4 * width}


def real_model_on(width: int, kind: str) -> Any:
    """Return a real model of this width with one block and random parameters, gains included.

    Args:
        width: d, a multiple of 4.
        kind: one of `REAL_BLOCKS`.
    """
    return randomised(tiny(kind, **_sizes(kind, width, 1)), f"{kind} of width {width}")


@torch.no_grad()
def takes_products_as_rows(lengths: Sequence[int]) -> bool:
    """Say whether real models of width 16 take products of factors as rows of a table.

    Args:
        lengths: of the factors of a token.

    Returns:
        Whether BERT, GPT-2 and Llama give the outputs that a plain table of the same rows gives;
        False where they refuse the width.
    """
    tokens = torch.randint(19, (3, 5), generator=generator("three sequences"))
    source = generator("tables")
    table = TensorProductEmbedding(19, lengths, generator=source, dtype=torch.float64)
    plain = nn.Embedding.from_pretrained(table.dense())
    models = [real_model_on(16, kind) for kind in REAL_BLOCKS]
    try:
        return all(
            torch.allclose(*(model(inputs_embeds=rows(tokens)).logits for rows in (table, plain)))
            for model in models
        )
    except RuntimeError:
        return False
