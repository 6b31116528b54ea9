"""`diagnose`: sound models of every class pass, and faults are seen where they were planted."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
import transformers
from first_loss_models import MADE, D, N, made
from handwritten_models import Model
from torch import nn

from weightwise import (
    Body,
    Diagnosis,
    assert_initial_loss,
    body_of,
    diagnose,
    draft_body,
    initial_loss,
)
from weightwise.first_loss import Norm, Stack
from weightwise.first_loss.diagnosis.watching import Layer, stacks_of
from weightwise.first_loss.initial.gradients import gradient_growth


@pytest.mark.parametrize("kind", MADE)
def test_a_fresh_model_is_what_its_configuration_promises(kind: str) -> None:
    found = diagnose(made(kind))
    assert found.fits, str(found)
    places = [reading.place for reading in found.readings]
    assert any("attention" in place for place in places)
    assert "loss" in places


def default(model: Any) -> None:
    mlp = model.transformer.h[1].mlp
    for each in (mlp.c_fc, mlp.c_proj):
        nn.init.uniform_(each.weight, -(len(each.weight) ** -0.5), len(each.weight) ** -0.5)


def first(model: Any) -> nn.Module:
    found: nn.Module = model.transformer.h[0]
    return found


@torch.no_grad()
def scaled(tensor: torch.Tensor, factor: float) -> None:
    tensor.mul_(factor)


def detached(_: Any, __: Any, out: Any) -> Any:
    return (out[0].detach(), *out[1:]) if isinstance(out, tuple) else out.detach()


def bare(_: Any, inputs: Any, out: Any) -> Any:
    return (out[0] - inputs[0], *out[1:]) if isinstance(out, tuple) else out - inputs[0]


def summed(_: Any, __: Any, out: Any) -> Any:
    out.loss = 126 * out.loss if out.loss is not None else None
    return out


# what is planted in a GPT-2: how, where it is first seen, and words of the cause
PLANTED: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "a default": (default, "layer 1 mlp.c_fc", "PyTorch's default of nn.Linear"),
    "a zero": (
        lambda m: nn.init.zeros_(m.transformer.h[1].attn.c_proj.weight), "layer 1 attn.c_proj",
        "zeroed",
    ),
    "no depth scale": (
        lambda m: scaled(m.transformer.h[0].mlp.c_proj.weight, 2), "layer 0 mlp.c_proj",
        "the factor 1/√(2·layers) was left out",
    ),
    "a gain": (
        lambda m: nn.init.constant_(m.transformer.h[0].ln_1.weight, 0.9), "layer 0 ln_1",
        "a gain of 0.9 instead of 1",
    ),
    "a bias": (
        lambda m: nn.init.constant_(m.transformer.h[0].mlp.c_fc.bias, 0.1), "layer 0 mlp.c_fc",
        "a bias",
    ),
    "no residual": (
        lambda m: first(m).register_forward_hook(bare), "layer 0", "the residual connection",
    ),
    "no activation": (
        lambda m: setattr(m.transformer.h[0].mlp.act, "forward", lambda x: x),
        "layer 0 feed-forward", "its activation",
    ),
    "no positions": (
        lambda m: nn.init.zeros_(m.transformer.wpe.weight), "embedding", "positions",
    ),
    "a sum": (lambda m: m.register_forward_hook(summed), "loss", "a sum instead of a mean"),
    "detached": (lambda m: first(m).register_forward_hook(detached), "", "detach"),
}  # fmt: skip


@pytest.mark.canary
@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_seen_where_it_is(fault: str) -> None:
    plant, place, cause = PLANTED[fault]
    model = made("gpt2", initializer_range=0.02)
    assert diagnose(model).fits
    plant(model)
    found = diagnose(model)
    with pytest.raises(AssertionError, match="readings are what is due"):
        found.check()
    assert cause in str(found)
    assert not place or found.wrong[0].place == place


@pytest.mark.canary
def test_the_assertion_sees_a_body_that_the_loss_does_not_show() -> None:
    model = made("llama", initializer_range=0.02)
    assert_initial_loss(model, length=32)
    for each in model.model.layers[0].mlp.children():
        if isinstance(each, nn.Linear):
            each.reset_parameters()
    answer = initial_loss(model, measure=True, length=32)
    assert answer.measured is not None
    assert answer.loss == pytest.approx(answer.measured.loss, rel=1e-3)
    with pytest.raises(AssertionError, match="nobody initialised it"):
        assert_initial_loss(model, length=32)


class Bare(Model):
    """A model written by hand that gives back the logits of all places, and nothing else."""

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = super().forward(tokens, tokens)[0]
        return logits


def test_a_model_that_is_written_by_hand_is_read_by_its_body() -> None:
    torch.manual_seed(0)
    model = Bare()
    body = draft_body(model)
    assert assert_initial_loss(model, body=body, length=32, within=0.01).name == "Bare"
    assert diagnose(model, body=body).fits
    nn.init.normal_(model.blocks[1].mlp.down.weight)  # type: ignore[union-attr, arg-type]
    found = diagnose(model, body=body)
    assert found.wrong[0].place == "layer 1 mlp.down"
    with pytest.raises(AssertionError, match=r"layer 1 mlp\.down"):
        assert_initial_loss(model, body=body, length=32, within=0.5)


def test_a_batch_of_ones_own_and_every_mode_are_kept() -> None:
    model = made("bert", initializer_range=0.02).train()
    tokens = torch.randint(N, (2, 16))
    assert diagnose(model, {"input_ids": tokens, "labels": tokens.flip(0)}).fits
    assert model.training
    assert all(each.grad is None for each in model.parameters())


def test_gradients_that_are_held_stay_and_frozen_parameters_are_said() -> None:
    model, tokens = made("gpt2", initializer_range=0.02), torch.randint(N, (2, 16))
    model(tokens, labels=tokens).loss.backward()
    held = model.transformer.wte.weight.grad.clone()
    assert not any("frozen" in note for note in diagnose(model).notes)
    assert torch.equal(model.transformer.wte.weight.grad, held)
    every = len([*model.requires_grad_(False).parameters()])
    note, *_ = diagnose(model).notes
    assert note.startswith(f"frozen: {every} of {every} parameters")


def test_the_text_has_every_reading_and_what_would_be() -> None:
    model = made("gpt2", initializer_range=0.02)
    scaled(model.transformer.h[0].mlp.c_proj.weight, 1.5)
    found = diagnose(model, backward=False)
    assert len(found.table().splitlines()) == len(found.readings)
    assert found.table().count("\n! ") == len(found.wrong)
    assert "initialised 1.49 times as wide" in str(found)
    assert isinstance(found, Diagnosis)


def test_the_picture_has_every_reading_and_names_where_it_leaves() -> None:
    model = made("gpt2", initializer_range=0.02)
    assert "leaves first" not in diagnose(model, backward=False).picture()
    nn.init.zeros_(model.transformer.h[1].mlp.c_proj.weight)
    found = diagnose(model, backward=False)
    picture = found.picture()
    assert ElementTree.fromstring(picture).get("viewBox") == "0 0 640 204"
    assert picture.count("<circle") == sum(each.predicted > 0 for each in found.readings)
    assert picture.count('r="2.5" fill="#c0504d"') == len(found.wrong)
    assert "leaves first: layer 1 mlp.c_proj, deviation of an entry: 0" in picture
    assert picture in found._repr_html_()


def test_bad_input_is_refused_by_name() -> None:
    model = made("gpt2")
    with pytest.raises(TypeError, match=r"without a \.config; accepted: .* with body="):
        diagnose(Bare())
    with pytest.raises(TypeError, match="body: got dict; accepted: a Body"):
        diagnose(model, body={})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"batch: got \['labels'\]; accepted: a mapping with inp"):
        diagnose(model, {"labels": torch.zeros(2, 4, dtype=torch.long)})
    with pytest.raises(ValueError, match="length: got 1; accepted: 2 to 2048"):
        diagnose(model, length=1)
    norm = Norm("rms", 0.0)
    body = Body("none", N, D, 0.02, Stack((), "pre", norm, last=norm))
    with pytest.raises(
        ValueError, match=r"Linear without an nn\.Embedding; accepted: a model with"
    ):
        diagnose(nn.Linear(2, 2), body=body)


@pytest.mark.canary
@pytest.mark.parametrize("kind", ["gpt2", "llama", "opt", "t5", "bloom", "gpt_neox", "qwen3"])
def test_a_branch_that_is_dead_behind_its_last_matrix_is_seen(kind: str) -> None:
    more = {"n_embd": 768, "n_head": 12, "initializer_range": 0.02} if kind == "gpt2" else {}
    model = made(kind, **more)
    assert diagnose(model, backward=False).fits
    branches = [
        module
        for name, module in model.named_modules()
        if name.rpartition(".")[2] in ("attn", "self_attn", "self_attention", "attention")
        or type(module).__name__ == "T5Attention"
    ]
    branches[0].register_forward_hook(dead)
    (found, *_) = diagnose(model, backward=False).wrong
    assert "attention" in found.place and found.what == "second moment of what it adds"


@pytest.mark.canary
def test_nothing_where_something_is_due_is_never_a_draw() -> None:
    model = made("olmo2", initializer_range=0.02)  # its last branch is random by a sixth
    model.model.layers[1].mlp.register_forward_hook(dead)
    assert diagnose(model, backward=False).wrong[0].place == "layer 1 feed-forward"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["electra", "bert", "distilbert"])
def test_what_attention_adds_in_an_encoder_differs_as_is_said(kind: str) -> None:
    """All places of a text are averaged, so that one vector's length is the branch's."""
    off = [
        (reading.measured - reading.predicted) / reading.deviation
        for seed in range(20)
        for reading in diagnose(made(kind, seed, initializer_range=0.02), backward=False).readings
        if reading.place == "layer 0 attention"
    ]
    assert 0.6 < float(np.sqrt(np.mean(np.square(off)))) < 1.6


def dead(_: Any, __: Any, out: Any) -> Any:
    return (0 * out[0], *out[1:]) if isinstance(out, tuple) else 0 * out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("t5", {"initializer_factor": 2.0}), ("t5", {"initializer_factor": 3.0}),
        ("llama", {"initializer_range": 0.5}), ("gpt2", {"initializer_range": 1.0}),
    ],
)  # fmt: skip
def test_attention_that_is_not_flat_is_predicted(kind: str, more: dict[str, float]) -> None:
    for seed in range(3):
        assert diagnose(made(kind, seed, **more), seed=seed).fits


TINY = {"vocab_size": 440, "n_embd": 8, "n_layer": 3, "n_head": 1, "rotary_dim": 4}
ODD: dict[str, tuple[str, int, int, float, dict[str, Any]]] = {  # class, seed, length, rate, more
    "gradients as small as Adam's ε": ("granite", 1007, 100, 2e-3, {
        "vocab_size": 450, "hidden_size": 16, "num_hidden_layers": 4, "num_attention_heads": 1,
        "num_key_value_heads": 1, "intermediate_size": 189, "initializer_range": 0.00955}),
    "words whose gradient is nearly none": ("mt5", 1003, 5, 3e-4, {
        "vocab_size": 584, "d_model": 64, "d_kv": 8, "d_ff": 209, "initializer_factor": 0.665,
        "tie_word_embeddings": False}),
    "five places of width 8": ("gptj", 1001, 5, 3e-4, TINY | {
        "initializer_range": 0.0431, "activation_function": "silu", "layer_norm_epsilon": 1e-12}),
    "a table as wide as the stream": ("albert", 1001, 17, 1e-3, {
        "vocab_size": 405, "hidden_size": 144, "embedding_size": 144, "num_hidden_layers": 3,
        "num_attention_heads": 6, "intermediate_size": 343, "initializer_range": 0.0266}),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_a_sound_model_of_odd_options_is_not_called_broken(name: str) -> None:
    kind, seed, length, rate, more = ODD[name]
    model = made(kind, seed, **more)
    optimiser = torch.optim.AdamW(model.parameters(), rate)
    found = diagnose(model, optimiser=optimiser, length=length, seed=seed - 1000)
    assert found.fits, str(found)


@pytest.mark.canary
@pytest.mark.parametrize("kind", ["gpt2", "llama", "gpt_neox", "olmo2"])
def test_labels_that_are_the_tokens_themselves_are_seen_before_any_head(kind: str) -> None:
    model = made(kind, initializer_range=0.02)
    tokens = torch.randint(N, (2, 64))
    assert diagnose(model, {"input_ids": tokens, "labels": tokens}).fits
    late = torch.cat([tokens[:, :1], tokens[:, :-1]], 1)  # the class shifts them back
    found = diagnose(model, {"input_ids": tokens, "labels": late}).wrong
    assert "labels" in {each.place for each in found}


@pytest.mark.canary
def test_an_epsilon_above_torchs_own_is_seen_beside_small_gradients() -> None:
    kind, seed, length, rate, more = ODD["gradients as small as Adam's ε"]
    model = made(kind, seed, **more)
    optimiser = torch.optim.AdamW(model.parameters(), rate, eps=1e-6)
    found = diagnose(model, optimiser=optimiser, length=length)
    assert {each.what for each in found.wrong} == {"size of the first step"}


def test_albert_leads_a_table_as_wide_as_its_stream_through_its_matrix() -> None:
    model = made("albert", embedding_size=D, initializer_range=0.03)
    answer = initial_loss(model, measure=True)
    embedding = diagnose(model, backward=False).readings
    (due,) = (each for each in embedding if each.place == "embedding" and "stream" in each.what)
    assert due.predicted == pytest.approx(D * 0.03**2, rel=0.01) and due.fits
    assert answer.measured is not None
    assert abs(answer.loss - answer.measured.loss) < 4 * (answer.error + answer.measured.error)


def test_an_untied_bert_is_sound() -> None:
    for kind in ("bert", "roberta", "electra", "albert"):
        found = diagnose(made(kind, tie_word_embeddings=False))
        assert found.fits, str(found)


@pytest.mark.parametrize("kind", ["gpt2", "llama", "mistral", "gpt_neox", "gemma3_text", "opt"])
def test_the_gradient_grows_on_its_way_back_as_is_said(kind: str) -> None:
    """Llama's attention takes it to 1.73 at the first layer; place by place it would be 1.44."""
    name = "init_std" if kind == "opt" else "initializer_range"
    found = [diagnose(made(kind, seed, **{name: 0.02}), seed=seed) for seed in range(6)]
    for layer in range(2):
        due, measured = zip(
            *((reading.predicted, reading.measured) for each in found for reading in each.readings
              if reading.what.startswith("gradient before") and reading.place == f"layer {layer}"),
            strict=True,
        )  # fmt: skip
        assert len(due) == 6
        assert np.mean(measured) == pytest.approx(due[0], rel=0.05)


@pytest.mark.canary
@pytest.mark.parametrize("kind", ["gpt2", "llama", "gemma2", "qwen3", "bloom", "t5", "gpt_neox"])
def test_a_residual_connection_that_is_detached_is_seen(kind: str) -> None:
    """Whether or not its gradient has a prediction: what the branches carry back is beside it."""
    model = made(kind, **({"initializer_range": 0.02} if kind != "t5" else {}))
    assert diagnose(model).fits
    [*stacks_of(model).values()][-1][0].register_forward_hook(without_residual, with_kwargs=True)
    (found,) = (each for each in diagnose(model).wrong if each.what.startswith("gradient carried"))
    assert found.place.endswith("layer 0") and abs(found.measured) < 0.7
    assert "is detached" in found.cause


def without_residual(_: Any, inputs: Any, more: Any, out: Any) -> Any:
    before = inputs[0] if inputs else more["hidden_states"]
    if isinstance(out, torch.Tensor):
        return out - before + before.detach()
    return (out[0] - before + before.detach(), *out[1:])


def test_what_the_gradient_is_carried_by_differs_as_is_said() -> None:
    """Its deviation is that of one draw: the z-scores of a random matrix's part along a vector."""
    off = []
    for seed in range(40):
        torch.manual_seed(seed)
        inside = torch.randn(1, 24, D, requires_grad=True)
        inside.retain_grad()
        outside = inside + inside @ torch.randn(D, D) / math.sqrt(D)
        outside.retain_grad()
        (outside @ torch.randn(D, 3)).square().sum().backward()
        found = Layer(0.0, states=[inside, outside]).carried(torch.ones(1, 24, dtype=torch.bool))
        assert found is not None
        off.append((found[0] - 1) / found[1])
    assert 0.7 < float(np.std(off)) < 1.3 and abs(float(np.mean(off))) < 0.6


OPTIMISERS: dict[str, tuple[str, Callable[[Any], torch.optim.Optimizer]]] = {
    "a rate": (
        "first step beside the weights",
        lambda model: torch.optim.AdamW(model.parameters(), 0.03),
    ),
    "an ε": (
        "size of the first step",
        lambda model: torch.optim.Adam(model.parameters(), eps=1e-3),
    ),
    "a parameter left out": (
        "groups that step it",
        lambda model: torch.optim.AdamW([*model.parameters()][1:]),
    ),
    "the parameters of another": (
        "parameters of another model",
        lambda model: torch.optim.SGD(made("gpt2").parameters(), 0.1),
    ),
    "a frozen one": (
        "takes a gradient",
        lambda model: torch.optim.AdamW(model.requires_grad_(requires_grad=False).parameters()),
    ),
}


@pytest.mark.canary
@pytest.mark.parametrize("fault", OPTIMISERS)
def test_a_first_step_out_of_proportion_is_seen(fault: str) -> None:
    model = made("gpt2", initializer_range=0.02)
    what, optimiser = OPTIMISERS[fault]
    assert what in {each.what for each in diagnose(model, optimiser=optimiser(model)).wrong}


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (torch.optim.Adam, {"lr": 1e-3, "weight_decay": 0.1}),
        (torch.optim.AdamW, {"lr": 1e-3, "weight_decay": 20.0}),  # a tenth of a step is decay
        (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ],
)
def test_a_sound_first_step_is_what_its_rule_says_and_leaves_all_as_it_was(
    kind: Any, settings: dict[str, Any]
) -> None:
    model = made("gpt2", initializer_range=0.02)
    optimiser, before = kind(model.parameters(), **settings), copy.deepcopy(model.state_dict())
    found = diagnose(model, optimiser=optimiser)
    assert found.fits, str(found)
    sizes = [each for each in found.readings if each.what == "size of the first step"]
    assert len(sizes) == 10
    for each in sizes:
        assert each.measured == pytest.approx(each.predicted, rel=0.03)
    assert not optimiser.state
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_the_growth_of_a_long_text_is_not_predicted_and_it_is_said() -> None:
    body = body_of(made("gpt2").config)
    assert len(gradient_growth(body, 16)) == 2
    assert gradient_growth(body, 513) == "texts of more than 512 tokens"


def test_where_attention_is_not_flat_no_gradient_is_predicted_and_it_is_said() -> None:
    for kind, why in (("qwen3", "a variance of 1"), ("t5", "an encoder"), ("bloom", "falls with")):
        found = diagnose(made(kind))
        assert why in str(found)
        assert not any(each.what.startswith("gradient before") for each in found.readings)


def test_what_few_directions_add_is_skewed_and_no_alarm() -> None:
    """OLMo 2 at width 64: all places of its second branch read one vector, a norm's result."""
    few = {"vocab_size": 500, "hidden_size": 64, "intermediate_size": 128}
    for draw in range(30):
        torch.manual_seed(draw)
        config = transformers.Olmo2Config(
            **few, num_hidden_layers=2, num_attention_heads=4, pad_token_id=None
        )
        diagnose(transformers.Olmo2ForCausalLM(config), seed=draw, backward=False).check()


def test_an_albert_of_inner_groups_is_refused_by_name() -> None:
    config = transformers.AlbertConfig(inner_group_num=2)
    with pytest.raises(ValueError, match=r"got inner_group_num = 2; accepted: 1"):
        initial_loss(config)
