"""`initial_loss`: what a model of transformers starts with, from its configuration, and why."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ..accepted import require_whole
from ..architectures import is_tied
from .initial.answer import InitialLoss, Measured, Part, checked
from .initial.body import Body
from .initial.prediction import Budget, budget, explained, one_draw
from .initial.recipes import body_of
from .streamed import first_loss

MOST_LENGTH = 2048


def initial_loss(
    model_or_config: Any,
    *,
    labels: str | float = "other",
    length: int = 128,
    measure: bool = False,
    texts: int = 4,
    seed: int = 0,
) -> InitialLoss:
    """Return the loss that a model starts with, predicted from its configuration alone.

    A variance budget of the residual stream (embedding, positions, what each branch adds, norms,
    depth, what attention averages away) gives the cosine ρ between the last state and the row of
    the input token, and the spread of the logits; `gaussian_first_loss` says how these make the
    loss. Dropout is off, the texts are random tokens.

    Args:
        model_or_config: a model of transformers with a language-model head, at step 0; or its
            configuration, a dictionary of its settings, the path of a ``config.json``, a `Body`.
        labels: "other" (another token than the input: the next word, a masked one), "same" (the
            input token itself), or the share of labels that repeat the input, 0 to 1. What law the
            other labels have does not matter: their logits all have the mean zero.
        length: tokens of a text, 1 to 2048.
        measure: whether to stream the loss on the model itself as well, without building the
            logits; needs a model.
        texts: how many texts to measure on.
        seed: of the random tokens.

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
    is_model = isinstance(model_or_config, torch.nn.Module)
    if measure and not is_model:
        got = type(model_or_config).__name__
        raise TypeError(f"measure: got {got} to measure on; accepted: a model, or measure=False")
    config = model_or_config
    if is_model:
        config = getattr(model_or_config, "config", None)
        if config is None:
            got = type(model_or_config).__name__
            raise TypeError(f"model_or_config: got {got}; accepted: a model with a .config")
    body = body_of(config)
    bias = None
    if is_model:
        body, bias = _as_it_is(model_or_config, body)
    found = budget(body, length)
    parts = explained(body, found, repeats)
    if bias is not None:
        lifted = float(torch.logsumexp(bias.double(), 0)) - math.log(body.n)
        parts = (*parts, ("bias", lifted - float(bias.double().mean())))
    measured = None
    if measure:
        measured = _measured(model_or_config, body, repeats, length, texts, seed)
    moves = one_draw(body, found, repeats)
    return InitialLoss(
        name=body.name,
        loss=checked(sum(worth for _, worth in parts)),
        error=math.hypot(*(worth for _, worth in moves)),
        log_n=math.log(body.n),
        cosine=float(found.seen.cosine.mean()),
        spread=float(found.seen.spread.mean()),
        parts=tuple(Part(name, worth, _why(name, body, found)) for name, worth in parts),
        moves=tuple(Part(name, worth, _how(name, body, found)) for name, worth in moves),
        steps=found.steps,
        length=length,
        notes=body.notes,
        measured=measured,
    )


def assert_initial_loss(
    model: torch.nn.Module,
    *,
    within: float = 1e-3,
    labels: str | float = "other",
    length: int = 128,
    texts: int = 4,
    seed: int = 0,
) -> InitialLoss:
    """Fail where a model does not start with the loss that its configuration promises.

    For a unit test of one's own: a scale that was forgotten and a branch that is initialised
    otherwise move the first loss. A head that lost its tie need not, and is refused by name.

    Args:
        model: a model of transformers at step 0.
        within: relative difference that is let through, beside three deviations of one draw.
        labels, length, texts, seed: as for `initial_loss`.

    Returns:
        The prediction, with what was measured.

    Raises:
        AssertionError: the measured loss is another one, and the message has the parts; or the
            configuration ties head and embedding, while the model holds two parameters.
        TypeError, ValueError: an argument is outside its domain.

    Example:
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> small = GPT2Config(vocab_size=2000, n_embd=64, n_layer=2, n_head=2,
        ...                    bos_token_id=0, eos_token_id=0)
        >>> assert_initial_loss(GPT2LMHeadModel(small), within=0.01).log_n < 7.61
        True
    """
    if isinstance(within, bool) or not isinstance(within, int | float) or not 0 < within < 1:
        raise ValueError(f"within: got {within!r}; accepted: a share between 0 and 1")
    answer = initial_loss(model, labels=labels, length=length, measure=True, texts=texts, seed=seed)
    if body_of(model.config).tied and not is_tied(model):
        raise AssertionError(_lost(model))
    found = answer.measured
    assert found is not None
    room = within * answer.loss + 3 * math.hypot(answer.error, found.error)
    if abs(found.loss - answer.loss) > room:
        raise AssertionError(
            f"model: starts with {found.loss:.4f}, its configuration promises {answer.loss:.4f} "
            f"(± {room:.4f})\n{answer}"
        )
    return answer


def _lost(model: Any) -> str:
    """What to say of a model whose head and embedding are no longer one parameter."""
    ends = (model.get_input_embeddings().weight, model.get_output_embeddings().weight)
    known = [*model.named_parameters(remove_duplicate=False)]
    table, head = (next((n for n, p in known if p is end), "a tensor") for end in ends)
    alike = ends[0].shape == ends[1].shape and torch.equal(ends[0], ends[1])
    so_far = "equal so far, they part in training" if alike else "their numbers differ"
    return (
        f"model: its configuration ties head and embedding, but {head} is not {table}: "
        f"two parameters, {so_far}; tie_weights() makes them one, or set tie_word_embeddings=False"
    )


def _share(labels: str | float) -> float:
    if isinstance(labels, str) and labels in ("other", "same"):
        return float(labels == "same")
    if (
        isinstance(labels, bool | str)
        or not isinstance(labels, int | float)
        or not 0 <= labels <= 1
    ):
        accepted = "'other', 'same', or the share of repeats, 0 to 1"
        raise ValueError(f"labels: got {labels!r}; accepted: {accepted}")
    return float(labels)


def _as_it_is(model: Any, body: Body) -> tuple[Body, torch.Tensor | None]:
    """The body with what is read off the model: its vocabulary, tie and output bias."""
    tied = is_tied(model)
    head, rows = model.get_output_embeddings(), model.get_input_embeddings().weight
    notes = body.notes
    if tied != body.tied:
        notes = (*notes, f"the head is {'tied' if tied else 'not tied'}, unlike the configuration")
    stated = body.table
    sample = rows.detach()[:: max(1, len(rows) // 4096)].double()
    actual = float(sample.std())
    if abs(actual / stated - 1) > 0.05:
        notes = (
            *notes,
            f"the embedding's standard deviation is {actual:.4g}, the initialiser's {stated:.4g}: "
            "this model is not at step 0, or was initialised otherwise",
        )
    bias = getattr(head, "bias", None)
    bias = None if bias is None or not bool((bias != 0).any()) else bias.detach()
    return replace(body, tied=tied, n=len(head.weight), notes=notes), bias


def _why(name: str, body: Body, found: Budget) -> str:
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
        "labels": "labels that repeat the input token",
        "bias": "the head's own, as it stands in the model",
    }[name]


def _how(name: str, body: Body, found: Budget) -> str:
    """A few words on what moves the loss."""
    return {
        "others": "the others' sum, as far as the places of a text share it",
        "own logits": f"own logits of {len(found.seen.spread)} tokens",
        "branches": f"the branches' sizes, {100 * found.wobble:.2g} % of the stream, and ρ by them",
        "theory": f"what the budget leaves out, 1/d = {100 / body.d:.2g} % of the stream",
    }[name]


class _Seen(Exception):
    """The head's input is known, and no logit is needed."""


def _measured(
    model: Any, body: Body, repeats: float, length: int, texts: int, seed: int
) -> Measured:
    """The first loss of the model itself, a text at a time, without building the logits."""
    head, was_training = model.get_output_embeddings(), model.training
    where = head.weight.device
    bias = getattr(head, "bias", None)
    bias = None if bias is None else body.after * bias.detach().float()
    generator = torch.Generator().manual_seed(seed)
    states: list[torch.Tensor] = []

    def keep(_: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        states.append(inputs[0].detach())
        raise _Seen

    hook = head.register_forward_pre_hook(keep)
    model.eval()
    losses = []
    try:
        with torch.no_grad():
            for _ in range(texts):
                drawn = torch.randint(0, body.n, (2, length), generator=generator).to(where)
                given = {"input_ids": drawn[:1]}
                if body.encoder is not None:
                    given["decoder_input_ids"] = drawn[1:]
                with suppress(_Seen):
                    model(**given)
                if not states:
                    raise ValueError("model_or_config: its head was not called; accepted: one")
                state = states.pop()[0].float() * body.after
                tokens = given.get("decoder_input_ids", drawn[:1])[0]
                found = first_loss(
                    state,
                    head.weight.detach().float(),
                    bias=bias,
                    own=tokens,
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
    return Measured(float(each.mean()), error, texts * length)
