"""What is due in one pass, and what was seen: a reading for each quantity of each module.

Layer by layer; then at the head the logits' spread, the own token's logit, the loss, the gradient.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch
from scipy.special import ndtri

from ..initial.activations import DENSITY, NODES
from ..initial.body import Attention, Body, Feedforward, Norm, Stack
from ..initial.prediction import VarianceBudget, centred, own_logit, own_share
from ..initial.stream import Step
from ..regimes import freezing_spread
from .readings import Reading
from .watching import HEADWISE, ROLE, Layer, Passed, Watched

THEORY = 2.0  # the budget leaves out this many times 1/d of a second moment; see the tests


def layers_due(body: Body, steps: tuple[Step, ...], seen: Watched) -> Iterator[Reading]:
    """Readings of every layer of a body, in the order of the pass."""
    start = [step for step in steps if "layer" not in step.name]
    for word, (stack, calls) in zip(_words(body), calls_of(body, seen), strict=True):
        if len(calls) != len(stack.layers):
            cause = "layers that are skipped, or run more than once"
            yield Reading(f"{word}layers", "calls", len(stack.layers), len(calls), 1e-9, cause)
            continue
        first = start[1] if stack.first is not None and len(start) > 1 else start[0]
        yield _stream(
            f"{word}embedding", first, calls[0].before, body,
            math.sqrt(2 / body.d) * (0.2 + body.types**2 / start[0].stream),
            "the table's deviation, a factor such as √d, positions that are not added",
        )  # fmt: skip
        for index, (layer, call) in enumerate(zip(stack.layers, calls, strict=True)):
            known = {
                step.name.removeprefix(f"{word}layer {index} "): step
                for step in steps
                if step.name.startswith(f"{word}layer {index} ")
            }
            yield from _layer(f"{word}layer {index}", body, stack, layer, known, call)


def _words(body: Body) -> list[str]:
    """What the places of each stack begin with."""
    if body.encoder is None:
        return [""] * bool(body.stack.layers)
    stacks = (("encoder ", body.encoder), ("decoder ", body.stack))
    return [word for word, stack in stacks if stack.layers]


def calls_of(body: Body, seen: Watched) -> list[tuple[Stack, list[Layer]]]:
    """The stacks of a body that have layers, each with the calls of these."""
    stacks = [each for each in (body.encoder, body.stack) if each is not None and each.layers]
    return [
        (stack, _calls(seen, word.strip(), len(stack.layers)))
        for word, stack in zip(_words(body), stacks, strict=True)
    ]


def _calls(seen: Watched, word: str, count: int) -> list[Layer]:
    """The calls of the stack that a body speaks of."""
    named = {name: calls for name, calls in seen.stacks.items() if not word or word in name}
    fitting = [calls for calls in named.values() if len(calls) == count]
    return fitting[0] if fitting else max(named.values(), key=len, default=[])


def _layer(
    place: str,
    body: Body,
    stack: Stack,
    layer: tuple[Attention | Feedforward, ...],
    known: dict[str, Step],
    call: Layer,
) -> Iterator[Reading]:
    sound = True
    for passed in call.norms:
        reading = norm_due(place, passed, stack.norm)
        sound &= reading.fits
        yield reading
    for branch in layer:
        what = named(branch)
        matrices, step = call.branch(what), known[what]
        if not matrices:
            cause = "a branch that is not called, or has no matrix of its own"
            yield Reading(f"{place} {what}", "matrices called", 1, 0, 1e-9, cause)
            sound = False
            continue
        right = True
        for passed in matrices:
            for reading in _matrix(place, passed, passed is matrices[-1], branch, body):
                right &= reading.fits
                yield reading
        factor = body.residual**2
        room = math.hypot(step.made_wobble, THEORY / body.d * step.made) / factor
        reading = Reading(
            f"{place} {what}", "second moment of what it adds", step.made / factor,
            call.adds(what), room,
            "its activation, its mask, or a factor: its matrices are right" if right and sound
            else "its matrices or norms, as said above",
            skewed=True,
        )  # fmt: skip
        sound &= right and reading.fits
        yield reading
    last = known[named(layer[-1])]
    yield _stream(
        place, last, call.after, body, last.deviation,
        "the residual connection, a norm or a factor: its branches are right" if sound
        else "what its branches add, as said above",
    )  # fmt: skip


def named(branch: Attention | Feedforward) -> str:
    """Which branch it is, as a watched layer calls it."""
    if isinstance(branch, Feedforward):
        return "feed-forward"
    return "cross-attention" if branch.cross else "attention"


def _stream(
    place: str, step: Step, measured: float, body: Body, deviation: float, cause: str
) -> Reading:
    room = step.stream * math.hypot(deviation, THEORY / body.d)
    return Reading(place, "second moment of the stream", step.stream, measured, room, cause)


def norm_due(place: str, passed: Passed, norm: Norm) -> Reading:
    """What a norm makes of what it was given."""
    gain = 1.0 if HEADWISE.search(passed.name) else norm.gain
    given = passed.variance if norm.kind == "layer" else passed.inside
    due = gain**2 * float((given / (given + norm.ε)).mean())
    cause = "a gain or a shift that was initialised otherwise, another ε"
    if passed.outside and due:
        cause = f"a gain of {gain * math.sqrt(passed.outside / due):.3g} instead of {gain:g}"
    where = f"{place} {passed.name}".lstrip()
    return Reading(where, "second moment behind the norm", due, passed.outside, 2e-3 * due + 1e-9,
                   cause)  # fmt: skip


def _matrix(
    place: str, passed: Passed, last: bool, branch: Attention | Feedforward, body: Body
) -> Iterator[Reading]:
    """The deviation of a matrix, and that its bias is zero."""
    where, weight = f"{place} {passed.name}", passed.module.weight.detach()
    due = deviation_due(passed.name, last, branch)
    bias = getattr(passed.module, "bias", None)
    if due is not None:
        due = due / body.residual if last else due
        found = float(weight.double().square().mean().sqrt())
        room = due * math.hypot(math.sqrt(0.5 / weight.numel()), 2e-3)
        fan_in = weight.shape[0 if type(passed.module).__name__ == "Conv1D" else 1]
        yield Reading(where, "deviation of an entry", due, found, room,
                      _why_matrix(found, due, fan_in, body))  # fmt: skip
    if bias is not None:
        size = float(bias.detach().double().square().mean().sqrt())
        yield Reading(where, "size of the bias", 0.0, size, 1e-6,
                      "a bias that was left at PyTorch's default, or set")  # fmt: skip


def deviation_due(name: str, last: bool, branch: Attention | Feedforward) -> float | None:
    """The deviation of a branch's matrix; None of one that holds several that differ."""
    if isinstance(branch, Feedforward):
        return branch.outer if last else branch.inner
    if last:
        return branch.out
    kinds = {"q": branch.query, "k": branch.key, "v": branch.value}
    role = ROLE.search(name)
    if role:
        return kinds[role[1]]
    return branch.query if len(set(kinds.values())) == 1 else None


_CUT = 0.8796  # the deviation of a standard normal number that is cut at two of them


def numbers_due(model: torch.nn.Module) -> Iterator[Reading]:
    """That no parameter and no buffer has an entry that is no number, or that no draw would make.

    Of n normal entries one beyond the limit has a chance of 1e-9.
    """
    for name, each in (*model.named_parameters(), *model.named_buffers()):
        if not each.is_floating_point() or not each.numel():
            continue
        found = each.detach().double()
        for what, count in (
            ("NaN", int(found.isnan().sum())),
            ("infinite", int(found.isinf().sum())),
        ):
            if count:
                yield Reading(name, f"entries that are {what}", 0, count, 0.0,
                              "an initialiser or a checkpoint that left it so; all that reads it "
                              "follows")  # fmt: skip
        root = float(found.square().mean().sqrt())
        if isinstance(each, torch.nn.Parameter) and each.ndim > 1 and 0 < root < math.inf:
            largest = float(found.abs().max()) / root
            limit = float(ndtri(1 - 5e-10 / each.numel()))
            if largest > limit:
                yield Reading(name, "largest entry, in deviations", limit, largest, 1e-9,
                              "an entry that no draw of a normal number makes, or a law with a "
                              "long tail")  # fmt: skip


def _why_matrix(found: float, due: float, fan_in: int, body: Body) -> str:
    """What would make a matrix so large."""
    depth = len(body.stack.layers)
    if not due:
        return "it starts at zero"
    for value, cause in (
        (0.0, "zeroed, or never initialised"),
        (_CUT * due, "a normal number cut at two deviations, not divided by 0.8796"),
        (1 / math.sqrt(3 * fan_in), "PyTorch's default of nn.Linear: nobody initialised it"),
        (due * math.sqrt(2 * depth), "the factor 1/√(2·layers) was left out"),
        (due / math.sqrt(2 * depth), "a factor 1/√(2·layers) that the class does not have"),
    ):
        if math.isclose(found, value, rel_tol=0.03, abs_tol=1e-12):
            return cause
    return f"initialised {found / due:.3g} times as wide"


def head_due(
    body: Body, found: VarianceBudget, tokens: torch.Tensor, seen: Watched
) -> Iterator[Reading]:
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
    cause = "a sum instead of a mean, labels that are not shifted, smoothing, an added loss"
    return Reading("loss", "nats", predicted, measured, room, cause)


def growths_due(body: Body, growths: tuple[float, ...], seen: Watched) -> Iterator[Reading]:
    """What each layer makes of the gradient on its way back."""
    calls = _calls(seen, "", len(growths))
    if len(calls) != len(growths) or not all(len(call.states) == 2 for call in calls):
        return  # layers that are skipped are told, and have no gradient
    places = calls[0].places()
    entries = body.d * int(places.sum())
    cause = "a detach(), a hook or a function whose backward pass is not its own"
    for index, (due, call) in enumerate(zip(growths, calls, strict=True)):
        measured = call.growth(places)
        if measured is not None:
            # what the branches carry back; behind a norm of the stream it does not show in the sum
            share = 1.0 if body.stack.form == "post" else min(1.0, abs(1 - due**-2))
            cross = math.sqrt(share * (1 - share) / entries)  # of it with what is carried past them
            room = due * math.hypot(share * math.sqrt(1 / (2 * body.d)), cross, 0.01)
            yield Reading(f"layer {index}", "gradient before it over behind", due, measured, room,
                          cause)  # fmt: skip


def carried_due(body: Body, seen: Watched) -> Iterator[Reading]:
    """That a residual connection hands the gradient back as it came, whatever the branches add."""
    cause = "a residual connection that is detached or scaled; a hook on the way back"
    last = "" if body.encoder is None else "decoder"
    for word, stack in (("encoder", body.encoder), (last, body.stack)):
        calls = [] if stack is None else _calls(seen, word, len(stack.layers))
        if stack is None or stack.form == "post" or len(calls) != len(stack.layers):
            continue  # behind a norm of the stream it does not come as it was
        if not all(len(call.states) == 2 for call in calls):
            continue
        for index, call in enumerate(calls):
            found = call.carried(calls[0].places())
            if found is not None:
                place, room = f"{word} layer {index}".lstrip(), math.hypot(found[1], 0.01)
                yield Reading(place, "gradient carried past its branches", 1.0, found[0], room,
                              cause)  # fmt: skip


def gradient_due(body: Body, found: VarianceBudget, used: int, seen: Watched) -> Reading | None:
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
        kept = float((1 - np.tanh(spread * NODES / body.cap) ** 2) ** 2 @ DENSITY)
    tilt = min(spread, freezing_spread(body.n)) ** 2 / width
    due = body.after * table * math.sqrt(kept * (1 + shared + tilt + planted**2)) / used
    measured = float(state.grad.double().square().sum() / width / used) ** 0.5
    loose = min(1.0, shared + planted + tilt + (spread / (body.cap or math.inf)))
    room = due * math.hypot(1 / math.sqrt(2 * used * width), 0.01, 0.1 * loose)
    cause = "a sum instead of a mean, labels that do not count, smoothing, a factor on the loss"
    return Reading("head", "gradient at its input", due, measured, room, cause)
