"""`diagnose`: one pass forth and back on a fresh model, beside what its configuration promises."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F

from ...accepted import require_tokens, require_whole, unwrapped
from ..initial.body import Body
from ..initial.from_model import body_as_it_is, most_positions, parts_of, run
from ..initial.gradients import gradient_growth
from ..initial.initial_loss import initial_loss
from ..initial.prediction import variance_budget
from ..initial.recipes import body_of
from .due import (
    carried_due,
    gradient_due,
    growths_due,
    head_due,
    layers_due,
    loss_due,
    numbers_due,
)  # fmt: skip
from .first_step import first_step_due, require_rule
from .outside import outside_due, routers_due, said_of_attention, unread
from .readings import Diagnosis, Reading
from .watching import Watched, large_rows, watched


def diagnose(
    model: torch.nn.Module,
    batch: Mapping[str, torch.Tensor] | None = None,
    *,
    body: Body | None = None,
    optimiser: torch.optim.Optimizer | None = None,
    backward: bool = True,
    length: int = 64,
    texts: int = 2,
    seed: int = 0,
) -> Diagnosis:
    """Compare a fresh model with what its configuration promises, module by module.

    One pass forth, and one back. Read are the deviation of every matrix and the size of its bias,
    what every norm makes of its input, the second moment of what every branch adds and of the
    stream after it, the spread of the logits, the logit of the input token, the loss as the model
    itself computes it, the gradient at the head's input, how far it grows from layer to layer on
    its way back, where attention is flat, and how much of it a residual connection hands on; the
    norms, tables and biases outside of the layers; labels that are the tokens read; whether a
    mixture's routers learn; of an ``optimiser``, its first step. Dropout is off.

    Each is held against its prediction; six of its predicted deviations are let through. Parameters
    that are not read are noted. What moves no reading is not seen: two matrices that are exchanged,
    an orthogonal start, a factor on attention logits that are flat anyhow, positions that are wrong
    but of the right size, a loss with 0.05 added.

    A branch is read after its own module. Where it has none, or one that
    normalises as well (BERT's), it is read after its last matrix: what is done to it later shows
    in the stream alone, where a small branch may vanish unseen. So may a residual connection, where
    the branches are much larger than the stream.

    Args:
        model: a model at step 0, of a class that `initial_loss` knows, or any with a ``body``.
        batch: what the model is given, by name: ``input_ids`` (texts, length), and ``labels``,
            where the loss is wanted; the prediction is for random tokens. Drawn by default.
        body: what the model is, where its class is not known; see `Body`.
        optimiser: an Adam, AdamW or SGD, as it is before its first step: that step is taken on
            copies, and held against its rule and against the weights; needs ``backward``.
        backward: whether the gradient, and which parameters the loss moves, is wanted.
        length, texts, seed: of the tokens that are drawn.

    Returns:
        The readings, which of them leave their prediction, and what would cause that.

    Raises:
        TypeError, ValueError: an argument is outside its domain, or the class is not known.

    Example:
        >>> import torch
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> small = GPT2Config(vocab_size=2000, n_embd=64, n_layer=2, n_head=2,
        ...                    bos_token_id=0, eos_token_id=0)
        >>> model = GPT2LMHeadModel(small)
        >>> torch.nn.init.zeros_(model.transformer.h[1].mlp.c_proj.weight).shape
        torch.Size([256, 64])
        >>> print(diagnose(model))  # doctest: +ELLIPSIS
        gpt2: 37 of 39 readings are what is due
          layer 1 mlp.c_proj, deviation of an entry: 0, due 0.01 ± ...
            would be: zeroed, or never initialised
        ...
    """
    require_whole(length=length, texts=texts, seed=seed)
    for name, value in (("length", length), ("texts", texts)):
        if not 2 - (name == "texts") <= value <= 2048:
            raise ValueError(f"{name}: got {value}; accepted: 2 to 2048 (texts from 1)")
    if optimiser is not None:
        require_rule(optimiser)
        if not backward:
            raise ValueError("backward: got False with an optimiser; accepted: True, for its step")
    model = unwrapped(model)
    known, bias = body_as_it_is(model, body)
    table, head = parts_of(model)
    if batch is None:
        length = min(length, most_positions(model) or length)
        batch = _drawn(model, known, length, texts, seed, table.weight.device)
    tokens = _tokens(batch, known, most_positions(model))
    numbers = [*numbers_due(model)]
    if any(each.predicted == 0 for each in numbers):  # of entries that are NaN or infinite
        note = "nothing else is read of a model that is no number somewhere: all follows from it"
        return Diagnosis(known.name, tuple(numbers), (), (note,))
    again = _repeated(batch, tokens, int(_shifts(known)))
    answer = initial_loss(known, length=tokens.shape[1], labels=again)
    found = variance_budget(known, tokens.shape[1])
    was_training, notes = model.training, []
    held = [(each, each.grad) for each in model.parameters()]  # who accumulates finds them again
    if frozen := sum(not each.requires_grad for each, _ in held):
        notes.append(f"frozen: {frozen} of {len(held)} parameters, which no loss is asked to reach")
    model.eval()
    try:
        with torch.set_grad_enabled(backward), watched(model, head) as seen:
            out = run(model, batch)
            state = _scored(seen, tokens)
            loss, used = _loss(out, batch, known)
            if backward and state.requires_grad and loss is not None:
                state.retain_grad()
                for each, _ in held:
                    each.grad = None
                loss.backward()
    finally:
        model.train(was_training)
    if bias is not None and seen.logits is not None:
        seen.logits = seen.logits - bias
    promised = body_of(model.config) if body is None else body
    tie = "a tie that was lost, or added: tie_weights(), or tie_word_embeddings"
    readings = [
        *numbers,
        *layers_due(known, answer.steps, seen),
        *outside_due(model, known, seen),
        *head_due(known, found, tokens, seen),
        Reading("head", "tied to the table", promised.tied, known.tied, 1e-9, tie),
    ]
    if known.stack.causal and loss is not None:
        chance = math.sqrt((1 - 1 / known.n) / (known.n * used))
        readings.append(Reading(
            "labels", "share that is the token read", 0.0, again, math.hypot(0.1, chance),
            "labels that are not the next tokens: shifted twice, or not at all",
        ))  # fmt: skip
    if bias is not None:
        notes.append("the head has a bias, which is left out of the loss that is due")
    elif loss is not None:
        readings.append(
            loss_due(answer.loss, answer.error, answer.spread, used, float(loss.detach()))
        )
    unreached: tuple[str, ...] = ()
    if backward and loss is not None:
        gradient = gradient_due(known, found, used, seen)
        readings += [] if gradient is None else [gradient]
        readings += carried_due(known, seen)
        readings += routers_due(model)
        growths = gradient_growth(known, tokens.shape[1])
        if isinstance(growths, str):
            notes.append(f"the layers' gradients have no prediction: {growths}")
        else:
            readings += growths_due(known, growths, seen)
        spare = _spare(model, known)
        unreached = tuple(
            name for name, each in model.named_parameters()
            if each.requires_grad and each.grad is None and name not in spare
        )  # fmt: skip
        if optimiser is not None:
            readings += first_step_due(model, optimiser, head)
            if still := sum(not group["lr"] for group in optimiser.param_groups):
                notes.append(
                    f"{still} of {len(optimiser.param_groups)} groups have a rate of 0, as where a "
                    "warm-up starts: the size of their first step says nothing"
                )
        for each, gradient_before in held:
            each.grad = gradient_before
    elif backward:
        notes.append("the model gave back no loss and no logits: no pass back")
    rows = table.weight.detach()
    if small := int((~large_rows(rows) & (rows != 0).any(-1)).sum()):
        notes.append(
            f"{small} rows of the table are much smaller than the others, as rows that were added "
            "are: the gradient's growth is not read at their places"
        )
    notes += [flat] if (flat := said_of_attention(known)) else []
    if names := unread(model, known, seen, (table, head)):
        notes.append(
            f"{len(names)} of {len(held)} parameters, as {names[0]}, are read for entries that no "
            "draw makes, and else not; audit_init holds them against their settings"
        )
    return Diagnosis(known.name, tuple(readings), unreached, tuple(notes))


def _scored(seen: Watched, tokens: torch.Tensor) -> torch.Tensor:
    """The state that the head read, at all places."""
    if seen.state is None or seen.logits is None:
        raise ValueError("model: its head was not called; accepted: one that calls it")
    if seen.logits.shape[:-1] != tokens.shape:
        got = f"{seen.logits.shape[:-1].numel()} of {tokens.numel()} places"
        raise ValueError(f"model: its head scored {got}; accepted: one that scores all")
    return seen.state


def _spare(model: torch.nn.Module, body: Body) -> set[str]:
    """Biases that a class of transformers makes for a tie, and does not use without one: BERT's."""
    pairs = getattr(model, "_tied_weights_keys", None)
    if body.tied or not isinstance(pairs, Mapping):
        return set()
    return {name for name in pairs.values() if name.endswith("bias")}


def _drawn(
    model: torch.nn.Module, body: Body, length: int, texts: int, seed: int, device: torch.device
) -> dict[str, torch.Tensor]:
    """Random tokens, and labels where the model takes them."""
    generator = torch.Generator().manual_seed(seed)
    tokens, other = torch.randint(0, body.n, (2, texts, length), generator=generator).to(device)
    batch = {"input_ids": tokens}
    if body.encoder is not None:
        batch = {"input_ids": other, "decoder_input_ids": tokens}
    if "labels" in inspect.signature(model.forward).parameters:
        batch["labels"] = tokens if _shifts(body) else other
    return batch


def _shifts(body: Body) -> bool:
    """Whether labels are the next tokens."""
    return body.encoder is None and body.stack.causal


def _tokens(batch: Mapping[str, torch.Tensor], body: Body, most: int | None) -> torch.Tensor:
    """The tokens whose states the head reads, (texts, length)."""
    name = "input_ids" if body.encoder is None else "decoder_input_ids"
    tokens = batch.get(name) if isinstance(batch, Mapping) else None
    if not isinstance(tokens, torch.Tensor) or tokens.ndim != 2 or tokens.shape[1] < 2:
        got = sorted(batch) if isinstance(batch, Mapping) else type(batch).__name__
        raise ValueError(f"batch: got {got}; accepted: a mapping with {name} (texts, length >= 2)")
    require_tokens(**{f"batch[{name!r}]": tokens})
    if most is not None and tokens.shape[1] > most:
        raise ValueError(f"batch: got texts of {tokens.shape[1]} tokens; accepted: 2 to {most}")
    if not 0 <= int(tokens.min()) <= int(tokens.max()) < body.n:
        raise ValueError(f"batch: got {name} outside the vocabulary; accepted: 0 to {body.n - 1}")
    labels = batch.get("labels", tokens)
    if getattr(labels, "shape", None) != tokens.shape:
        shape = tuple(getattr(labels, "shape", ()))
        raise ValueError(f"batch: got labels of shape {shape}; accepted: {tuple(tokens.shape)}")
    return tokens


def _repeated(batch: Mapping[str, torch.Tensor], tokens: torch.Tensor, shift: int) -> float:
    """The share of the labels that are the input token itself; of few words that is not little."""
    labels = batch.get("labels", tokens)[:, shift:]
    counted = labels != -100
    same = (labels == tokens[:, : tokens.shape[1] - shift]) & counted
    return float(same.sum()) / max(1, int(counted.sum()))


def _loss(
    out: Any, batch: Mapping[str, torch.Tensor], body: Body
) -> tuple[torch.Tensor | None, int]:
    """The loss that the model gives back, or that of its logits; and how many labels it is of."""
    tokens, shift = batch["input_ids"], int(_shifts(body))
    labels = batch.get("labels", tokens if shift else None)
    if labels is None:
        return None, 0
    labels = labels[:, shift:]
    used = int((labels != -100).sum())
    if not used:
        raise ValueError("batch: got labels that are all -100; accepted: one that counts, or more")
    loss = getattr(out, "loss", None)
    if loss is None:
        logits: Any = getattr(out, "logits", out[0] if isinstance(out, tuple) else out)
        if getattr(logits, "ndim", 0) != 3 or not logits.is_floating_point():
            return None, 0
        logits = logits[:, : logits.shape[1] - shift]
        loss = F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten())
    return loss, used
