"""What is read off a model itself: its table, its head, their tie, the head's bias."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from .body import Body
from .recipes import body_of


def parts_of(model: torch.nn.Module) -> tuple[Any, Any]:
    """Return the modules of a model that hold its table and its head.

    A model of transformers says which these are. Of another, the table is the ``nn.Embedding`` with
    most rows, and the head the last module that is no embedding and has a weight of as many rows.

    Raises:
        TypeError, ValueError: it is no module, has none of these, or keeps them in factors.
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model: got {type(model).__name__}; accepted: a torch.nn.Module")
    known: Any = model
    if hasattr(known, "get_output_embeddings"):
        table, head = known.get_input_embeddings(), known.get_output_embeddings()
        if table is None or head is None:
            got = type(model).__name__
            raise ValueError(f"model: got {got}, which has no head; accepted: a language model")
        for each in (table, head):
            if not isinstance(getattr(each, "weight", None), torch.Tensor):
                raise ValueError(
                    f"model: got {type(model).__name__} with a {type(each).__name__}, which has no "
                    "weight; accepted: a dense table, as `make_dense` of a copy gives"
                )
        return table, head
    tables = [each for each in known.modules() if isinstance(each, torch.nn.Embedding)]
    table = max(tables, key=lambda each: each.num_embeddings, default=None)
    heads: list[Any] = [
        each
        for each in known.modules()
        if table is not None
        and not isinstance(each, torch.nn.Embedding)
        and isinstance(getattr(each, "weight", None), torch.Tensor)
        and each.weight.ndim == 2
        and each.weight.shape[0] == table.num_embeddings
    ]
    if table is None or not heads:
        got = type(model).__name__ + (" without an nn.Embedding" if table is None else
                                      f" whose nn.Embedding has {table.num_embeddings} rows, "
                                      "and no module whose weight has as many")  # fmt: skip
        accepted = "a model with a table and a head, such as nn.Linear or models.TiedHead"
        raise ValueError(f"model: got {got}; accepted: {accepted}")
    return table, heads[-1]


def body_as_it_is(model: Any, body: Body | None = None) -> tuple[Body, torch.Tensor | None]:
    """Return the body of a model, its vocabulary and tie read off it, and a bias that is not zero.

    Args:
        model: of a class that is known, or any module with a ``body``.
        body: what it is, where its class is not known.

    Raises:
        TypeError, ValueError: its class is not known and no body is given; it has no head, or no
            numbers, on the meta device.
    """
    if body is not None and not isinstance(body, Body):
        raise TypeError(f"body: got {type(body).__name__}; accepted: a Body, or None")
    if body is None:
        config = getattr(model, "config", None)
        if config is None:
            got = f"{type(model).__name__} without a .config"
            accepted = "a model of transformers, or any with body=Body(…), which draft_body drafts"
            raise TypeError(f"model_or_config: got {got}; accepted: {accepted}")
        body = body_of(config)
    table, head = parts_of(model)
    tied, rows = table.weight is head.weight, table.weight
    if rows.is_meta or head.weight.is_meta:
        raise ValueError(
            "model: got one on the meta device, without numbers; accepted: one with weights (for "
            "`initial_loss` its configuration is enough)"
        )
    notes = body.notes
    if tied != body.tied:
        notes = (*notes, f"the head is {'tied' if tied else 'not tied'}, unlike the configuration")
    sample = rows.detach()[:: max(1, len(rows) // 4096)].double()
    actual = float(sample.std())
    if abs(actual / body.table - 1) > 0.05:
        notes = (
            *notes,
            f"the embedding's standard deviation is {actual:.4g}, the initialiser's "
            f"{body.table:.4g}: this model is not at step 0, or was initialised otherwise",
        )
    bias = getattr(head, "bias", None)
    bias = None if bias is None or not bool((bias != 0).any()) else bias.detach()
    width = body.head or body.table
    return replace(body, tied=tied, head=width, n=len(head.weight), notes=notes), bias


def most_positions(model: torch.nn.Module) -> int | None:
    """How many tokens a text may have, if that is bounded: RoBERTa's first positions are no places.

    Args:
        model: any; None of one that does not say.
    """
    most = getattr(getattr(model, "config", None), "max_position_embeddings", None)
    if not isinstance(most, int):
        return None
    tables = [
        each for name, each in model.named_modules()
        if "position" in name and isinstance(each, torch.nn.Embedding)
    ]  # fmt: skip
    return most - max((each.padding_idx + 1 for each in tables if each.padding_idx is not None
                       and each.num_embeddings == most), default=0)  # fmt: skip


def run(model: torch.nn.Module, batch: Mapping[str, torch.Tensor]) -> Any:
    """What a model gives back; one that takes no ``input_ids`` is given its tokens first.

    It is given them as ``targets`` or ``labels`` as well, if it takes these: without them nanoGPT
    scores the last place alone.
    """
    given = inspect.signature(model.forward).parameters
    if "input_ids" in given or any(each.kind is each.VAR_KEYWORD for each in given.values()):
        return model(**batch)
    tokens = batch["input_ids"]
    return model(tokens, **{name: tokens for name in ("targets", "labels") if name in given})
