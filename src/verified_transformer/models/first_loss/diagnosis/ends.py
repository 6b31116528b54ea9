"""What is due at the head: the logits' spread, the own token's logit, the loss, the gradient."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch

from ..initial.body import Body
from ..initial.prediction import Budget, centred, own_logit, own_share
from ..regimes import freezing_spread
from .readings import Reading
from .watching import Watched


def head_due(body: Body, found: Budget, tokens: torch.Tensor, seen: Watched) -> Iterator[Reading]:
    """The logits as the head makes them, before a factor or a cap behind it."""
    logits = seen.logits
    assert logits is not None
    flat = logits.detach().double().reshape(-1, logits.shape[-1])
    own = flat.gather(1, tokens.reshape(-1, 1)).squeeze(1)
    size, count = flat.shape[1], len(flat)
    due = math.sqrt(float((found.seen.spread**2).mean())) / body.after
    mean, deviation = own_logit(found.seen, centred(body))
    level = float(mean.mean()) / body.after
    # the own logit is one of those whose spread is measured
    others = math.sqrt(due**2 + (level**2 + float((deviation**2).mean())) / size)
    room = others * math.sqrt(1 / size + (1 / body.d) ** 2 + 1e-6)
    yield Reading("head", "spread of the logits", others, float(flat.std(1).square().mean().sqrt()),
                  room, "the head's deviation, the last norm, a factor on its input")  # fmt: skip
    drawn = math.hypot(float(deviation.mean()) / body.after, due) / math.sqrt(count)
    moved = level * (found.wobble / 2 + 1 / body.d)
    yield Reading(
        "head", "logit of the input token", level, float(own.mean()), math.hypot(drawn, moved),
        "a tie that was lost or added, the scale of the embedding, branches of another size",
    )  # fmt: skip


def loss_due(predicted: float, error: float, spread: float, used: int, measured: float) -> Reading:
    """The loss of the model's own function, on ``used`` labels that were drawn."""
    room = math.hypot(error, spread / math.sqrt(used), 1e-4 * predicted)
    cause = "a sum in the place of a mean, labels that are not shifted, smoothing, an added loss"
    return Reading("loss", "nats", predicted, measured, room, cause)


def gradient_due(body: Body, found: Budget, used: int, seen: Watched) -> Reading | None:
    """The gradient at the head's input: a mean over labels, of one label's row each."""
    state = seen.state
    if state is None or state.grad is None:
        return None
    table, spread = (body.table if body.tied else body.head), float(found.seen.spread.mean())
    width = found.seen.width
    shared = min(1.0, math.exp(min(spread**2, 50.0)) / body.n)  # the sum of squared probabilities
    planted = own_share(body, found) if body.tied else 0.0
    kept = 1.0
    if body.cap is not None:
        z = np.linspace(-8, 8, 321)
        weight = np.exp(-(z**2) / 2)
        slope = 1 - np.tanh(spread * z / body.cap) ** 2
        kept = float(slope**2 @ weight / weight.sum())
    tilt = min(spread, freezing_spread(body.n)) ** 2 / width
    due = body.after * table * math.sqrt(kept * (1 + shared + tilt + planted**2)) / used
    measured = float(state.grad.double().square().sum() / width / used) ** 0.5
    loose = min(1.0, shared + planted + tilt + (spread / (body.cap or math.inf)))
    room = due * math.hypot(1 / math.sqrt(2 * used * width), 0.01, 0.1 * loose)
    cause = (
        "a sum in the place of a mean, labels that do not count, smoothing, a factor on the loss"
    )
    return Reading("head", "gradient at its input", due, measured, room, cause)
