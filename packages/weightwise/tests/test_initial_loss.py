"""`initial_loss` against the classes that it speaks of, made and measured at small sizes."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from first_loss_models import MADE, SIZES, T5, D, N, made
from untied_models import ALONE, BEFORE

from weightwise import assert_initial_loss, command_line, initial_loss
from weightwise.first_loss import Body, Norm, Stack
from weightwise.first_loss.initial.activations import overlaps, second_moments
from weightwise.first_loss.initial.averaging import (
    Sloped,
    Window,
    concentration,
    representatives,
)
from weightwise.first_loss.initial.prediction import _alike
from weightwise.first_loss.initial.recipes import RECIPES
from weightwise.first_loss.logsumexp import LogsumexpLaw

# subclasses of what is tried, or a wrapper
SAME_CODE = {"camembert", "gemma3", "gpt-sw3", "internlm3", "xlm-roberta"}


@pytest.mark.parametrize("kind", MADE)
def test_a_class_starts_with_the_loss_that_its_configuration_promises(kind: str) -> None:
    answer = initial_loss(made(kind), measure=True, length=32)
    found = answer.measured
    assert found is not None
    room = 1e-3 * found.loss + 2.5 * math.hypot(answer.error, found.error)
    assert answer.loss == pytest.approx(found.loss, abs=room)
    assert answer.error < 0.04 * answer.loss  # so that the test can fail


HEAD_ALONE: dict[str, tuple[str, dict[str, Any]]] = {
    "deepseek_v3": ("DeepseekV3", {
        "moe_intermediate_size": 64, "n_routed_experts": 8, "n_group": 2, "topk_group": 1,
        "num_experts_per_tok": 2, "first_k_dense_replace": 1, "q_lora_rank": 32,
        "kv_lora_rank": 32, "qk_rope_head_dim": 16, "qk_nope_head_dim": 16, "v_head_dim": 32}),
    "gpt_oss": ("GptOss", {"num_local_experts": 4}),
    "llama4_text": ("Llama4", {"num_local_experts": 4, "intermediate_size_mlp": 256}),
    "mixtral": ("Mixtral", {"num_local_experts": 4}),
    "olmoe": ("Olmoe", {"num_experts": 4, "num_experts_per_tok": 2}),
    "qwen2_moe": ("Qwen2Moe", {
        "num_experts": 4, "moe_intermediate_size": 64, "shared_expert_intermediate_size": 64}),
    "qwen3_moe": ("Qwen3Moe", {
        "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64}),
}  # fmt: skip


@pytest.mark.parametrize("kind", HEAD_ALONE)
def test_behind_an_untied_head_no_body_counts(kind: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    name, settings = HEAD_ALONE[kind]
    cls = getattr(transformers, f"{name}ForCausalLM")
    sizes = {name: SIZES[name] for name in SIZES if name != "head_dim" or kind == "llama4_text"}
    given = {**sizes, **settings, "initializer_range": 0.08, "tie_word_embeddings": False}
    torch.manual_seed(0)
    model = cls(cls.config_class(**given))
    answer = assert_initial_loss(model, length=32)
    assert answer.loss == pytest.approx(math.log(N) + 0.08**2 * D / 2, rel=1e-3)
    model.config.save_pretrained(tmp_path)
    assert initial_loss(tmp_path, length=32).loss == answer.loss
    with pytest.raises(ValueError, match=f"{kind} with tie_word_embeddings = True"):
        initial_loss({**given, "model_type": kind, "tie_word_embeddings": True})


def test_every_recipe_is_tried() -> None:
    assert set(MADE) | SAME_CODE | set(ALONE) == set(RECIPES)
    assert set(HEAD_ALONE) == set(BEFORE)


STREAM = {
    "gpt2": "transformer.h", "bert": "bert.encoder.layer", "gemma": "model.layers",
    "gemma2": "model.layers", "gpt_neox": "gpt_neox.layers", "olmo2": "model.layers",
    "bloom": "transformer.h", "mpt": "transformer.blocks", "falcon": "transformer.h",
    "persimmon": "model.layers", "nemotron": "model.layers", "olmo": "model.layers",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", STREAM)
def test_the_stream_has_the_second_moment_of_its_budget(kind: str) -> None:
    found: dict[int, list[float]] = {0: [], 1: []}
    name = {"gpt2": "n_embd", "mpt": "d_model"}.get(kind, "hidden_size")
    sizes = {name: 264 if kind == "mpt" else 256, "vocab_size": 1000}
    for seed in range(20 if kind == "persimmon" else 6):  # a squared relu's tails are heavy
        model = made(kind, seed, **sizes)
        for index, layer in enumerate(model.get_submodule(STREAM[kind])):
            layer.register_forward_hook(
                lambda _, __, out, index=index: found[index].append(
                    float((out[0] if isinstance(out, tuple) else out).square().mean())
                )
            )
        with torch.no_grad():
            model(torch.randint(1000, (4, 48), generator=torch.Generator().manual_seed(seed)))
    steps = initial_loss(model, length=48).steps
    after = [step.stream for step in steps if step.name.endswith("feed-forward")]
    for index, expected in enumerate(after):
        assert np.mean(found[index]) == pytest.approx(expected, rel=0.03)


@pytest.mark.canary
def test_a_forgotten_scale_turns_the_assertion_red() -> None:
    model = made("gemma", num_hidden_layers=1, intermediate_size=32, initializer_range=0.09)
    assert_initial_loss(model, length=48, within=0.01)
    model.get_input_embeddings().embed_scale.fill_(1.0)
    with pytest.raises(AssertionError, match="its configuration promises"):
        assert_initial_loss(model, length=48, within=0.01)


@pytest.mark.canary
@pytest.mark.parametrize("copied", [True, False])
def test_a_lost_tie_turns_the_assertion_red_and_is_named(copied: bool) -> None:
    model = made("gpt2", initializer_range=0.02)
    assert_initial_loss(model, length=48, within=0.01)
    rows = model.transformer.wte.weight.detach()
    model.lm_head.weight = torch.nn.Parameter(rows.clone() if copied else rows.flip(0))
    with pytest.raises(AssertionError, match=r"lm_head\.weight is not transformer\.wte\.w") as red:
        assert_initial_loss(model, length=48, within=0.01)
    assert ("equal so far" in str(red.value)) is copied
    model.tie_weights()
    assert_initial_loss(model, length=48, within=0.01)


def test_a_head_that_the_configuration_leaves_untied_is_no_lost_tie() -> None:
    assert_initial_loss(made("gpt2", tie_word_embeddings=False), length=48, within=0.02)


def test_a_tied_t5_is_scaled_and_one_of_its_second_generation_is_not() -> None:
    first = {"model_type": "t5", **T5, "feed_forward_proj": "relu"}
    second = {**first, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
    assert initial_loss(first).spread == pytest.approx(1, rel=1e-3)
    assert initial_loss(second).spread == pytest.approx(math.sqrt(D), rel=1e-3)


def test_the_parts_add_up_and_say_why() -> None:
    answer = initial_loss({"model_type": "gemma", **SIZES}, labels=0.2)
    assert sum(part.worth for part in answer.parts) == pytest.approx(answer.loss)
    assert {part.name: part.worth for part in answer.parts}["labels"] < 0
    assert "own token" in str(answer)
    assert repr(answer) == str(answer)
    assert "√d" in answer.notes[0]


def test_labels_that_repeat_the_input_lower_the_loss_of_a_tied_model() -> None:
    gemma = {"model_type": "gemma", **SIZES}
    same, some, other = (initial_loss(gemma, labels=each).loss for each in ("same", 0.5, "other"))
    assert some == pytest.approx((same + other) / 2)
    assert same < other


def test_a_trained_model_an_untied_head_and_a_bias_are_told() -> None:
    model = made("gpt2")
    with torch.no_grad():
        model.get_input_embeddings().weight.mul_(3)
    assert "not at step 0" in initial_loss(model).notes[0]
    bert = made("bert")
    with torch.no_grad():
        bert.get_output_embeddings().bias.normal_(0, 0.5)
    answer = initial_loss(bert, measure=True)
    assert answer.measured is not None
    assert answer.loss == pytest.approx(answer.measured.loss, rel=2e-3)
    assert answer.parts[-1].name == "bias"
    assert answer.parts[-1].worth > 0.1


def test_a_model_keeps_its_mode_and_builds_no_logits() -> None:
    model = made("gpt2").train()
    model.get_output_embeddings().register_forward_hook(lambda *_: pytest.fail("logits"))
    assert initial_loss(model, measure=True, texts=1, length=16).measured is not None
    assert model.training


def test_bad_input_is_refused_by_name() -> None:
    mamba = {"model_type": "mamba", "hidden_size": 8}
    with pytest.raises(
        ValueError, match=r"(?s)the class 'mamba'; accepted: afmoe, albert, .* the head:"
    ):
        initial_loss(mamba)
    with pytest.raises(TypeError, match="model_or_config: got int; accepted"):
        initial_loss(3)
    with pytest.raises(ValueError, match="got no vocab_size"):
        initial_loss({"model_type": "llama", "hidden_size": 8, "num_hidden_layers": 1,
                      "num_attention_heads": 1, "intermediate_size": 8})  # fmt: skip
    with pytest.raises(ValueError, match=r"got 'gpt2' \(.*; accepted: the path of a config"):
        initial_loss("gpt2")
    with pytest.raises(ValueError, match="hidden_act = 'mish'"):
        initial_loss({"model_type": "llama", **SIZES, "hidden_act": "mish"})
    llama = {"model_type": "llama", **SIZES}
    for given, message in (
        ({"labels": "next"}, "labels: got 'next'"), ({"labels": 1.5}, "labels: got 1.5"),
        ({"length": 0}, "length: got 0; accepted: 1 to 2048"), ({"texts": 0}, "texts: got 0"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            initial_loss(llama, **given)
    with pytest.raises(TypeError, match="measure: got dict"):
        initial_loss(llama, measure=True)
    with pytest.raises(TypeError, match="accepted: a model of transformers, or any with body="):
        initial_loss(torch.nn.Linear(2, 2))
    with pytest.raises(ValueError, match="within: got 2"):
        assert_initial_loss(made("gpt2"), within=2)


def test_a_body_of_ones_own_is_accepted() -> None:
    norm = Norm("rms", 1e-6)
    answer = initial_loss(Body("mine", N, D, 0.02, Stack((), "pre", norm, last=norm)))
    assert answer.cosine == pytest.approx(1)
    with pytest.raises(ValueError, match="form: got 'other'"):
        Stack((), "other", norm)


@pytest.mark.slow
def test_the_command_prints_it_and_needs_no_transformers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"model_type": "gemma", **SIZES}), encoding="utf-8")
    code = "import sys; from weightwise.command_line import main; "
    code += f"status = main(['initial-loss', {str(config)!r}, '--steps']); "
    code += "assert not {'transformers', 'sympy'} & set(sys.modules); sys.exit(status)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )  # fmt: skip
    assert "gemma: first loss" in done.stdout
    assert "layer 1 feed-forward: branch" in done.stdout
    config.write_text(json.dumps({"model_type": "mamba"}), encoding="utf-8")
    assert command_line.main(["initial-loss", str(config)]) == 1
    assert "'mamba'" in capsys.readouterr().err


@pytest.mark.parametrize(("count", "variance"), [(2, 0.7), (9, 2.3), (40, 6.0)])
def test_the_concentration_of_softmax_weights(count: int, variance: float) -> None:
    drawn = np.random.default_rng(count).standard_normal((200_000, count)) * math.sqrt(variance)
    weights = np.exp(drawn)
    weights /= weights.sum(1, keepdims=True)
    found = (weights**2).sum(1)
    error = found.std() / math.sqrt(len(found))
    assert concentration(variance, count)[-1] == pytest.approx(found.mean(), abs=5 * error)


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "gelu_new"])
def test_overlaps_of_activations(activation: str) -> None:
    deviation, cosine = np.array([1.3, 1.3]), np.array([[1.0, 0.6], [0.6, 1.0]])
    found = overlaps(activation, deviation, cosine)
    draws = np.random.default_rng(0).standard_normal((2, 2_000_000))
    pair = draws[0], 0.6 * draws[0] + 0.8 * draws[1]
    names = {"relu": "relu", "gelu": "gelu", "silu": "silu", "gelu_new": "gelu"}
    function = getattr(torch.nn.functional, names[activation])
    more = {"approximate": "tanh"} if activation == "gelu_new" else {}
    one, two = (function(torch.from_numpy(1.3 * each), **more).numpy() for each in pair)
    for expected, product in ((found[0, 1], one * two), (found[0, 0], one**2)):
        error = product.std() / math.sqrt(product.size)
        assert expected == pytest.approx(product.mean(), abs=5 * error)
    assert second_moments(activation, deviation)[0] == pytest.approx(found[0, 0])


def test_a_window_sums_what_is_seen() -> None:
    term = np.random.default_rng(1).standard_normal((6, 6))
    found = Window(6, 6, True, 3).sums(term)
    assert found[4, 1] == pytest.approx(term[2:5, 0:2].sum())
    assert Window(6, 6, True, None).sums(term)[4, 1] == pytest.approx(term[:5, :2].sum())
    assert Window(4, 6, False, None).sums(term)[2, 3] == pytest.approx(term.sum())


def test_sloped_attention_weighs_near_keys_more() -> None:
    seen = Sloped(5, math.log(2))
    weight = np.array([1, 2, 4]) / 7  # the third token and the two before it, each half as much
    term = np.random.default_rng(2).standard_normal((5, 5))
    assert seen.sums(term)[2, 2] == pytest.approx(weight @ term[:3, :3] @ weight)
    assert seen.count[2] == round(1 / (weight**2).sum())
    slopes = tuple(2.0 ** -np.arange(1, 13))
    few = representatives(slopes, 4)
    assert sum(share for _, share in few) == pytest.approx(1)
    assert [slope for slope, _ in few] == pytest.approx([2**-11, 2**-8, 2**-5, 2**-2])


def test_the_parts_that_move_a_loss_add_up_to_its_error_and_are_told_where_they_are_large() -> None:
    planted = initial_loss({"model_type": "bloom", "vocab_size": N, "hidden_size": 1024,
                            "n_layer": 1, "n_head": 8})  # fmt: skip
    assert planted.error == pytest.approx(math.hypot(*(move.worth for move in planted.moves)))
    assert "own logits of 128 tokens" in str(planted)
    assert "±  " not in str(initial_loss({"model_type": "llama", **SIZES}))


def test_no_error_is_said_to_be_zero() -> None:
    sizes = {"vocab_size": 50_000, "n_embd": 4096, "n_head": 32, "n_layer": 2}
    untied = {"tie_word_embeddings": False, "initializer_range": 1e-3}
    answer = initial_loss({"model_type": "gpt2", **sizes, **untied})
    assert 0 < answer.error < 5e-5 and "± 0.0000" not in str(answer).splitlines()[0]


@pytest.mark.parametrize("spread", [0.3, 1.0, 1.5])
def test_sums_of_two_places_are_less_alike_than_their_states(spread: float) -> None:
    rng, cosine, n = np.random.default_rng(0), 0.6, 400
    one, other = rng.normal(size=(2, 6000, n)) * spread
    logits = np.stack([one, cosine * one + math.sqrt(1 - cosine**2) * other])
    sums = np.log(np.exp(logits).sum(-1)) - logits.mean(-1)
    found = float(np.corrcoef(sums)[0, 1])
    orders = np.array(LogsumexpLaw(n, spread).orders(np.full(n, 1 / n)))
    due = orders @ _alike(np.array([[cosine]]), spread**2, n, 10**9) / orders.sum()
    assert abs(found - due) < 0.05 and due < cosine - 0.15


@pytest.mark.parametrize("bias", [None, 3.0])
def test_the_orders_of_a_logsumexp_add_up_to_its_variance_and_match_its_slopes(
    bias: float | None,
) -> None:
    rng, n, spread = np.random.default_rng(1), 40, 1.2
    shift = None if bias is None else bias * rng.standard_normal(n)
    law = rng.dirichlet(np.ones(n))
    z = rng.standard_normal((60_000, n))
    logits = spread * z + (0 if shift is None else shift)
    share = np.exp(logits - logits.max(1, keepdims=True))
    share /= share.sum(1, keepdims=True)
    losses = np.log(np.exp(logits).sum(1)) - spread * z @ law
    first, second, higher = LogsumexpLaw(n, spread, None, shift).orders(law)
    assert first + second + higher == pytest.approx(losses.var(), rel=0.03)
    assert first == pytest.approx(spread**2 * ((share.mean(0) - law) ** 2).sum(), rel=0.02)
    curved = share.T @ share / len(share)
    curved = np.diag(share.mean(0)) - curved
    assert second == pytest.approx(spread**4 / 2 * (curved**2).sum(), rel=0.15)
