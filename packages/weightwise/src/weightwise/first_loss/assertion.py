"""`assert_initial_loss`: a fresh model that is not what its configuration promises is refused."""

from __future__ import annotations

import math

import torch

from ..accepted import require_whole, unwrapped
from .diagnosis.diagnose import diagnose
from .initial.answer import InitialLoss
from .initial.body import Body
from .initial.from_model import body_as_it_is, most_positions, parts_of
from .initial.initial_loss import initial_loss
from .initial.recipes import body_of


def assert_initial_loss(
    model: torch.nn.Module,
    *,
    within: float = 1e-3,
    labels: str | float = "other",
    length: int = 128,
    texts: int = 4,
    seed: int = 0,
    body: Body | None = None,
) -> InitialLoss:
    """Fail where a model does not start as its configuration promises.

    For a unit test of one's own. The loss is compared first. Most of what breaks a body does not
    move it, since the last norm takes every size away; so `diagnose` then reads one pass module by
    module: matrices that nobody initialised, scales and norms that were forgotten. A head that lost
    its tie is refused by name.

    Args:
        model: at step 0, of a class that `initial_loss` knows, or any with a ``body``.
        within: relative difference of the loss that is let through, beside three deviations of one
            draw; what `diagnose` reads has tolerances of its own.
        labels, length, texts, seed, body: as for `initial_loss`; of a model with fewer positions
            than ``length``, as many as it has.

    Returns:
        The prediction, with what was measured.

    Raises:
        AssertionError: the measured loss is another one, and the message has the parts; or the
            configuration ties head and embedding, while the model holds two parameters; or a module
            is not what is due, and the message is the diagnosis.
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
    require_whole(length=length)
    model = unwrapped(model)
    length = min(length, most_positions(model) or length)
    body_as_it_is(model, body)  # refuses what has neither a configuration nor a body
    promised = body_of(model.config) if body is None else body
    answer = initial_loss(
        model, labels=labels, length=length, measure=True, texts=texts, seed=seed, body=promised
    )
    table, head = parts_of(model)
    if promised.tied and table.weight is not head.weight:
        raise AssertionError(_lost(model, table.weight, head.weight))
    found = answer.measured
    assert found is not None
    room = within * answer.loss + 3 * math.hypot(answer.error, found.error)
    if abs(found.loss - answer.loss) > room:
        raise AssertionError(
            f"model: starts with {found.loss:.4f}, its configuration promises {answer.loss:.4f} "
            f"(± {room:.4f})\n{answer}"
        )
    diagnose(model, body=body, backward=False, seed=seed).check()
    return answer


def _lost(model: torch.nn.Module, *ends: torch.Tensor) -> str:
    """What to say of a model whose head and embedding are no longer one parameter."""
    known = [*model.named_parameters(remove_duplicate=False)]
    table, head = (next((n for n, p in known if p is end), "a tensor") for end in ends)
    alike = ends[0].shape == ends[1].shape and torch.equal(ends[0], ends[1])
    so_far = "equal so far, they part in training" if alike else "their numbers differ"
    return (
        f"model: its configuration ties head and embedding, but {head} is not {table}: "
        f"two parameters, {so_far}; tie_weights() makes them one, or set tie_word_embeddings=False"
    )
