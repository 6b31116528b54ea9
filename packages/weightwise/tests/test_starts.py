"""Starts that are zero, no number, cut, or far too large somewhere; and rates of zero."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM, get_linear_schedule_with_warmup

from weightwise import assert_initial_loss, diagnose, draft_body, initial_loss
from weightwise.first_loss import Attention, Feedforward

ENDS = {"attention": "self_attn.o_proj", "feed-forward": "mlp.down_proj", "both": ""}


def llama(width: int = 64, **options: Any) -> Any:
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=500, hidden_size=width, intermediate_size=2 * width, num_hidden_layers=2,
        num_attention_heads=2, **options,
    ))  # fmt: skip


def zeroed(model: Any, ends: str) -> Any:
    for name, module in model.named_modules():
        if name.endswith(ENDS[ends] or tuple(filter(None, ENDS.values()))):
            torch.nn.init.zeros_(module.weight)
    return model


@pytest.mark.parametrize("ends", ENDS)
def test_branches_that_start_at_zero_are_drafted_predicted_and_sound(ends: str) -> None:
    model = zeroed(llama(), ends)
    body = draft_body(model)
    branches = {type(each): each for each in body.stack.layers[0]}
    out, outer = branches[Attention].out, branches[Feedforward].outer
    assert (out == 0, outer == 0) == (ends != "feed-forward", ends != "attention")
    assert any("starts at zero" in note for note in body.notes)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    diagnose(model, body=body, optimiser=optimiser).check()
    answer = initial_loss(model, body=body, measure=True)
    assert answer.measured is not None and math.isfinite(answer.error)
    assert abs(answer.loss - answer.measured.loss) < 4 * answer.error
    assert_initial_loss(model, body=body)
    with pytest.raises(AssertionError, match="zeroed, or never initialised"):
        diagnose(model).check()  # what its configuration promises is another start


def test_a_head_of_zeros_starts_with_log_n() -> None:
    model = llama()
    torch.nn.init.zeros_(model.lm_head.weight)
    body = draft_body(model)
    assert body.head == 0 and not body.tied
    assert initial_loss(body).loss == pytest.approx(math.log(500), abs=1e-9)
    assert assert_initial_loss(model, body=body).measured.loss == pytest.approx(math.log(500))
    diagnose(model, body=body).check()


@pytest.mark.parametrize("tied", [True, False])
def test_a_body_of_zero_branches_is_one_without_branches(tied: bool) -> None:
    body = draft_body(llama(tie_word_embeddings=tied))
    still = tuple(
        replace(each, **{"out" if isinstance(each, Attention) else "outer": 0.0})
        for each in body.stack.layers[0]
    )
    zero = replace(body, stack=replace(body.stack, layers=(still,) * 2))
    none = replace(body, stack=replace(body.stack, layers=()))
    assert initial_loss(zero).loss == pytest.approx(initial_loss(none).loss, rel=1e-12)
    assert math.isfinite(initial_loss(zero).error)


@pytest.mark.canary
@pytest.mark.parametrize(("value", "word"), [
    (math.nan, "NaN"), (math.inf, "infinite"), (-math.inf, "infinite"),
])  # fmt: skip
def test_what_is_no_number_is_named_first_and_alone(value: float, word: str) -> None:
    model = llama()
    with torch.no_grad():
        model.model.layers[1].mlp.up_proj.weight[2, 3] = value
    (reading,) = diagnose(model).wrong
    assert reading.place == "model.layers.1.mlp.up_proj.weight"
    assert reading.what == f"entries that are {word}" and reading.measured == 1
    assert "nan times" not in str(diagnose(model))


@pytest.mark.canary
def test_an_entry_that_no_draw_makes_is_seen() -> None:
    model = llama(256)
    with torch.no_grad():
        model.model.layers[1].mlp.up_proj.weight[2, 3] = 40 * 0.02
    (reading,) = diagnose(model).wrong
    assert reading.what == "largest entry, in deviations" and 39 < reading.measured < 41


@pytest.mark.canary
def test_a_cut_law_is_called_so() -> None:
    model = llama(256)
    weight = model.model.layers[0].mlp.up_proj.weight
    torch.nn.init.trunc_normal_(weight, 0.0, 0.02, -0.04, 0.04)
    causes = [each.cause for each in diagnose(model).wrong]
    assert causes == ["a normal number cut at two deviations, not divided by 0.8796"]
    with torch.no_grad():
        weight /= 0.87962566
    diagnose(model).check()


@pytest.mark.parametrize("kind", [torch.optim.AdamW, torch.optim.Adam, torch.optim.SGD])
def test_a_warm_up_begins_at_a_rate_of_zero(kind: Any) -> None:
    model = llama()
    optimiser = kind(model.parameters(), lr=1e-3)
    get_linear_schedule_with_warmup(optimiser, 10, 100)
    assert optimiser.param_groups[0]["lr"] == 0
    found = diagnose(model, optimiser=optimiser)
    assert found.fits and any("1 of 1 groups have a rate of 0" in note for note in found.notes)


@pytest.mark.canary
@pytest.mark.parametrize("kind", ["Adafactor", "RMSprop", "NAdam"])
def test_an_optimiser_whose_first_step_is_not_known_is_refused(kind: str) -> None:
    model = llama()
    with pytest.raises(TypeError, match=rf"optimiser: got {kind}; accepted: torch's own Adam, Ad"):
        diagnose(model, optimiser=getattr(torch.optim, kind)(model.parameters()))
