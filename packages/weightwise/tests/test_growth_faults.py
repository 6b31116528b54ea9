"""A fault in any one rule is found, and the place is named; what no rule covers is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import growth_models
import pytest
import torch
from growth_models import model, transformers

from weightwise.growth import (
    RULES,
    Axis,
    GrowthFailed,
    GrowthRefused,
    Part,
    axes,
    compare,
    descriptions,
    filling,
    grow,
    rules,
)
from weightwise.growth.verify import require_same_function

BERT, RELU = "BERT, GELU, tied", "BERT, ReLU, untied"
GPT2, LLAMA, T5, ROFORMER = "GPT-2, tied", "Llama, untied", "T5 v1.0", "RoFormer"
BIASED = "Llama, tied, biases, head size 6, eager"


def goes_red(kind: str, message: str, *, error: type[Exception] = GrowthFailed) -> None:
    """Grow a model whose rules have been spoiled, and look at what the check says."""
    with pytest.raises(error, match=message):
        grow(model(kind), 2)


def spoil_axis(patch: pytest.MonkeyPatch, name: str, change: Callable[[Axis], Axis]) -> None:
    """Replace one axis of every model."""
    true = descriptions.widened

    def spoiled(*args: Any, **options: Any) -> Any:
        found = dict(true(*args, **options))
        return {**found, name: change(found[name])}

    patch.setattr(descriptions, "widened", spoiled)


def spoil_rule(
    patch: pytest.MonkeyPatch, name: str, change: Callable[[Part, torch.Tensor], torch.Tensor]
) -> None:
    """Change what a rule makes of each parameter."""
    true = RULES[name]

    def spoiled(part: Part) -> axes.Gathered:
        return axes.Gathered(change(part, true(part).dense()))

    def like(one: axes.Gathered, other: axes.Gathered) -> bool:  # by what is made, not how
        return torch.allclose(one.dense(), other.dense(), rtol=1e-12, atol=0.0)

    patch.setattr(axes.Gathered, "like", like)
    patch.setitem(RULES, name, spoiled)


def scaled(factor: float) -> Callable[[Axis], Axis]:
    return lambda axis: Axis(axis.source, factor * axis.factor, axis.size)


@pytest.mark.canary
@pytest.mark.parametrize("kind", [BERT, GPT2, LLAMA, T5, ROFORMER])
def test_the_root_in_the_scores_forgotten(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "score_scale", lambda k, copies, *, scaled: 1.0)
    if kind == T5:  # rightly 1 for rotary heads alone: T5 has none, and is wrong by k
        monkeypatch.setattr(rules, "score_scale", lambda k, copies, *, scaled: k**-0.25)
    goes_red(kind, r"0.*(output\.dense|c_proj|o_proj|\.o), its input .*: the attention")


@pytest.mark.canary
@pytest.mark.parametrize(("kind", "place"), [
    (BERT, r"query, its output .*'linear', axis 'query'"),
    (GPT2, r"c_attn, its output .*'transposed'"),
    (BIASED, r"q_proj, its output .*'linear', axis 'query'"),
])  # fmt: skip
def test_a_bias_dropped(kind: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:

    def kept(part: Part, made: torch.Tensor) -> torch.Tensor:
        # the output bias, 19 long, has a second rule that would object
        return made * (part.leaf == "weight" or len(made) == 19)

    for rule in ("linear", "transposed"):
        spoil_rule(monkeypatch, rule, kept)
    goes_red(kind, place)


@pytest.mark.canary
def test_a_bias_that_the_softmax_cannot_see(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key's bias adds the same number to all scores of a query; the module still tells."""
    small = model(BERT)
    large = grow(small, 2)
    large.bert.encoder.layer[0].attention.self.key.bias.data.zero_()
    found = compare(small, large)
    assert found.clean <= 1e-12
    assert re.match(r"bert\.encoder\.layer\.0\.attention\.self\.key, its output", found.broken)


@pytest.mark.canary
@pytest.mark.parametrize("kind", [BERT, GPT2, T5])
def test_heads_tiled(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def tiled(count: int, size: int, k: int, *, scale: float = 1.0) -> Axis:
        whole = torch.arange(count * size).repeat(k)
        return Axis(whole, torch.full((len(whole),), scale).double(), count * size)

    monkeypatch.setattr(axes, "heads", tiled)
    goes_red(kind, r"its input .*: the attention: .* order of heads")


@pytest.mark.canary
@pytest.mark.parametrize("kind", [LLAMA, ROFORMER])
def test_a_rotary_slot_off_by_one(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    true, step = axes.rotary, 1 if kind == LLAMA else 2

    def shifted(*args: Any, **options: Any) -> Axis:
        axis = true(*args, **options)
        return Axis(axis.source.roll(step), axis.factor.roll(step), axis.size)

    monkeypatch.setattr(axes, "rotary", shifted)
    goes_red(kind, r"its input .*: the attention: .* rotary slots")


@pytest.mark.canary
@pytest.mark.parametrize(("kind", "layout"), [(LLAMA, "interleaved"), (ROFORMER, "halves")])
def test_the_other_rotary_layout(kind: str, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    true = axes.rotary
    monkeypatch.setattr(
        axes, "rotary", lambda *args, scale=1.0, **_: true(*args, layout=layout, scale=scale)
    )
    goes_red(kind, r"its input .*: the attention")


@pytest.mark.canary
@pytest.mark.parametrize("kind", [BIASED, ROFORMER])
def test_rotary_heads_repeated(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(axes, "rotary", lambda *args, layout, scale: axes.heads(*args, scale=scale))
    goes_red(kind, r"its input .*: the attention")


@pytest.mark.canary
@pytest.mark.parametrize("kind", [LLAMA, ROFORMER])
def test_the_frequencies_misplaced(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil_rule(monkeypatch, "frequencies", lambda _, made: made.roll(1, -1))
    goes_red(kind, r"its input .*: the attention: .* rotary slots")


@pytest.mark.canary
@pytest.mark.parametrize("kind", [BERT, GPT2, LLAMA, T5, ROFORMER])
def test_the_head_takes_the_stream_as_it_is(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without 1/k before a tied head, without √k before T5's, with 1/k before an untied one."""
    wrong = 0.5 if kind == LLAMA else 1.0
    monkeypatch.setattr(rules, "features_scale", lambda k, *, tied, scaled: wrong)
    goes_red(kind, r"(lm_head|decoder), its input .*axis 'features'")


@pytest.mark.canary
@pytest.mark.parametrize("kind", [BERT, GPT2, T5])
def test_a_tied_head_that_reads_like_an_untied_one(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "scored_scale", lambda k, *, tied: 1.0)
    goes_red(kind, r"weight shares its parameter with .*rules disagree", error=GrowthRefused)


@pytest.mark.canary
@pytest.mark.parametrize("kind", [BERT, GPT2, LLAMA, T5, ROFORMER])
def test_another_ε(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    true = filling._wide

    def other(*args: Any) -> Any:
        large = true(*args)
        for module in large.modules():
            for name in ("eps", "variance_epsilon"):
                if hasattr(module, name):
                    setattr(module, name, getattr(module, name) / 2)
        return large

    monkeypatch.setattr(filling, "_wide", other)
    goes_red(kind, r"(norm|ln_1|LayerNorm), its output .*'norm', axis '\w+', or ε")


@pytest.mark.canary
@pytest.mark.parametrize(("kind", "rule", "place"), [
    (BERT, "norm", r"LayerNorm, its output .*rule 'norm'"),
    (GPT2, "norm", r"ln_1, its output .*rule 'norm'"),
    (LLAMA, "norm", r"input_layernorm, its output .*rule 'norm'"),
    (T5, "norm", r"layer_norm, its output .*rule 'norm'"),
    (LLAMA, "linear", r"q_proj, its output .*rule 'linear'"),
    (GPT2, "transposed", r"c_attn, its output .*rule 'transposed'"),
    (LLAMA, "embedding", r"embed_tokens, its output .*rule 'embedding'"),
])  # fmt: skip
def test_a_coordinate_out_of_order(
    kind: str, rule: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil_rule(monkeypatch, rule, lambda _, made: made.roll(1, -1))
    goes_red(kind, place)


@pytest.mark.canary
@pytest.mark.parametrize("kind", [BERT, GPT2, LLAMA, T5])
def test_copies_added_and_not_averaged(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Axis, "read", Axis.write)
    place = r"'transposed'" if kind == GPT2 else r"'linear'"
    error = GrowthRefused if kind != LLAMA else GrowthFailed
    goes_red(kind, "rules disagree" if error is GrowthRefused else place, error=error)


@pytest.mark.canary
@pytest.mark.parametrize("kind", [BERT, GPT2, LLAMA, "T5 v1.1"])
def test_a_feed_forward_axis_with_a_scale(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The article's first table: right for ReLU, wrong for GELU and for gates."""
    spoil_axis(monkeypatch, "feed-forward", scaled(2**-0.5))
    goes_red(kind, r"its input .*: the activation or the gate")


@pytest.mark.parametrize("kind", [RELU, T5])
def test_relu_takes_any_scale(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil_axis(monkeypatch, "feed-forward", scaled(2**-0.5))
    small = model(kind)
    assert compare(small, grow(small, 2)).clean <= 1e-12


@pytest.mark.canary
@pytest.mark.parametrize("kind", [RELU, LLAMA])  # untied: a tied head would refuse such a stream
def test_a_stream_with_a_scale_needs_another_ε(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for axis in ("stream", "embedding"):
        spoil_axis(monkeypatch, axis, scaled(2**-0.5))
    goes_red(kind, r"'norm', axis '\w+', or ε")


@pytest.mark.canary
def test_a_weight_that_is_off_by_its_last_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    true = axes.Gathered.into

    def off(rule: axes.Gathered, target: torch.Tensor) -> torch.Tensor:
        true(rule, target)
        if target.dtype == torch.float32 and target.ndim == 2:
            target[-1, -1] = torch.nextafter(target[-1, -1], torch.tensor(9.0))
        return target

    monkeypatch.setattr(axes.Gathered, "into", off)
    with pytest.raises(GrowthFailed, match=r"weight: it is not what the rules make, rounded"):
        grow(model(LLAMA, dtype=torch.float32), 2)


@pytest.mark.canary
def test_a_model_that_was_not_grown() -> None:
    small = model(GPT2)
    large = grow(small, 2)
    growth_models.randomise(large)
    found = compare(small, large)
    assert found.clean > 0.1 and found.broken.startswith("transformer.wte, its output")


def test_other_classes_are_refused() -> None:
    bert = model(BERT)
    other = transformers.BertForQuestionAnswering(bert.config)
    for refused in (other, bert.bert.encoder, torch.nn.Linear(2, 2)):
        with pytest.raises(
            GrowthRefused, match=rf"model: got .*{type(refused).__name__}; accepted"
        ):
            grow(refused, 2)
    subclass = type("Mine", (type(bert),), {})(bert.config)
    with pytest.raises(GrowthRefused, match=r"Mine; accepted: BertFor.* no subclass"):
        grow(subclass, 2)


@pytest.mark.parametrize(("kind", "option", "value"), [
    (BERT, "is_decoder", True),
    (BERT, "position_embedding_type", "relative_key"),
    (GPT2, "reorder_and_upcast_attn", True),
    (GPT2, "add_cross_attention", True),
    (ROFORMER, "add_cross_attention", True),
])  # fmt: skip
def test_options_are_refused_by_name(kind: str, option: str, value: Any) -> None:
    small = model(kind)
    setattr(small.config, option, value)
    with pytest.raises(GrowthRefused, match=rf"config\.{option} of .*: got {value!r}; accepted"):
        grow(small, 2)


def test_rotary_frequencies_of_other_kinds_are_refused() -> None:
    small = model(LLAMA)
    small.config.rope_parameters = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0}
    with pytest.raises(GrowthRefused, match=r"rope_parameters\.rope_type .*: got 'yarn'; accepted"):
        grow(small, 2)
    small = model(LLAMA)
    small.model.rotary_emb.inv_freq *= 1.1
    with pytest.raises(
        GrowthRefused, match=r"rotary_emb\.inv_freq: rule 'frequencies' .* no slots"
    ):
        grow(small, 2)


def test_unknown_parameters_are_refused_by_name() -> None:
    small = model(GPT2)
    small.transformer.h[1].attn.register_parameter("sink", torch.nn.Parameter(torch.ones(3)))
    with pytest.raises(GrowthRefused, match=r"transformer\.h\.1\.attn\.sink: no rule is known"):
        grow(small, 2)
    small = model(GPT2)
    small.transformer.h[1].mlp.c_fc.register_parameter("gain", torch.nn.Parameter(torch.ones(3)))
    with pytest.raises(GrowthRefused, match=r"mlp\.c_fc\.gain: no rule is known"):
        grow(small, 2)


def test_parameters_that_the_class_has_not_are_refused_by_name() -> None:
    small = model(LLAMA)
    small.model.layers[0].mlp.up_proj.bias = torch.nn.Parameter(torch.ones(10))
    with pytest.raises(GrowthRefused, match=r"up_proj\.bias: LlamaForCausalLM with this config"):
        grow(small, 2)
    small = model(LLAMA)
    small.model.norm.weight = torch.nn.Parameter(torch.ones(16).char(), requires_grad=False)
    with pytest.raises(GrowthRefused, match=r"norm\.weight: got torch\.int8; accepted: floats"):
        grow(small, 2)


def test_a_comparison_needs_a_grown_model() -> None:
    with pytest.raises(GrowthRefused, match=r"large: got GPT2LMHeadModel; accepted: BertForMask"):
        compare(model(BERT), model(GPT2))
    with pytest.raises(GrowthRefused, match=r"stream: got 12; accepted: at least 24"):
        compare(grow(model(BERT), 2), model(BERT))


def test_every_rule_is_used_and_every_row_names_known_axes() -> None:
    used = set()
    for description in descriptions.DESCRIPTIONS.values():
        used |= {row.rule for row in description.rows.values()}
    assert used == set(RULES)
    for kind in (BERT, GPT2, LLAMA, T5, ROFORMER):
        found = descriptions.described(model(kind))
        named = {n for row in found.rows.values() for n in (row.writes, row.reads) if n}
        config = model(kind).config
        assert named <= set(found.axes(config, config, True))


def six_layers(**options: Any) -> Any:
    config = transformers.Gemma3TextConfig(
        vocab_size=300, hidden_size=8, intermediate_size=12, num_attention_heads=2, head_dim=4,
        num_key_value_heads=1, num_hidden_layers=6, sliding_window=4, max_position_embeddings=32,
        **options,
    )  # fmt: skip
    small = transformers.Gemma3ForCausalLM(config).double().eval()
    growth_models.randomise(small)
    return small


def layers_run(small: Any, large: Any) -> list[list[int]]:
    """Which layers of a small and of a large model run while `grow` checks."""
    growth = filling.Growth(small, large=large)
    ran: list[list[int]] = [[], []]
    hooks = [
        layer.mlp.register_forward_hook(lambda *_, found=found, number=number: found.append(number))
        for found, each in zip(ran, (small, large), strict=True)
        for number, layer in enumerate(each.model.layers)
    ]
    require_same_function(growth)
    for hook in hooks:
        hook.remove()
    return [sorted(set(found)) for found in ran]


@pytest.mark.canary
def test_one_layer_of_each_kind_is_run_and_rows_of_the_others_are_looked_at() -> None:
    kinds = ["sliding_attention", "sliding_attention", "full_attention"] * 2
    small = six_layers(layer_types=kinds)
    large = grow(small, 2)
    assert layers_run(small, large) == [[0, 2]] * 2
    assert not any("forward" in vars(module) for module in [*small.modules(), *large.modules()])
    with torch.no_grad():
        large.model.layers[3].mlp.up_proj.weight.mul_(1.1)
    with pytest.raises(GrowthFailed, match=r"layers\.3\.mlp\.up_proj\.weight: it is not what the"):
        require_same_function(filling.Growth(small, large=large))
    large = grow(small, 2)
    small.model.layers[4].self_attn.scaling *= 2  # now of a kind of its own
    with pytest.raises(GrowthFailed, match=r"layers\.4\.self_attn\.o_proj, its input"):
        require_same_function(filling.Growth(small, large=large))


def test_new_layers_run_beside_those_that_they_come_from() -> None:
    small = six_layers()
    assert layers_run(small, grow(small, 2, layers=12)) == [[0, 5], [0, 1, 10, 11]]
