"""How the loss's gradient grows from layer to layer on its way back, at step 0.

The recursion is that of the stream, backwards: G[t, t'] is the mean product of the gradients at two
places. Labels differ from place to place, so at the head G is diagonal; but all later queries reach
an early key, which gathers their gradients, and two neighbours gather nearly the same ones. So
after one attention the gradients of two places are alike, and the next one adds them up as they
are: averages over places alone would miss that.
"""

from __future__ import annotations

import math

import numpy as np

from .activations import overlaps, slope_overlaps
from .averaging import Window
from .body import Attention, Body, Feedforward, Stack
from .stream import (
    Pass,
    branch_overlaps,
    cosines_of,
    embedded,
    normalised_overlaps,
    product_variance,
    through,
)

MOST_PLACES = 512  # two (T, T) arrays are held for each branch, and the time grows with T²
MOST_VARIANCE = 0.5  # of attention logits: beyond, the weights are too uneven for what follows


def gradient_growth(body: Body, length: int) -> tuple[float, ...] | str:
    """Return, per layer, the gradient's size before it over that behind it, root mean squares.

    Args:
        body: a decoder or an encoder, of flat attention.
        length: tokens of a text; the last one of a causal body has no label.

    Returns:
        A number per layer; or, in a few words, why no number is known.
    """
    stack, passes = body.stack, list[Pass]()
    if length > MOST_PLACES:
        return f"texts of more than {MOST_PLACES} tokens"
    if body.encoder is not None:
        return "an encoder, which hears from all layers of the decoder"
    branches = [branch for layer in stack.layers for branch in layer]
    if any(isinstance(branch, Attention) and branch.slopes for branch in branches):
        return "attention that falls with the distance"
    end = through(stack, embedded(body, length), body.d, body.table, passes=passes)
    for each in passes:
        if isinstance(each.branch, Attention):
            variance = product_variance(each.branch, each.inside, each.inside, body.d, stack.norm.ε)
            if variance + each.branch.bias > MOST_VARIANCE:
                return f"attention logits of a variance of {variance:.2g}, whose weights are uneven"
    last = (
        np.ones(length)
        if stack.last is None
        else normalised_overlaps(end.overlaps, stack.last, body.d)[1]
    )
    if stack.causal:
        last = np.append(last[:-1], 0.0)
    back = np.diag(last**2)
    found, behind = [], float(np.diagonal(back).mean())
    for index in reversed(range(len(stack.layers))):
        source = back
        for each in reversed([each for each in passes if each.layer == index]):
            back = back * _outer(each.after)
            given = source if stack.form == "parallel" else back
            echo = _carried_back(each, given * _outer(each.behind), body.d, stack)
            back = back + echo * _outer(each.before)
        size = float(np.diagonal(back).mean())
        found.append(math.sqrt(size / behind))
        behind = size
    return tuple(reversed(found))


def _outer(factor: np.ndarray) -> np.ndarray:
    return factor[:, None] * factor


def _carried_back(each: Pass, given: np.ndarray, d: int, stack: Stack) -> np.ndarray:
    """Mean products of gradients at a branch's input, for those at its output."""
    branch, inside = each.branch, each.inside
    cosines = np.clip(cosines_of(inside), -1, 1)
    if isinstance(branch, Feedforward):
        size = math.sqrt(d * float(np.diagonal(inside).mean())) * branch.inner
        kept = slope_overlaps(branch.activation, size, cosines)
        if branch.gated:
            kept = size**2 * cosines * kept
            kept = kept + overlaps(branch.activation, np.full(len(inside), size), cosines)
        return given * kept * branch.width * branch.outer**2 * d * branch.inner**2
    size = branch.heads * branch.width * branch.out**2 * d * branch.value**2
    if not size:  # it starts at zero
        return np.zeros_like(given)
    seen = Window(len(inside), len(inside), stack.causal, branch.window).seen()
    weights, count, own = seen / seen.sum(1)[:, None], seen.sum(1), np.diagonal(given)
    alone = np.diag(np.diagonal(inside))
    squares = (
        np.diagonal(branch_overlaps(branch, alone, d, stack.causal, None, {}, stack.norm.ε))
        / np.diagonal(inside).mean()
        / size
    )
    uneven = np.maximum(squares - 1 / count, 0)  # Σ a² beyond that of flat weights
    value = weights.T @ given @ weights + np.diag(weights.T @ (own * uneven))
    apart = 1 - float((cosines.sum() - len(cosines)) / max(1, len(cosines) * (len(cosines) - 1)))
    moved = own * (1 - squares)  # weights of one key do not move
    query = given * (weights @ weights.T)
    np.fill_diagonal(query, moved * squares)
    key = np.diag((weights**2).T @ moved + weights.T @ (moved * uneven))
    variance = product_variance(branch, inside, inside, d, stack.norm.ε)
    found: np.ndarray = size * (value + variance * apart**2 * (query + key))
    return found
