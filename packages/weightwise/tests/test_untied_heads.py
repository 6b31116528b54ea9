"""Where the head is a matrix of its own the loss follows from it alone; each class is drawn."""

from __future__ import annotations

import math

import pytest
from untied_models import ALONE, FACTORS, NEW, small

from weightwise import initial_loss


@pytest.mark.parametrize("draw", [0, 1])
@pytest.mark.parametrize("kind", NEW)
def test_a_class_starts_as_its_head_says(kind: str, draw: int) -> None:
    model = small(kind, draw)
    answer = initial_loss(model, measure=True, length=64, texts=2)
    assert answer.measured is not None
    room = 4 * math.hypot(answer.error, answer.measured.error) + 1e-3 * answer.log_n
    assert abs(answer.measured.loss - answer.loss) < room
    alone = initial_loss(model.config, length=64)
    assert alone.loss == pytest.approx(answer.loss, rel=1e-4)  # the configuration alone


@pytest.mark.parametrize("kind", FACTORS)
def test_what_multiplies_divides_or_caps_its_logits_is_read(kind: str) -> None:
    usual, other = small(kind, 1), small(kind, 1, **FACTORS[kind])
    answer = initial_loss(other, measure=True, length=64, texts=2)
    assert answer.measured is not None
    room = 4 * math.hypot(answer.error, answer.measured.error) + 1e-3 * answer.log_n
    assert abs(answer.measured.loss - answer.loss) < room
    assert abs(initial_loss(usual, length=64).loss - answer.loss) > 3 * room


@pytest.mark.canary
@pytest.mark.parametrize("kind", ALONE)
def test_a_tie_and_a_large_ε_are_refused_by_name(kind: str) -> None:
    given = {"model_type": kind, "vocab_size": 1000, "hidden_size": 4096}
    assert initial_loss(given).log_n == pytest.approx(math.log(1000))
    with pytest.raises(ValueError, match=rf"got {kind} with tie_word_embeddings = True, where"):
        initial_loss({**given, "tie_word_embeddings": True})
    with pytest.raises(
        ValueError, match=rf"got a norm's ε of 0\.1, which may move the loss of {kind}"
    ):
        initial_loss({**given, "rms_norm_eps": 0.1})
