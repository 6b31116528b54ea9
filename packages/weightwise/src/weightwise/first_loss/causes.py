"""From a first loss that was seen to what may have made it: the causes, each with its number."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from ..accepted import is_module, require_positive, require_real, unwrapped
from .initial.body import Body
from .initial.initial_loss import initial_loss
from .initial.prediction import centred, loss_of, variance_budget
from .initial.recipes import body_of


@dataclass(frozen=True)
class Cause:
    """A first loss and what makes it: ``name``, the ``loss`` in nats, and what to look at.

    ``off`` is how far the loss is from the one that was seen, where one was.
    """

    name: str
    loss: float
    look: str
    off: float | None = None

    def __str__(self) -> str:
        off = "" if self.off is None else f"  off by {self.off:+.4f}"
        return f"{self.loss:12.4f}{off}  {self.name}: {self.look}"


def loss_causes(
    model_or_config: Any,
    seen: float | None = None,
    *,
    length: int = 128,
    padding: float = 0.5,
    dropout: float = 0.1,
    accumulated: int = 8,
) -> tuple[Cause, ...]:
    """Return the first losses that common mistakes make, computed from a configuration.

    Args:
        model_or_config: as for `initial_loss`.
        seen: a loss that was seen, in nats; the causes are then in the order of their distance
            from it, which each tells. Where none is within half a percent of it, or four predicted
            deviations, the first says so. Those with a number of yours say which one would make
            what was seen: how many batches, which share of padding, of dropout, of own labels.
        length: tokens of a text, of which a sum is taken.
        padding: share of the places that are padding, 0 to 1.
        dropout: after the last norm, 0 to 1.
        accumulated: how many batches a step adds up.

    Returns:
        The causes. Some lie close together: label smoothing, for one, moves no first loss.

    Raises:
        TypeError, ValueError: an argument is outside its domain, or the class is not known.

    Example:
        >>> gpt2 = {"model_type": "gpt2", "vocab_size": 50_257, "n_embd": 768, "n_layer": 12,
        ...         "n_head": 12}
        >>> loss_causes(gpt2, seen=1405.0)[0].name
        'a sum over the text'
    """
    require_positive(accumulated=accumulated)
    require_real(padding=padding, dropout=dropout, seen=0.0 if seen is None else seen)
    for name, value in (("padding", padding), ("dropout", dropout)):
        if not 0 <= value < 1:
            raise ValueError(f"{name}: got {value}; accepted: a share, 0 to 1")
    if seen is not None and not math.isfinite(seen):
        raise ValueError(f"seen: got {seen}; accepted: a loss in nats")
    model_or_config = unwrapped(model_or_config)
    if is_module(model_or_config):
        from .initial.from_model import body_as_it_is

        body = body_as_it_is(model_or_config)[0]
    else:
        body = body_of(model_or_config)
    answer = initial_loss(body, length=length)
    loss, n = answer.loss, body.n
    wide = 128 * math.ceil((n + 1) / 128)
    found = [
        Cause("nothing", loss, "this is what the configuration promises"),
        Cause("logits of zero", math.log(n), "log n; a head or a last norm that is zero"),
        Cause("labels are not shifted", _loss(body, length, 1.0),
              "each label is its own input token"),
        Cause("a sum over the text", loss * length, "reduction='sum', or a mean over texts alone"),
        Cause("a sum over accumulated batches", loss * accumulated,
              f"{accumulated} of them, and not divided by that"),
        Cause("padding counts", loss * (1 - padding),
              f"divided by all places, {padding:.0%} of which add nothing"),
        Cause("dropout after the last norm", _dropped(body, dropout, length),
              f"train mode, with a share of {dropout:g}"),
        Cause("label smoothing", _loss(body, length, 1 / n),
              "hardly moves a first loss"),
        Cause("a padded vocabulary", _loss(body, length, n=wide),
              f"{wide} rows instead of {n}, drawn like the others"),
        Cause("a z-loss of 1e-4", loss + 1e-4 * loss**2, "1e-4 times the squared logsumexp"),
        Cause("a loss in bfloat16", _in_bfloat16(loss),
              "two or three digits, of logits that are not cast to float32"),
        Cause("bits", loss / math.log(2), "a logarithm of base 2"),
    ]  # fmt: skip
    found += _other_bodies(body, length)
    if seen is None:
        return tuple(found)
    found = [_with_yours(each, body, loss, seen, length) for each in found]
    found.sort(key=lambda cause: abs(cause.loss - seen))
    nearest = found[0]
    if abs(nearest.loss - seen) > max(0.005 * abs(seen), 4 * answer.error):
        look = f"the nearest, {nearest.name}, is off by {nearest.loss - seen:+.4g}"
        found.insert(0, Cause("none of these is near", seen, look, 0.0))
    return tuple(found)


def _with_yours(cause: Cause, body: Body, loss: float, seen: float, length: int) -> Cause:
    """A cause with its distance, and with the number of one's own that would make what was seen."""
    look, made = cause.look, cause.loss
    if cause.name == "a sum over accumulated batches" and (count := round(seen / loss)) > 1:
        look, made = f"{count} of them, and not divided by that", count * loss
    elif cause.name == "a sum over the text" and (count := round(seen / loss)) > 16:
        look = f"{look}; {count} tokens would come nearest to what was seen"
    elif cause.name == "padding counts" and 0 < seen < loss:
        look = f"{look}; {1 - seen / loss:.0%} would make what was seen"
    elif (
        cause.name == "labels are not shifted" and 0 < (share := (seen - loss) / (made - loss)) < 1
    ):
        look = f"{look}; {share:.0%} of such labels would make what was seen"
    elif cause.name.startswith("dropout") and loss < seen < _dropped(body, 0.9, length):
        low, high = 0.0, 0.9
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (middle, high) if _dropped(body, middle, length) < seen else (low, middle)
        look = f"{look}; a share of {low:.2g} would make what was seen"
    return replace(cause, loss=made, look=look, off=made - seen)


def _loss(body: Body, length: int, repeats: float = 0.0, n: int | None = None) -> float:
    """What `initial_loss` predicts, without its parts and its error; ``n`` is how many logits."""
    return loss_of(
        body.n if n is None else n, variance_budget(body, length).seen, repeats=repeats,
        cap=body.cap, layer=centred(body), blank=body.blank,
    )  # fmt: skip


def _in_bfloat16(loss: float) -> float:
    """The nearest number of eight binary digits, of two the even one."""
    part, power = math.frexp(loss)
    return math.ldexp(round(part * 2**8), power - 8)


def _dropped(body: Body, share: float, length: int) -> float:
    """Dropout leaves the own logit's mean, and makes the logits wider."""
    seen, kept = variance_budget(body, length).seen, math.sqrt(1 - share)
    ends = replace(seen, cosine=seen.cosine * kept, spread=seen.spread / kept)
    return loss_of(body.n, ends, cap=body.cap, layer=centred(body))


def _other_bodies(body: Body, length: int) -> list[Cause]:
    """What the model would start with if one thing of its body were otherwise."""
    last = body.head_width or body.d
    found = {
        "no body": (
            replace(body, stack=replace(body.stack, layers=())),
            "branches that add nothing, or that no embedding stands beside",
        ),
        "no last norm": (
            replace(body, stack=replace(body.stack, last=None)),
            "the head reads the stream as it is",
        ),
        "the head is untied" if body.tied else "the head is tied": (
            replace(body, tied=not body.tied, head=body.head or body.table),
            "the tie is not as the configuration has it",
        ),
        "logits over √d": (replace(body, after=body.after * last**-0.5), "a scale too many"),
        "logits times √d": (replace(body, after=body.after * last**0.5), "a scale that is missing"),
        "a table of deviation one": (
            replace(body, table=1.0, head=1.0), "PyTorch's default of nn.Embedding",
        ),
    }  # fmt: skip
    causes = []
    for name, (other, look) in found.items():
        if other != body and not (name == "no last norm" and body.stack.last is None):
            causes.append(Cause(name, _loss(other, length), look))
    return causes
