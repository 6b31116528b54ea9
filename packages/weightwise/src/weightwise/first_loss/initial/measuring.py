"""The first loss of a model itself, streamed on what its head is given."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np
import torch

from ..streamed import first_loss
from .answer import MeasuredLoss
from .body import Body
from .from_model import parts_of, run, words_of


class _Seen(Exception):
    """The head's input is known, and no logit is needed."""


def measured_loss(
    model: Any,
    body: Body,
    repeats: float,
    length: int,
    texts: int,
    seed: int,
    label_law: torch.Tensor | None,
) -> MeasuredLoss:
    """The first loss of the model itself, a text at a time, without building the logits."""
    head, was_training = parts_of(model)[1], model.training
    where = head.weight.device
    bias = getattr(head, "bias", None)
    bias = None if bias is None else body.after * bias.detach().float()
    generator = torch.Generator().manual_seed(seed)
    states: list[torch.Tensor] = []

    def keep(_: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        states.append(inputs[0].detach())
        raise _Seen

    words = words_of(model)
    hook = head.register_forward_pre_hook(keep)
    model.eval()
    losses = []
    try:
        with torch.no_grad():
            for _ in range(texts):
                drawn = words[torch.randint(0, len(words), (2, length), generator=generator)]
                drawn = drawn.to(where)
                given = {"input_ids": drawn[:1]}
                if body.encoder is not None:
                    given["decoder_input_ids"] = drawn[1:]
                with suppress(_Seen):
                    run(model, given)
                if not states:
                    raise ValueError("model_or_config: its head was not called; accepted: one")
                state = states.pop()[0].float() * body.after
                tokens = given.get("decoder_input_ids", drawn[:1])[0]
                found = first_loss(
                    state,
                    head.weight.detach().float(),
                    bias=bias,
                    own=tokens,
                    label_law=label_law,
                    cap=body.cap,
                )
                assert found.own_logit is not None
                mixed = found.logsumexp - (1 - repeats) * found.mean_logit
                losses.append(float((mixed - repeats * found.own_logit).mean()))
    finally:
        hook.remove()
        model.train(was_training)
    each = np.array(losses)
    error = float(each.std(ddof=1) / math.sqrt(texts)) if texts > 1 else math.nan
    return MeasuredLoss(float(each.mean()), error, texts * length)
