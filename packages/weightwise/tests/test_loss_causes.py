"""`loss_causes`: each number is what a model with that mistake starts with."""

from __future__ import annotations

import math

import pytest
import torch
from first_loss_models import made
from torch.nn import functional as F

from weightwise import initial_loss, loss_causes

transformers = pytest.importorskip("transformers")
MixtralConfig, MixtralForCausalLM = transformers.MixtralConfig, transformers.MixtralForCausalLM

LENGTH = 64


def seen(kind: str) -> dict[str, float]:
    """The losses of a small model, as mistakes make them."""
    found: dict[str, list[float]] = {}
    for draw in range(3):
        model = made(kind, draw)
        drawn = torch.Generator().manual_seed(draw)
        tokens = torch.randint(3000, (8, LENGTH), generator=drawn)
        states: list[torch.Tensor] = []
        head = model.get_output_embeddings()
        hook = head.register_forward_pre_hook(
            lambda _, inputs, states=states: states.append(inputs[0])
        )
        with torch.no_grad():
            logits = model(tokens).logits
            hook.remove()
            dropped = head(F.dropout(states[0], 0.1))
        last = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
        loss = float(F.cross_entropy(*last))
        for name, value in {
            "nothing": loss,
            "labels are not shifted": float(
                F.cross_entropy(logits.flatten(0, 1), tokens.flatten())
            ),
            "a sum over the text": loss * LENGTH,
            "padding counts": loss / 2,
            "a loss in bfloat16": float(F.cross_entropy(last[0].bfloat16(), last[1])),
            "label smoothing": float(F.cross_entropy(*last, label_smoothing=0.1)),
            "dropout after the last norm": float(
                F.cross_entropy(dropped[:, :-1].flatten(0, 1), last[1])
            ),
            "a z-loss of 1e-4": loss + 1e-4 * float(last[0].logsumexp(1).square().mean()),
        }.items():
            found.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in found.items()}


@pytest.mark.parametrize("kind", ["gpt2", "llama", "gemma"])
def test_a_mistake_makes_the_loss_that_is_said(kind: str) -> None:
    causes = {each.name: each.loss for each in loss_causes(made(kind), length=LENGTH)}
    for name, loss in seen(kind).items():
        assert causes[name] == pytest.approx(loss, rel=0.012), name


def test_the_nearest_cause_comes_first() -> None:
    gpt2 = {"model_type": "gpt2", "vocab_size": 3000, "n_embd": 128, "n_layer": 2, "n_head": 4}
    assert loss_causes(gpt2, math.log(3000))[0].name == "logits of zero"
    assert loss_causes(gpt2, 1030, length=128)[0].name == "a sum over the text"
    assert "each label is its own" in str(loss_causes(gpt2)[2])


def test_a_balancing_loss_is_told() -> None:
    sizes = {"vocab_size": 2000, "hidden_size": 64, "intermediate_size": 96}
    few = {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4}
    config = MixtralConfig(**sizes, **few, router_aux_loss_coef=0.1)
    tokens = torch.randint(2000, (2, 64), generator=torch.Generator().manual_seed(0))
    model = MixtralForCausalLM(config).eval()
    with torch.no_grad():
        bare, more = (
            float(model(tokens, labels=tokens, output_router_logits=given).loss)
            for given in (False, True)
        )
    (note,) = (note for note in initial_loss(config).notes if "output_router_logits" in note)
    assert "its own loss has 0.2 more" in note
    assert more - bare == pytest.approx(0.2, rel=0.03)


def test_bad_input_is_refused_by_name() -> None:
    gpt2 = {"model_type": "gpt2", "vocab_size": 30, "n_embd": 8, "n_layer": 1, "n_head": 1}
    with pytest.raises(ValueError, match="padding: got 1; accepted: a share"):
        loss_causes(gpt2, padding=1)
    with pytest.raises(TypeError, match="seen: got '10'; accepted: a number"):
        loss_causes(gpt2, "10")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seen: got nan; accepted: a loss in nats"):
        loss_causes(gpt2, math.nan)


GPT2 = {"model_type": "gpt2", "vocab_size": 50_257, "n_embd": 768, "n_layer": 12, "n_head": 12}


def test_a_loss_that_no_cause_makes_is_called_so() -> None:
    none, nearest, *_ = loss_causes(GPT2, 29.7)
    assert none.name == "none of these is near" and none.loss == 29.7
    assert nearest.off == pytest.approx(nearest.loss - 29.7) and abs(nearest.off) > 0.1
    assert f"off by {nearest.off:+.4f}" in str(nearest)
    assert loss_causes(GPT2, 10.97)[0].name != "none of these is near"


@pytest.mark.parametrize(("seen", "name", "words"), [
    (3 * 10.9785, "a sum over accumulated batches", "3 of them"),
    (0.7 * 10.9785, "padding counts", "30% would make what was seen"),
    (1000 * 10.9785, "a sum over the text", "1000 tokens would come nearest"),
    (0.75 * 10.9785 + 0.25 * 9.9378, "labels are not shifted", "25% of such labels"),
])  # fmt: skip
def test_the_number_of_ones_own_is_solved_for(seen: float, name: str, words: str) -> None:
    found = {each.name: each for each in loss_causes(GPT2, seen)}
    assert words in found[name].look


def test_the_share_of_dropout_is_solved_for() -> None:
    causes = {each.name: each.loss for each in loss_causes(GPT2, dropout=0.4)}
    found = loss_causes(GPT2, causes["dropout after the last norm"])
    look = next(each.look for each in found if each.name.startswith("dropout"))
    assert "a share of 0.4 would make what was seen" in look
