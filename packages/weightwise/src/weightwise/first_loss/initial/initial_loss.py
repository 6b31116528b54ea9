"""`initial_loss`: what a model of transformers starts with, from its configuration, and why."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...accepted import is_module, require_whole, unwrapped
from .answer import InitialLoss, LossPart
from .body import Body
from .prediction import Bias, VarianceBudget, explained, one_draw, variance_budget
from .recipes import body_of

if TYPE_CHECKING:
    import torch

MOST_LENGTH = 2048
_Worth = tuple[tuple[str, float], ...]  # names, and nats


def initial_loss(
    model_or_config: Any,
    *,
    labels: str | float = "other",
    length: int = 128,
    measure: bool = False,
    texts: int = 4,
    seed: int = 0,
    body: Body | None = None,
    label_law: torch.Tensor | None = None,
) -> InitialLoss:
    """Return the loss that a model starts with, predicted from its configuration alone.

    A variance budget of the residual stream (embedding, positions, what each branch adds, norms,
    depth, what attention averages away) gives the cosine ρ between the last state and the row of
    the input token, and the spread of the logits; `gaussian_first_loss` says how these make the
    loss. Dropout is off, the texts are random tokens.

    Args:
        model_or_config: a model of transformers with a language-model head, at step 0: vocabulary,
            tie, padding's rows, output bias and the gain of the last norm are read off it, and
            matrices of another deviation than its class's are noted. Or its configuration, a
            dictionary of its settings, the path of a ``config.json`` or of its folder, a `Body`.
        labels: "other" (another token than the input: the next word, a masked one), "same" (the
            input token itself), or the share of labels that repeat the input, 0 to 1.
        length: tokens of a text, 1 to 2048.
        measure: whether to stream the loss on the model itself as well, without building the
            logits; needs a model.
        texts: how many texts to measure on.
        seed: of the random tokens.
        body: what the model is, where its class is not known: written by hand, say.
        label_law: (n,), probabilities of the labels; uniform by default. It matters where the head
            of a model has a bias that is not zero: all other logits have the mean zero.

    Returns:
        Loss, error, log n, the parts that the loss is made of, the budget; see `InitialLoss`.

    Raises:
        TypeError, ValueError: an argument is outside its domain, or the class is not known; the
            message says what one would have to know of it.

    Example:
        >>> gemma = {"model_type": "gemma", "vocab_size": 256_000, "hidden_size": 2048,
        ...          "num_hidden_layers": 1, "num_attention_heads": 8, "head_dim": 256,
        ...          "intermediate_size": 16_384}
        >>> answer = initial_loss(gemma)
        >>> round(answer.log_n, 2), round(answer.loss, 2)  # planted: its own token
        (12.45, 22.66)
    """
    repeats = _share(labels)
    require_whole(length=length, texts=texts, seed=seed)
    for name, value, most in (("length", length, MOST_LENGTH), ("texts", texts, 10**6)):
        if not 1 <= value <= most:
            raise ValueError(f"{name}: got {value}; accepted: 1 to {most}")
    model_or_config = unwrapped(model_or_config)
    is_model = is_module(model_or_config)
    if measure and not is_model:
        got = type(model_or_config).__name__
        raise TypeError(f"measure: got {got} to measure on; accepted: a model, or measure=False")
    if measure:
        from .from_model import most_positions

        places = most_positions(model_or_config)
        if places is not None and length > places:
            got = f"got {length}; accepted: 1 to {places}, the model's positions"
            raise ValueError(f"length: {got}")
    bias = None
    if is_model:
        from .from_model import body_as_it_is, start_as_it_is

        known, bias = body_as_it_is(model_or_config, body)
        if body is None:
            known = start_as_it_is(model_or_config, known)
    else:
        known = body_of(model_or_config if body is None else body)
    found = variance_budget(known, length)
    law = np.full(known.n, 1 / known.n)
    if label_law is not None:
        from ..streamed import uniform_or

        law = uniform_or(label_law, known.n).cpu().numpy()
    added = None
    if bias is not None:
        added = Bias(known.after * bias.double().cpu().numpy(), law)
    if added is None and label_law is None:
        parts, moves = _of_uniform_labels(known, length, repeats)
    else:
        parts = explained(known, found, repeats, added)
        moves = one_draw(known, found, repeats, added, law)
    loss = sum(worth for _, worth in parts)
    if not math.isfinite(loss):  # the budget left the domain of the law
        raise ValueError("model_or_config: got a body without a finite loss; accepted: another")
    measured = None
    if measure:
        from .measuring import measured_loss

        measured = measured_loss(model_or_config, known, repeats, length, texts, seed, label_law)
    return InitialLoss(
        name=known.name,
        loss=loss,
        error=math.hypot(*(worth for _, worth in moves)),
        log_n=math.log(known.n),
        cosine=float(found.seen.cosine.mean()),
        spread=float(found.seen.spread.mean()),
        parts=tuple(LossPart(name, worth, _why(name, known, found)) for name, worth in parts),
        moves=tuple(LossPart(name, worth, _how(name, known, found)) for name, worth in moves),
        steps=found.steps,
        length=length,
        notes=known.notes,
        measured=measured,
    )


@lru_cache(maxsize=16)
def _of_uniform_labels(body: Body, length: int, repeats: float) -> tuple[_Worth, _Worth]:
    """The parts of a loss and what moves it, which `diagnose` asks for again."""
    found, law = variance_budget(body, length), np.full(body.n, 1 / body.n)
    return explained(body, found, repeats), one_draw(body, found, repeats, None, law)


def _share(labels: str | float) -> float:
    if isinstance(labels, str) and labels in ("other", "same"):
        return float(labels == "same")
    if isinstance(labels, bool) or not isinstance(labels, int | float) or not 0 <= labels <= 1:
        accepted = "'other', 'same', or the share of repeats, 0 to 1"
        raise ValueError(f"labels: got {labels!r}; accepted: {accepted}")
    return float(labels)


def _why(name: str, body: Body, found: VarianceBudget) -> str:
    """A few words on a part."""
    seen = found.seen
    ρ, s = float(seen.cosine.mean()), float(seen.spread.mean())
    freezing = math.sqrt(2 * math.log(body.n))
    own = float((seen.cosine * seen.spread).mean()) * math.sqrt(seen.width)
    head = "tied" if body.tied else "not tied"
    return {
        "log n": f"a uniform guess among n = {body.n}",
        "spread": f"s²/2, the other logits' deviation is s = {s:.4g}",
        "frozen": f"the largest few are the sum beyond s = {freezing:.3g}",
        "own token": f"the head is {head}, ρ = {ρ:.4g}, own logit {own:.4g}",
        "ε": "of the last normalisation, beside the second moment of the stream",
        "soft-cap": "none" if body.cap is None else f"logits are capped at {body.cap:g}",
        "padding": f"{body.blank} of the rows are zero, and so are their logits",
        "labels": "labels that repeat the input token",
        "bias": "the head's own, as it stands in the model",
    }[name]


def _how(name: str, body: Body, found: VarianceBudget) -> str:
    """A few words on what moves the loss."""
    return {
        "others": "the others' sum, as far as the places of a text share it",
        "own logits": f"own logits of {len(found.seen.spread)} tokens",
        "branches": f"the branches' sizes, {100 * found.wobble:.2g} % of the stream, and ρ by them",
        "theory": f"what the budget leaves out, 1/d = {100 / body.d:.2g} % of the stream",
    }[name]
