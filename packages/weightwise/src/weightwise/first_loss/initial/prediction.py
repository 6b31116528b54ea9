"""From the last state's budget to the expected first loss, and what each part of it is worth."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ..logsumexp import LogsumexpLaw
from .activations import second_moments
from .body import Body
from .stream import Step, last_states, normalised_overlaps

_Z = np.arange(-7, 7.25, 0.25)
_SHARE = np.exp(-(_Z**2) / 2) / np.exp(-(_Z**2) / 2).sum()
_COARSE, _COARSE_SHARE = np.polynomial.hermite_e.hermegauss(7)
_COARSE_SHARE = _COARSE_SHARE / _COARSE_SHARE.sum()


@dataclass(frozen=True)
class Ends:
    """What the head sees at each place (T,): cosine with the own row, and the logits' spread.

    ``uneven`` is the relative variance, from token to token, of the second moment of all but the
    own row, beyond that of a normal vector.
    """

    cosine: np.ndarray
    spread: np.ndarray
    width: int
    uneven: float = 0.0


@dataclass(frozen=True)
class VarianceBudget:
    """The budget of a body: what its head sees, with every ε and without that of the last norm.

    ``steps`` are the branches, ``wobble`` the relative deviation of the stream's second moment from
    one draw of the weights to another, ``alike`` the mean correlations of what two
    places have in the others' sums that is of first, of second and of higher order in the logits.
    """

    seen: Ends
    bare: Ends
    steps: tuple[Step, ...]
    wobble: float
    alike: tuple[float, float, float]


@lru_cache(maxsize=16)
def variance_budget(body: Body, length: int) -> VarianceBudget:
    """Cosine and spread of a body on texts of some length."""
    stream = _stream(_without_head(body), length)
    d, width = body.d, body.head_width or body.d
    own = stream.own**2 * body.table**2 / np.diagonal(stream.overlaps)
    overlap, norm = stream.overlaps, body.stack.last
    if norm is not None:
        overlap = normalised_overlaps(overlap, norm, d)[0]
    second, bare = np.diagonal(overlap).copy(), np.diagonal(overlap).copy()
    if norm is not None:
        bare = np.full(length, norm.gain**2)
    if body.projected is not None:
        own = np.zeros_like(own)
        second, bare = (each * d * body.projected**2 for each in (second, bare))
    if body.transform is not None:
        activation, norm = body.transform
        second = second_moments(activation, np.sqrt(second))
        # an activation's mean is not zero, but its sum over the coordinates is taken away
        mean = 0.0 if norm.kind == "rms" else 1 / width
        second = norm.gain**2 * (1 - mean) * second / ((1 - mean) * second + norm.ε)
        bare = np.full(length, norm.gain**2)
    table = body.table if body.tied else body.head
    unit = body.scale * body.after * math.sqrt(width) * table
    cosine = np.sqrt(np.clip(own, 0, 1)) if body.tied else np.zeros(length)
    size = np.sqrt(np.diagonal(stream.overlaps))
    rest = float((size**2 * np.clip(1 - own, 0, 1)).mean())
    uneven = stream.uneven / rest**2 if rest > 0 else 0.0
    cosines = stream.overlaps / size[:, None] / size
    return VarianceBudget(
        Ends(cosine, unit * np.sqrt(second), width, uneven),
        Ends(cosine, unit * np.sqrt(bare), width, uneven),
        stream.steps,
        stream.steps[-1].deviation,
        _alike(cosines, float((unit**2 * second).mean()), body.n, width, np.sqrt(own)),
    )


_stream = lru_cache(maxsize=16)(last_states)


def _without_head(body: Body) -> Body:
    """The same as far as its stream goes, so that bodies that differ in their ends share it."""
    return replace(
        body, stack=replace(body.stack, last=None), tied=True, head=0.0, projected=None,
        transform=None, scale=1.0, after=1.0, cap=None, blank=0, notes=(),
    )  # fmt: skip


def _alike(
    cosines: np.ndarray, variance: float, n: int, d: int, own: np.ndarray | None = None
) -> tuple[float, float, float]:
    """Mean correlations, over places whose states have these cosines, of sums of e^l.

    Two logits of variance s² and correlation c have Cov(e^l, e^l') as e^(s² c) - 1, whose powers of
    c are the orders; beyond freezing the largest few are the sum. Two states of d entries have
    cosines that differ from their mean by 1/√d. Where both places hold one word, by a chance of
    1/n, its own share of them stands in both.
    """
    x = max(min(variance, 2 * math.log(n)), 0.1)
    same = cosines
    if own is not None:
        same = np.minimum(cosines + own[:, None] * own * (1 - np.eye(len(own))), 1.0)
    of_one = math.expm1(x) - x - x**2 / 2
    found = []
    for each in (cosines, same):
        higher = np.expm1(x * each) - x * each - (x * each) ** 2 / 2
        squares = each**2 + (1 - each**2) ** 2 / d
        found.append((float(squares.mean()), float(higher.mean()) / of_one))
    second, third = ((1 - 1 / n) * one + other / n for one, other in zip(*found, strict=True))
    return float(cosines.mean()), second, third


def own_logit(found: Ends, layer: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (T,) of the own logit.

    The row has a chi length; the rest of the state is an independent normal vector of d entries,
    of which one lies along the row, and of a length that differs from token to token as what the
    branches add does.
    """
    d = found.width - layer
    length = 1 - 1 / (4 * d) + _COARSE / math.sqrt(2 * d)
    wide = 2 / d + found.uneven  # the variance of the square
    across = np.maximum(1 - wide / 8 + _COARSE * math.sqrt(wide) / 2, 0.05)
    x, w, y = np.meshgrid(length, _COARSE / math.sqrt(d), across, indexing="ij")
    share = np.einsum("i,j,k->ijk", _COARSE_SHARE, _COARSE_SHARE, _COARSE_SHARE)
    mean, deviation = [], []
    for cosine, spread in zip(found.cosine, found.spread, strict=True):
        rest = math.sqrt(max(0.0, 1 - cosine**2))
        along = cosine * x + rest * w
        own = spread * math.sqrt(d) * x * along / np.hypot(along, rest * y)
        middle = float((own * share).sum())
        mean.append(middle)
        deviation.append(math.sqrt(float(((own - middle) ** 2 * share).sum())))
    return np.array(mean), np.array(deviation)


def _losses(
    n: int,
    found: Ends,
    repeats: float,
    cap: float | None,
    layer: bool,
    bias: Bias | None = None,
    blank: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Losses (T, Z) at each place, for some values of the own logit, and the weights (Z,).

    Of the n logits ``blank`` are zero, as are those of padding's row.
    """
    n -= blank
    mean, deviation = own_logit(found, layer)
    own, share = mean[:, None] + deviation[:, None] * _Z, _SHARE
    if cap is not None:
        own = cap * np.tanh(own / cap)
    label = 0.0
    if bias is not None:
        label = float(bias.of_labels().mean())
        few = np.quantile(bias.values, (np.arange(8) + 0.5) / 8)
        own = (own[:, :, None] + few).reshape(len(own), -1)
        share = np.repeat(share / 8, 8)
    at = found.spread
    if np.ptp(at) < 1e-3 * at.mean():
        total = _others(n, float(at.mean()), cap, bias).with_another(own)[0]
        # the places differ by so little that their mean spread serves all
    else:
        total = np.stack(
            [_others(n, float(s), cap, bias).with_another(o)[0]
             for s, o in zip(at, own, strict=True)]
        )  # fmt: skip
    if blank:
        total = np.logaddexp(total, math.log(blank))
    return total - repeats * own - (1 - repeats) * label, share


@dataclass(frozen=True, eq=False)
class Bias:
    """What a head adds to its logits, ``values`` (n,), where labels have the ``law`` (n,)."""

    values: np.ndarray
    law: np.ndarray

    def of_labels(self) -> np.ndarray:
        """A label's mean, for each input token, which no label repeats."""
        mean = float(self.law @ self.values)
        return (mean - self.law * self.values) / np.maximum(1 - self.law, 1e-9)


@lru_cache(maxsize=256)  # a loss and its error ask for the same, perhaps for each place
def _others(n: int, spread: float, cap: float | None, bias: Bias | None = None) -> LogsumexpLaw:
    """The law of the logsumexp of all tokens but one."""
    if cap is not None and bias is not None:
        raise ValueError("model_or_config: got a soft-cap and a bias; accepted: one of them")
    return LogsumexpLaw(n - 1, spread, cap, None if bias is None else bias.values)


def loss_of(
    n: int,
    found: Ends,
    *,
    repeats: float = 0.0,
    cap: float | None = None,
    layer: bool = False,
    bias: Bias | None = None,
    blank: int = 0,
) -> float:
    """The expected loss, a mean over the places."""
    losses, share = _losses(n, found, repeats, cap, layer, bias, blank)
    return float((losses @ share).mean())


def own_share(body: Body, found: VarianceBudget) -> float:
    """The probability that the model gives to the own token, a mean over the places."""
    mean, deviation = own_logit(found.seen, centred(body))
    logsumexp = _others(body.n, float(found.seen.spread.mean()), body.cap)
    own = mean[:, None] + deviation[:, None] * _COARSE
    if body.cap is not None:
        own = body.cap * np.tanh(own / body.cap)
    return float((logsumexp.with_another(own, moments=True)[2] @ _COARSE_SHARE).mean())


def token_variance(body: Body, found: VarianceBudget, repeats: float) -> float:
    """Variance of a token's loss about the mean of its place: its own logit differs."""
    losses, share = _losses(body.n, found.seen, repeats, body.cap, centred(body))
    return float((losses**2 @ share - (losses @ share) ** 2).mean())


def _of_one_word(places: int, n: int) -> float:
    """The chance that two places of a text of random tokens hold one word."""
    return 1 / places + (1 - 1 / places) / n


def centred(body: Body) -> bool:
    """Whether the head sees states whose entries add up to zero."""
    last = body.transform[1] if body.transform is not None else body.stack.last
    return last is not None and last.kind == "layer" and (
        body.projected is None or body.transform is not None
    )  # fmt: skip


def explained(
    body: Body, found: VarianceBudget, repeats: float, bias: Bias | None = None
) -> tuple[tuple[str, float], ...]:
    """The loss in parts that add up to it: what each cause adds to those before it."""
    n, layer, bare = body.n, centred(body), found.bare
    none = Ends(np.zeros_like(bare.cosine), bare.spread, bare.width)
    spread = float((bare.spread**2).mean() / 2)
    untied = loss_of(n, none, layer=layer)
    tied = loss_of(n, bare, layer=layer) if bare.cosine.any() else untied
    shrunk = loss_of(n, found.seen, layer=layer)
    capped = shrunk if body.cap is None else loss_of(n, found.seen, cap=body.cap, layer=layer)
    last = capped
    if repeats:
        last = loss_of(n, found.seen, cap=body.cap, layer=layer, repeats=repeats)
    parts: tuple[tuple[str, float], ...] = (
        ("log n", math.log(n)),
        ("spread", spread),
        ("frozen", untied - math.log(n) - spread),
        ("own token", tied - untied),
        ("ε", shrunk - tied),
        ("soft-cap", capped - shrunk),
        ("labels", last - capped),
    )
    if body.blank:
        every = loss_of(n, found.seen, cap=body.cap, layer=layer, repeats=repeats, blank=body.blank)
        parts = (*parts, ("padding", every - last))
    if bias is None:
        return parts
    with_it = loss_of(n, found.seen, cap=body.cap, layer=layer, repeats=repeats, bias=bias)
    return (*parts, ("bias", with_it - last))


def one_draw(
    body: Body, found: VarianceBudget, repeats: float, bias: Bias | None, law: np.ndarray
) -> tuple[tuple[str, float], ...]:
    """What moves the loss of one draw of the weights, on one text, away from the mean.

    Standard deviations: of the others' sum, which the places share as far as their states are
    alike; of the tokens' own logits; of the size of the branches, with which the cosine moves; and
    what the budget leaves out, a relative 1/d of the stream.
    """
    seen, layer = found.seen, centred(body)
    logsumexp = _others(body.n, float(seen.spread.mean()), body.cap, bias)
    others = math.sqrt(max(0.0, np.dot(logsumexp.orders(law), found.alike)))
    share, n = own_share(body, found), body.n - body.blank
    others *= 1 - share
    # the own token is all of the sum: what is left are the labels' logits, which two words share
    labels = (1 - repeats) * share * float(seen.spread.mean()) * math.sqrt(2 / n / max(1, n - 1))
    others = math.hypot(others, labels)
    variance = token_variance(body, found, repeats)
    if bias is not None:
        variance += (1 - repeats) ** 2 * float(bias.of_labels().var())
    tokens = math.sqrt(max(0.0, variance) * _of_one_word(len(seen.spread), body.n - body.blank))
    slope = 0.0
    if seen.cosine.any():
        step = min(0.5, max(found.wobble, 1e-4) / 2)
        ends_at = [
            loss_of(
                body.n,
                replace(seen, cosine=np.clip(seen.cosine * (1 + sign * step), 0, 1)),
                repeats=repeats, cap=body.cap, layer=layer,
            )
            for sign in (1, -1)
        ]  # fmt: skip
        slope = abs(ends_at[0] - ends_at[1]) / 4 / step  # by the stream's second moment
    return (
        ("others", others), ("own logits", tokens), ("branches", slope * found.wobble),
        ("theory", slope / body.d),
    )  # fmt: skip
