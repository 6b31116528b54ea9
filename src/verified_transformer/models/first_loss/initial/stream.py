"""The variance budget of the residual stream at step 0.

The state of the recursion is the matrix of overlaps C[t, t'] = E x_t·x_t' / d of the stream at the
T places of a text of random tokens, and the factor α_t with which a token's own embedding is still
in its place. Matrices are fresh and of mean zero, so a branch adds its overlaps to C and leaves α;
only a normalisation of the stream itself (a post-norm body) shrinks α.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .activations import overlaps, tails_of
from .averaging import Averaging, Window, averaged
from .body import Attention, Body, Feedforward, Norm, Stack


@dataclass(frozen=True)
class Step:
    """The budget after a branch; means over the places.

    ``name`` says where, ``branch`` is the second moment of what the branch adds (or, post-norm,
    added before the normalisation), ``stream`` that of the stream after it, ``wobble`` how far the
    branch's own differs from one draw of its matrices to another (a standard deviation).
    """

    name: str
    branch: float
    stream: float
    wobble: float = 0.0


@dataclass(frozen=True)
class Stream:
    """What is known of a stream at its end.

    ``overlaps`` (T, T); ``own`` (T,) the factor of the own embedding; ``steps``, one per branch.
    """

    overlaps: np.ndarray
    own: np.ndarray
    steps: tuple[Step, ...]


def normalised(overlap: np.ndarray, norm: Norm, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlaps after a normalisation, and the factor (T,) with which it multiplied the stream."""
    if norm.kind == "layer":
        overlap = overlap * (1 - 1 / d)
    factor = norm.gain / np.sqrt(np.diagonal(overlap) + norm.ε)
    return overlap * factor[:, None] * factor, factor


def embedded(body: Body, length: int) -> Stream:
    """The stream before the first layer."""
    own = (body.factor * body.table) ** 2
    overlap = np.full((length, length), body.types**2 + own / body.n)
    np.fill_diagonal(overlap, own + body.positions**2 + body.types**2)
    second = float(np.diagonal(overlap).mean())
    factor = np.full(length, body.factor)
    return Stream(overlap, factor, (Step("embedding", second, second),))


def through(
    stack: Stack, start: Stream, d: int, memory: np.ndarray | None = None, name: str = ""
) -> Stream:
    """The stream at the end of some layers, before the final normalisation.

    Args:
        stack: the layers.
        start: the stream before them.
        d: its width.
        memory: overlaps of the encoder's last states, for branches that look there.
        name: a word before the names of the steps.
    """
    overlap, own, steps = start.overlaps, start.own, list(start.steps)
    if stack.first is not None:
        overlap, factor = normalised(overlap, stack.first, d)
        own = own * factor
        second = float(np.diagonal(overlap).mean())
        steps.append(Step(f"{name}embedding norm", second, second))
    known: dict[tuple[Attention, int, int], Averaging] = {}
    for index, layer in enumerate(stack.layers):
        before = overlap
        for branch in layer:
            source = before if stack.form == "parallel" else overlap
            bare = stack.form in ("post", "after")
            inside = source if bare else normalised(source, stack.norm, d)[0]
            added = _branch(branch, inside, d, stack.causal, memory, known)
            wobble = _wobble(branch, inside, added, d)
            if stack.form in ("sandwich", "after"):
                added, wobble = normalised(added, stack.norm, d)[0], 0.0
            overlap = overlap + added
            if stack.form == "post":
                overlap, factor = normalised(overlap, stack.norm, d)
                own = own * factor
            what = "feed-forward" if isinstance(branch, Feedforward) else "attention"
            if isinstance(branch, Attention) and branch.cross:
                what = "cross-attention"
            steps.append(
                Step(
                    f"{name}layer {index} {what}",
                    float(np.diagonal(added).mean()),
                    float(np.diagonal(overlap).mean()),
                    wobble,
                )
            )
    return Stream(overlap, own, tuple(steps))


def _branch(
    branch: Attention | Feedforward,
    inside: np.ndarray,
    d: int,
    causal: bool,
    memory: np.ndarray | None,
    known: dict[tuple[Attention, int, int], Averaging],
) -> np.ndarray:
    """Overlaps of what a branch adds."""
    if isinstance(branch, Feedforward):
        second = d * branch.inner**2 * np.diagonal(inside)
        size = np.sqrt(np.diagonal(inside))
        cosine = np.clip(inside / size[:, None] / size, -1, 1)
        hidden = overlaps(branch.activation, np.sqrt(second), cosine)
        if branch.gated:
            hidden = hidden * d * branch.inner**2 * inside
        return branch.width * branch.outer**2 * hidden
    keys = inside if memory is None or not branch.cross else memory
    seen = Window(len(inside), len(keys), causal and not branch.cross, branch.window)
    query, key = np.diagonal(inside), np.diagonal(keys)
    size, sizes = np.sqrt(query), np.sqrt(key)
    queries, cosines = inside / size[:, None] / size, keys / sizes[:, None] / sizes
    variance = branch.scale**2 * branch.width
    if not branch.normed:
        lengths = float(query.mean()) * float(key.mean())
        variance *= (d * branch.query * branch.key) ** 2 * lengths
    variance = _capped(variance + branch.bias, branch.cap)
    place = (branch, round(variance * 1e3), len(keys))
    if place not in known:
        spread = None if branch.normed else branch.width
        known[place] = Averaging(variance, len(keys), spread)
    off = seen.sums(cosines - np.diag(np.diagonal(cosines)))
    pairs = np.maximum(seen.count * (seen.count - 1), 1)
    exponent = known[place].exponents(seen.count, np.diagonal(off) / pairs)
    mixed = averaged(keys, cosines, queries, exponent, seen, d)
    return branch.heads * branch.width * branch.out**2 * d * branch.value**2 * mixed


def _wobble(
    branch: Attention | Feedforward, inside: np.ndarray, added: np.ndarray, d: int
) -> float:
    """How far the second moment of a branch lies from its mean, in one draw of its matrices."""
    if isinstance(branch, Feedforward):
        deviation = np.array([math.sqrt(d * float(np.diagonal(inside).mean())) * branch.inner])
        tails = float(tails_of(branch.activation, deviation)[0])
        within = (3 * tails if branch.gated else tails) - 1, branch.width
    else:
        within = 2.0, branch.heads * branch.width
    out, into = (float((_cosines(each) ** 2).mean()) for each in (added, inside))
    relative = math.sqrt(2 / d * out + within[0] / within[1] * into)
    return float(np.diagonal(added).mean()) * relative


def _cosines(overlap: np.ndarray) -> np.ndarray:
    size = np.sqrt(np.diagonal(overlap))
    found: np.ndarray = overlap / size[:, None] / size
    return found


def _capped(variance: float, cap: float | None) -> float:
    if cap is None or variance <= 0:
        return variance
    z = np.linspace(-8, 8, 321)
    weight = np.exp(-(z**2) / 2)
    capped = (cap * np.tanh(math.sqrt(variance) * z / cap)) ** 2
    return float(capped @ weight / weight.sum())


def last_states(body: Body, length: int) -> Stream:
    """The stream that the head reads, before its normalisation, on a text of random tokens."""
    start = embedded(body, length)
    if body.encoder is None:
        return through(body.stack, start, body.d)
    seen = through(body.encoder, start, body.d, name="encoder ")
    memory = seen.overlaps
    if body.encoder.last is not None:
        memory = normalised(memory, body.encoder.last, body.d)[0]
    end = through(body.stack, start, body.d, memory, name="decoder ")
    return Stream(end.overlaps, end.own, seen.steps + end.steps)
