"""What is read off a model itself: its table, its head, their tie, the head's bias."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch

from .body import Attention, Body, Norm
from .recipes import body_of


def parts_of(model: torch.nn.Module) -> tuple[Any, Any]:
    """Return the modules of a model that hold its table and its head.

    A model of transformers says which these are. Of another, the head is a module that is no
    embedding and has a weight of as many rows as an ``nn.Embedding``, its table: one whose weight
    that is, or else the last one outside of the layers. A table of positions may have more rows.

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
    tables = {
        name: each for name, each in known.named_modules() if isinstance(each, torch.nn.Embedding)
    }
    found = [
        (table, head, (
            head.weight is table.weight,
            not re.search(r"\.\d+(\.|$)", name),  # outside of the layers
            not re.search(r"pos|wpe|type|segment", place),
            table.num_embeddings,
        ))
        for name, head in known.named_modules()
        if not isinstance(head, torch.nn.Embedding)
        and isinstance(getattr(head, "weight", None), torch.Tensor) and head.weight.ndim == 2
        for place, table in tables.items() if table.num_embeddings == len(head.weight)
    ]  # fmt: skip
    if not found:
        rows = max((each.num_embeddings for each in tables.values()), default=0)
        got = type(model).__name__ + (" without an nn.Embedding" if not tables else
                                      f" whose nn.Embedding has {rows} rows, "
                                      "and no module whose weight has as many")  # fmt: skip
        accepted = "a model with a table and a head, such as nn.Linear or models.TiedHead"
        raise ValueError(f"model: got {got}; accepted: {accepted}")
    best = max(rank for _, _, rank in found)
    return [(table, head) for table, head, rank in found if rank == best][-1]


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
    width = body.head if body.head or not body.tied else body.table
    blank = int((~(head.weight.detach() != 0).any(-1)).sum()) if width or tied else 0
    n = len(head.weight)
    return replace(body, tied=tied, head=width, n=n, blank=min(blank, n - 2), notes=notes), bias


def start_as_it_is(model: Any, body: Body) -> Body:
    """The same body with the gain of its last norm as the model has it, and what is not read noted.

    Gains are read by what the norm makes of a random state, whether it stores them as w or 1 + w.
    Matrices whose deviation the body does not know are named, and not read.
    """
    notes, stack = list(body.notes), body.stack
    norm = _last_norm(model, body.d)
    if norm is not None and stack.last is not None and body.projected is None:
        gain = _gain(norm, stack.last, body.d)
        if abs(gain / stack.last.gain - 1) > 0.01:
            notes.append(
                f"the last norm's gain is {gain:.4g}, read off the model; the class starts it at "
                f"{stack.last.gain:g}"
            )
            stack = replace(stack, last=replace(stack.last, gain=gain))
    sizes = {float(f"{each:.6g}") for layer in _layers(body) for each in layer}
    strange = []
    for name, module in model.named_modules():
        weight: Any = getattr(module, "weight", None)
        if sizes and re.search(r"\.\d+\.", name) and is_matrix(module) and weight.numel() > 999:
            root = float(weight.detach().double().square().mean().sqrt())
            if min(abs(root - each) for each in sizes) > 0.1 * root + 1e-12:
                strange.append(f"{name} of {root:.3g}")
    if strange:
        notes.append(
            f"{len(strange)} matrices are not as wide as the class starts them, and not read, as "
            f"{strange[0]}; draft_body(model) drafts them"
        )
    return replace(body, stack=stack, notes=tuple(notes))


def _layers(body: Body) -> Iterator[tuple[float, ...]]:
    """The deviations of the matrices of each branch, as a model has them."""
    for stack in (body.encoder, body.stack):
        for branch in (each for layer in (stack.layers if stack else ()) for each in layer):
            if isinstance(branch, Attention):
                yield branch.query, branch.key, branch.value, branch.out / body.residual
            else:
                yield branch.inner, branch.outer / body.residual


def _last_norm(model: torch.nn.Module, d: int) -> Any:
    """The last norm of a model that stands in none of its layers."""
    found = [
        module for name, module in model.named_modules()
        if "norm" in type(module).__name__.lower() and not re.search(r"\.\d+(\.|$)", name)
        and getattr(getattr(module, "weight", None), "shape", None) == (d,)
    ]  # fmt: skip
    return found[-1] if found else None


@torch.no_grad()
def _gain(norm: Any, known: Norm, d: int) -> float:
    state = torch.randn(1, 64, d, generator=torch.Generator().manual_seed(0))
    own = norm.weight
    made = norm(state.to(own.device, own.dtype)).double().square().mean()
    given = state.double()
    given = given.var(-1, correction=0) if known.kind == "layer" else given.square().mean(-1)
    return float((made.cpu() / (given / (given + known.ε)).mean()).sqrt())


def is_matrix(module: torch.nn.Module) -> bool:
    """Whether a module is a linear map: of torch, or the one that GPT-2 has."""
    return isinstance(module, torch.nn.Linear) or type(module).__name__ == "Conv1D"


def words_of(model: Any) -> torch.Tensor:
    """The tokens whose rows in the table and in the head are not zero, as padding's are."""
    table, head = (each.weight.detach() for each in parts_of(model))
    rows = table if table is head else table[: len(head)]
    known = (rows != 0).any(-1)
    return known.nonzero()[:, 0].cpu() if bool(known.any()) else torch.arange(len(rows))


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
