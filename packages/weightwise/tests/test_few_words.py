"""Few words, padding's row, texts longer than the vocabulary: sound models stay green."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from transformers import GemmaConfig, GemmaForCausalLM

from weightwise import Body, assert_initial_loss, diagnose, initial_loss
from weightwise.first_loss import Norm, Stack


def gemma(number: int) -> Any:
    """A Gemma of 28 to 65 words, with and without a row of padding."""
    torch.manual_seed(number)
    d = (32, 64, 96)[number % 3]
    return GemmaForCausalLM(GemmaConfig(
        vocab_size=(28, 33, 40, 65)[number % 4], hidden_size=d, intermediate_size=2 * d,
        num_hidden_layers=1 + number % 2, num_attention_heads=2, num_key_value_heads=1,
        head_dim=d // 2, pad_token_id=(0, None)[number // 8 % 2], bos_token_id=1, eos_token_id=2,
    ))  # fmt: skip


@pytest.mark.parametrize("length", [128, 256])
def test_sound_models_of_few_words_are_green_and_the_error_is_theirs(length: int) -> None:
    off = []
    for number in range(16):
        model = gemma(number)
        diagnose(model, seed=number).check()
        answer = assert_initial_loss(model, length=length, seed=number)
        assert answer.measured is not None
        off.append((answer.measured.loss - answer.loss) / answer.error)
    # of 16 normal numbers: squares of 48 or more, or a mean of 1.1, have a chance of 5e-5
    assert sum(each**2 for each in off) < 48 and abs(sum(off)) / 16 < 1.1


@pytest.mark.parametrize(("n", "blank"), [(28, 1), (40, 5)])
def test_padding_rows_have_a_logit_of_zero(n: int, blank: int) -> None:
    """Exactly: rows that are zero, in a head of its own behind a norm."""
    s, d, draws = 1.2, 64, 400
    norm = Norm("rms", 0.0)
    body = Body("b", n, d, 1.0, Stack((), "pre", norm, last=norm), tied=False, head=s / d**0.5,
                blank=blank)  # fmt: skip
    answer = initial_loss(body)
    generator = torch.Generator().manual_seed(n)
    logits = s * torch.randn(draws * 100, n, generator=generator, dtype=torch.float64)
    logits[:, :blank] = 0
    each = logits.logsumexp(-1) - logits.mean(-1)
    error = float(each.std()) / math.sqrt(len(each))
    assert abs(float(each.mean()) - answer.loss) < 5 * error < 0.02
    without = initial_loss(Body("b", n, d, 1.0, body.stack, tied=False, head=s / d**0.5))
    assert without.loss - answer.loss > 10 * error  # the row is seen
    assert dict((part.name, part.worth) for part in answer.parts)["padding"] < 0


@pytest.mark.parametrize("s", [0.3, 1.0])
@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_the_error_of_very_few_words_is_that_of_the_draws(n: int, s: float) -> None:
    """The identity: labels' logits move the loss where the own token is all of the sum."""
    norm, d = Norm("rms", 1e-6), 16
    answer = initial_loss(Body("b", n, d, s, Stack((), "pre", norm, last=norm)))
    generator, found = torch.Generator().manual_seed(n), []
    for _ in range(400):
        rows = s * torch.randn(n, d, generator=generator, dtype=torch.float64)
        logits = rows / rows.square().mean(-1, keepdim=True).sqrt() @ rows.T
        others = (logits.sum(-1) - logits.diagonal()) / (n - 1)
        words = torch.randint(n, (128,), generator=generator)
        found.append(float((logits.logsumexp(-1) - others)[words].mean()))
    assert np.std(found) == pytest.approx(answer.error, rel=0.2)
    assert np.mean(found) == pytest.approx(
        answer.loss, abs=5 * answer.error / 20 + 0.02 * answer.loss
    )


@pytest.mark.canary
def test_a_padding_row_that_is_drawn_goes_red() -> None:
    """Of many rows one does not count; of few it does: the table is wider by it."""
    with pytest.raises(ValueError, match=r"blank: got 5; accepted: 0 to 3, of n rows"):
        norm = Norm("rms", 0.0)
        Body("b", 5, 4, 0.1, Stack((), "pre", norm, last=norm), blank=5)
