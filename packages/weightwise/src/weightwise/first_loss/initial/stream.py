"""The variance budget of the residual stream at step 0.

The state of the recursion is the matrix of overlaps C[t, t'] = E x_t·x_t' / d of the stream at the
T places of a text of random tokens, and the factor α_t with which a token's own embedding is still
in its place. Matrices are fresh and of mean zero, so a branch adds its overlaps to C and leaves α;
only a normalisation of the stream itself (a post-norm body) shrinks α.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .activations import DENSITY, NODES, overlaps, tails_of
from .averaging import Averaging, Sloped, Window, averaged, averaging, representatives
from .body import Attention, Body, Feedforward, Norm, Stack


@dataclass(frozen=True)
class Step:
    """The budget after a branch; means over the places.

    ``name`` says where, ``branch`` is the second moment of what the branch adds (or, post-norm,
    added before the normalisation), ``stream`` that of the stream after it, ``wobble`` how far the
    branch's own differs from one draw of its matrices to another (a standard deviation), and
    ``deviation`` how far the stream's does, as a share of it, on one text. ``made`` is the second
    moment of what the branch's last matrix makes, before a norm of the branch's own, and
    ``made_wobble`` the deviation of that.
    """

    name: str
    branch: float
    stream: float
    wobble: float = 0.0
    deviation: float = 0.0
    made: float = 0.0
    made_wobble: float = 0.0


@dataclass(frozen=True)
class Pass:
    """What a branch of a layer was given, (T, T) overlaps, and the factors (T,) of norms.

    ``before`` is that of the norm in front of it, ``behind`` that of its output's, ``after`` that
    of the stream's: root mean squares of what they do to a gradient.
    """

    layer: int
    branch: Attention | Feedforward
    inside: np.ndarray
    before: np.ndarray
    behind: np.ndarray
    after: np.ndarray


@dataclass(frozen=True)
class Shared:
    """What the places of a text have in common, which their number does not average away.

    ``size`` is the mean overlap of two places, ``second`` their own second moment, ``drift`` how
    far the size differs from one text and one draw to another: a deviation, as a share of it.
    """

    size: float
    second: float
    drift: float

    def inherited(self, count: int, d: int, power: int) -> float:
        """The drift that a branch takes over which reads these states, normalised.

        What two outputs have in common comes of what their inputs have in common, and of the
        inputs that both have seen, one over ``count`` of which is the same.
        """
        of_size = self.size / (self.size + (self.second - self.size) / count)
        seen = self.drift * (1 - self.size / self.second) * of_size
        return power * (seen + math.sqrt(2 / d) * (1 - of_size))

    def plus(self, overlap: np.ndarray, added: np.ndarray, inherited: float, d: int) -> Shared:
        """After a branch: a fresh vector of d entries, of a length that differs as its input's."""
        new = _off_diagonal(added)
        total = max(self.size + new, 1e-300)
        moved = math.hypot(self.size * self.drift + new * inherited, new * math.sqrt(2 / d))
        second = float(np.diagonal(overlap).mean())
        return Shared(min(_off_diagonal(overlap), second), second, moved / total)


def _off_diagonal(overlap: np.ndarray) -> float:
    count = len(overlap)
    return max(0.0, float(overlap.sum() - np.trace(overlap)) / max(1, count * (count - 1)))


@dataclass(frozen=True)
class Stream:
    """What is known of a stream at its end.

    ``overlaps`` (T, T); ``own`` (T,) the factor of the own embedding; ``steps``, one per branch;
    ``uneven``, the variance of a token's own second moment beyond that of a normal vector.
    """

    overlaps: np.ndarray
    own: np.ndarray
    steps: tuple[Step, ...]
    shared: Shared
    uneven: float = 0.0


def normalised_overlaps(overlap: np.ndarray, norm: Norm, d: int) -> tuple[np.ndarray, np.ndarray]:
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
    drift = math.sqrt(2 / body.d + (2 / body.head_width if body.head_width else 0))
    shared = Shared(_off_diagonal(overlap), second, drift)
    return Stream(overlap, factor, (Step("embedding", second, second),), shared)


def through(
    stack: Stack,
    start: Stream,
    d: int,
    table: float,
    memory: Stream | None = None,
    name: str = "",
    passes: list[Pass] | None = None,
) -> Stream:
    """The stream at the end of some layers, before the final normalisation.

    ``table`` is the deviation of the embedding's entries, ``memory`` the encoder's last states,
    ``name`` a word before the names of the steps, and ``passes`` is filled with the branches.
    """
    overlap, own, steps, shared = start.overlaps, start.own, list(start.steps), start.shared
    seen = None if memory is None else memory.overlaps
    if stack.first is not None:
        overlap, factor = normalised_overlaps(overlap, stack.first, d)
        own = own * factor
        second = float(np.diagonal(overlap).mean())
        steps.append(Step(f"{name}embedding norm", second, second))
        shared = Shared(min(_off_diagonal(overlap), second), second, shared.drift)
    known: dict[tuple[Attention, int, int], Averaging] = {}
    drawn = uneven = 0.0
    for index, layer in enumerate(stack.layers):
        before = overlap
        for branch in layer:
            source = before if stack.form == "parallel" else overlap
            bare = stack.form in ("post", "after")
            unit = np.ones(len(source))
            inside, ahead = (source, unit) if bare else normalised_overlaps(source, stack.norm, d)
            behind = after = unit
            added = branch_overlaps(branch, inside, d, stack.causal, seen, known, stack.norm.ε)
            crossed = isinstance(branch, Attention) and branch.cross and memory is not None
            heard = memory.shared if crossed and memory is not None else shared
            power = 2 if isinstance(branch, Feedforward) and branch.gated else 1
            inherited = heard.inherited(len(overlap), d, power)
            made = float(np.diagonal(added).mean())
            wobble, alike = _wobble(branch, inside, added, d)
            made_wobble = math.hypot(wobble, made * inherited * alike)
            if stack.form in ("pre", "parallel"):
                uneven += made**2 * _unevenness(branch, inside, d)
            if stack.form in ("sandwich", "after"):
                (added, behind), wobble = normalised_overlaps(added, stack.norm, d), 0.0
            overlap = overlap + added
            if stack.form == "post":
                overlap, after = normalised_overlaps(overlap, stack.norm, d)
                own = own * after
            if passes is not None:  # a gradient loses what lies along the state, and the mean
                kept = math.sqrt(1 - (2 if stack.norm.kind == "layer" else 1) / d)
                factors = [each if each is unit else each * kept for each in (ahead, behind, after)]
                passes.append(Pass(index, branch, inside, *factors))
            what = "feed-forward" if isinstance(branch, Feedforward) else "attention"
            if isinstance(branch, Attention) and branch.cross:
                what = "cross-attention"
            branch_second, second = (float(np.diagonal(c).mean()) for c in (added, overlap))
            drawn += wobble**2
            shared = shared.plus(overlap, added, inherited, d)
            # what the places share, what they do not, and what each one's hidden layer adds
            rest = overlap - np.diag(own**2 * table**2)
            apart = max(0.0, float((rest**2).mean()) - shared.size**2)
            common = (shared.size * shared.drift) ** 2
            moved = math.sqrt(common + 2 / d * apart + drawn) / second
            if stack.form == "post":
                moved = 0.0
            title = f"{name}layer {index} {what}"
            steps.append(Step(title, branch_second, second, wobble, moved, made, made_wobble))
    return Stream(overlap, own, tuple(steps), shared, uneven)


def branch_overlaps(
    branch: Attention | Feedforward,
    inside: np.ndarray,
    d: int,
    causal: bool,
    memory: np.ndarray | None,
    known: dict[tuple[Attention, int, int], Averaging],
    ε: float,
) -> np.ndarray:
    """Overlaps of what a branch adds; ``ε`` is that of the norms of queries and keys."""
    if isinstance(branch, Feedforward):
        second = d * branch.inner**2 * np.diagonal(inside)
        hidden = overlaps(branch.activation, np.sqrt(second), np.clip(cosines_of(inside), -1, 1))
        if branch.gated:
            hidden = hidden * d * branch.inner**2 * inside
        return branch.width * branch.outer**2 * hidden
    keys = inside if memory is None or not branch.cross else memory
    seen = Window(len(inside), len(keys), causal and not branch.cross, branch.window)
    views = [(seen, 1.0)]
    if branch.slopes:
        few = representatives(branch.slopes)
        views = [(Sloped(len(inside), slope), share) for slope, share in few]
    queries, cosines = cosines_of(inside), cosines_of(keys)
    variance = product_variance(branch, inside, keys, d, ε)
    variance = _capped(variance + branch.bias, branch.cap)
    place = (branch, round(variance * 1e3), len(keys))
    if place not in known:
        spread = None if branch.normed else branch.width
        known[place] = averaging(variance, len(keys), spread)
    mixed = np.zeros_like(queries)
    for sight, share in views:
        off = np.diagonal(sight.sums(cosines - np.diag(np.diagonal(cosines))))
        exponent = known[place].exponents(sight.count, off / sight.pairs)
        mixed = mixed + share * averaged(keys, cosines, queries, exponent, sight, d)
    return branch.heads * branch.width * branch.out**2 * d * branch.value**2 * mixed


def product_variance(
    branch: Attention, inside: np.ndarray, keys: np.ndarray, d: int, ε: float
) -> float:
    """Variance of the products of queries and keys, for keys that are independent."""
    query, key = float(np.diagonal(inside).mean()), float(np.diagonal(keys).mean())
    variance = branch.scale**2 * branch.width
    if not branch.normed:
        return variance * (d * branch.query * branch.key) ** 2 * query * key
    for deviation, states in ((branch.query, query), (branch.key, key)):
        unnormed = d * deviation**2 * states
        variance *= unnormed / (unnormed + ε)
    return variance


def _wobble(
    branch: Attention | Feedforward, inside: np.ndarray, added: np.ndarray, d: int
) -> tuple[float, float]:
    """How far the second moment of a branch lies from its mean, in one draw of its matrices.

    And how alike what it adds is from place to place: a root mean square of cosines. Attention's
    values go through its matrices as averages, which are as alike as that.
    """
    within = _unevenness(branch, inside, d)
    out, into = (float((cosines_of(each) ** 2).mean()) for each in (added, inside))
    through_matrices = within * (out if isinstance(branch, Attention) else into)
    relative = math.sqrt(2 / d * out + through_matrices)
    return float(np.diagonal(added).mean()) * relative, math.sqrt(out)


def _unevenness(branch: Attention | Feedforward, inside: np.ndarray, d: int) -> float:
    """Relative variance of a token's hidden second moment, a mean over so many hidden entries."""
    if isinstance(branch, Attention):
        return 2 / (branch.heads * branch.width)
    deviation = np.array([math.sqrt(d * float(np.diagonal(inside).mean())) * branch.inner])
    tails = float(tails_of(branch.activation, deviation)[0])
    return ((3 * tails if branch.gated else tails) - 1) / branch.width


def cosines_of(overlap: np.ndarray) -> np.ndarray:
    size = np.sqrt(np.diagonal(overlap))
    if not size.all():  # a branch that starts at zero adds nothing, here and there alike
        return np.eye(len(overlap))
    found: np.ndarray = overlap / size[:, None] / size
    return found


def _capped(variance: float, cap: float | None) -> float:
    if cap is None or variance <= 0:
        return variance
    return float((cap * np.tanh(math.sqrt(variance) * NODES / cap)) ** 2 @ DENSITY)


def last_states(body: Body, length: int) -> Stream:
    """The stream that the head reads, before its normalisation, on a text of random tokens."""
    start = embedded(body, length)
    if body.encoder is None:
        return through(body.stack, start, body.d, body.table)
    memory = through(body.encoder, start, body.d, body.table, name="encoder ")
    steps = memory.steps
    if body.encoder.last is not None:
        last = normalised_overlaps(memory.overlaps, body.encoder.last, body.d)[0]
        memory = replace(memory, overlaps=last)
    end = through(body.stack, start, body.d, body.table, memory, name="decoder ")
    return replace(end, steps=steps + end.steps)
