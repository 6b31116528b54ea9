"""Every class that grows computes the same function, tied and untied, with a head or without."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import growth_models
import pytest
import torch
from growth_models import EVERY, KINDS, OTHERS, TODAY, model, transformers

from weightwise.architectures import is_tied
from weightwise.growth import GrowthRefused, compare, grow
from weightwise.growth.stock import lost

TIED = [f"{kind}, tied" for kind in TODAY]
UNTIED = [f"{kind}, untied" for kind in TODAY]
SETTINGS = [(2, 1e-12, 1.0), (3, 1e-5, 1.0), (2, 1e-1, 1e-2)]  # k, ε, embeddings
LLAMA = "Llama, tied, biases, head size 6, eager"
WRITERS = [kind for kind in TIED if "ForCausalLM" in EVERY[kind][0]]


@pytest.mark.parametrize("kind", [*TIED, *UNTIED])
def test_language_models_stay_the_same_function(kind: str) -> None:
    small = model(kind)
    large = grow(small, 3)
    found = compare(small, large)
    assert found.worst <= 1e-12 and not found.broken and not found.lost
    assert found.elsewhere and found.as_run <= 1e-5
    assert large.config.hidden_size == 3 * small.config.hidden_size


@pytest.mark.parametrize("kind", OTHERS)
def test_models_without_a_head_and_classifiers_stay_the_same_function(kind: str) -> None:
    small = model(kind)
    large = grow(small, 2)  # refuses another function
    assert large.config.hidden_size == 2 * small.config.hidden_size


@pytest.mark.parametrize("kind", [*TIED, *UNTIED, *OTHERS])
def test_compared_as_they_run_they_are_the_same_function(kind: str) -> None:
    small = model(kind)
    found = compare(small, grow(small, 2, check=False))
    assert found.worst <= 1e-12 and not found.broken


@pytest.mark.parametrize("kind", [*WRITERS, "GPT-2, tied", LLAMA, "mT5"])
def test_both_write_the_same_text_with_a_cache(kind: str) -> None:
    small = model(kind)
    tokens = torch.tensor([[3, 5, 7]])
    how = {"max_new_tokens": 6, "do_sample": False, "attention_mask": torch.ones_like(tokens)}
    texts = [m.generate(tokens, **how) for m in (small, grow(small, 3, check=False))]
    assert torch.equal(*texts)


@pytest.mark.parametrize(
    "kind", [*TIED, *UNTIED, "Llama, untied", "T5 v1.0", "T5 v1.1", "RoFormer"]
)
def test_a_grown_model_survives_the_disk(kind: str, tmp_path: Path) -> None:
    small = model(kind)
    grow(small, 2, check=False).save_pretrained(tmp_path)
    loaded = type(small).from_pretrained(tmp_path, dtype=torch.float64)
    loaded.config._experts_implementation = "eager"
    assert compare(small, loaded).worst <= 1e-12


@pytest.mark.parametrize("kind", ["Llama, untied", "Qwen3, tied", "Mistral, untied", "OLMo2, tied"])
def test_in_bfloat16_a_factor_of_four_rounds_nothing(kind: str) -> None:
    """All of the scores' root stands on the query, and √4 is a power of two."""
    small = model(kind, dtype=torch.bfloat16)
    exact, rounded = (compare(small, grow(small, k, check=False)) for k in (4, 2))
    assert exact.rounded == 0 and exact.clean <= 1e-12
    assert rounded.rounded > 0.01 and rounded.clean > 1e-5
    assert exact.predicted == 0 and rounded.predicted == pytest.approx(rounded.clean, rel=1e-9)
    assert not rounded.broken and "rounded anew, which was predicted to cost" in str(rounded)


@pytest.mark.parametrize("k", [2, 4])
def test_in_float16_a_half_of_a_small_weight_is_rounded(k: int) -> None:
    small = model("Llama, untied", dtype=torch.float16)
    small.model.layers[0].mlp.down_proj.weight.data *= 1e-4  # below 6e-5 there are fewer digits
    found = compare(small, grow(small, k))
    assert found.rounded > 0.2 and found.clean > 1e-9
    assert found.predicted == pytest.approx(found.clean, rel=1e-6)


def test_another_function_says_where_it_parts() -> None:
    small = model("Llama, untied")
    large = grow(small, 2)
    large.model.norm.weight.data *= 1.5
    said = str(compare(small, large)).splitlines()
    assert said[0].startswith("off by 5e-01 of the largest logit")
    assert "another function; it first parts at model.norm, its output" in said[-1]


def test_a_gain_stored_as_what_it_adds_to_one_is_rounded() -> None:
    small = model("Gemma, tied", dtype=torch.bfloat16)
    found = compare(small, grow(small, 4))
    assert found.rounded == pytest.approx(16 / small.num_parameters()) and found.clean > 1e-6


@pytest.mark.parametrize("name", ["Gemma", "Gemma 2", "Gemma 3"])
def test_gains_that_are_drawn_are_rounded_as_is_predicted(name: str) -> None:
    """A gain is stored as 1 + w: only where w is zero a quarter of it is exact in bfloat16."""
    for tied in (True, False):
        small = model(f"{name}, {'tied' if tied else 'untied'}")
        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for path, own in small.named_parameters():
                if "norm" in path:
                    own.copy_(0.5 * torch.randn(own.shape, generator=generator))
        small = small.to(torch.bfloat16)
        found = compare(small, grow(small, 4))
        assert found.predicted == pytest.approx(found.clean, rel=1e-6, abs=1e-12)
        assert (found.rounded > 0) == (found.clean > 1e-5) == (tied or name == "Gemma 3")


def test_what_has_noise_is_rounded_anew() -> None:
    small = model("Llama, untied", dtype=torch.bfloat16)
    noisy = compare(small, grow(small, 4, noise=0.1, check=False)).rounded
    matrices = sum(p.numel() for n, p in small.named_parameters() if n.endswith("proj.weight"))
    matrices += small.lm_head.weight.numel()
    assert noisy == pytest.approx(matrices / small.num_parameters())


@pytest.mark.parametrize("kind", ["ViT", "Phi-3, tied", "Gemma, untied", "ModernBERT, tied"])
def test_in_float32_weights_are_rounded_once(kind: str) -> None:
    small = model(kind, dtype=torch.float32)
    found = compare(small, grow(small, 2), tolerance=1e-5)
    assert 1e-9 < found.worst <= 1e-6 and not found.broken


@pytest.mark.parametrize(("kind", "options", "message"), [
    ("GPT-NeoX, tied", {"rotary_pct": 0.35}, r"partial_rotary_factor: got 0\.35 .*turn 4, and"),
    ("OPT, tied", {"do_layer_norm_before": False}, r"OPTForCausalLM: its head must be met by 0\.5"),
])  # fmt: skip
def test_what_a_theorem_forbids_is_refused(kind: str, options: Any, message: str) -> None:
    with pytest.raises(GrowthRefused, match=message):
        grow(model(kind, **options), 2)


def test_without_a_last_norm_an_untied_head_grows() -> None:
    small = model("OPT, untied", do_layer_norm_before=False)
    assert compare(small, grow(small, 2)).worst <= 1e-12


@pytest.mark.parametrize("kind", ["Mistral, tied", "Gemma 3, tied", "GPT-NeoX, untied"])
@pytest.mark.parametrize("rope", ["dynamic", "yarn", "longrope"])
def test_frequencies_that_look_at_the_head_size_or_the_length_are_refused(
    kind: str, rope: str
) -> None:
    small = model(kind)
    told = small.config.rope_parameters
    for parameters in [told] if "rope_type" in told else told.values():
        parameters["rope_type"] = rope
    with pytest.raises(GrowthRefused, match=rf"rope_type .*got '{rope}'; accepted: 'default'"):
        grow(small, 2)


@pytest.mark.parametrize("name", ["LlamaForQuestionAnswering", "DistilBertForMaskedLM",
                                  "FalconForCausalLM", "CohereForCausalLM"])  # fmt: skip
def test_other_classes_are_refused_by_name(name: str) -> None:
    kind = getattr(transformers, name)
    with torch.device("meta"):
        other = kind(kind.config_class())
    with pytest.raises(GrowthRefused, match=rf"got transformers\..*{name}; accepted: Bert"):
        grow(other, 2)


def test_shapes_alone_grow_on_the_meta_device() -> None:
    small = model("Gemma, tied").to("meta")
    with pytest.raises(GrowthRefused, match=r"on the meta device, .*accepted: check=False"):
        grow(small, 2)
    large = grow(small, 2, check=False)
    assert all(parameter.is_meta for parameter in large.parameters())
    assert large.lm_head.weight.shape == (19, 32) and not lost(small)


@pytest.mark.parametrize(("k", "ε", "embeddings"), SETTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_function_stays(kind: str, k: int, ε: float, embeddings: float) -> None:
    small = model(kind, ε=ε, embeddings=embeddings)
    large = grow(small, k, check=k == 3)
    found = compare(small, large)
    assert found.clean <= 1e-12 and not found.broken
    # the casts of the class are seen as it is run, and nowhere in clean float64
    casts = kind.startswith(("Llama", "T5", "mT5"))
    assert (1e-10 < found.as_run < 1e-5) if casts else found.as_run <= 1e-12
    assert type(large) is type(small) and is_tied(large) == is_tied(small)
    assert len(list(large.parameters())) == len(list(small.parameters()))
    assert large.config.hidden_size == k * small.config.hidden_size


@pytest.mark.parametrize("kind", ["BERT, GELU, tied", "Llama, untied", "T5 v1.0"])
def test_a_large_factor_and_growth_twice(kind: str) -> None:
    small = model(kind)
    assert compare(small, grow(small, 7)).clean <= 1e-12
    assert compare(small, grow(grow(small, 2), 3)).clean <= 1e-12


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", ["BERT, GELU, tied", "Llama, untied", "RoFormer", "T5 v1.0"])
def test_other_dtypes_are_kept_and_only_rounded(kind: str, dtype: torch.dtype) -> None:
    small = model(kind, dtype=dtype)
    large = grow(small, 2)
    assert {p.dtype for p in large.parameters()} == {dtype}
    unit = torch.finfo(dtype).eps
    found = compare(small, large, tolerance=40 * unit)
    limit = 40 * unit if dtype == torch.float32 else 2 * unit  # 40 would let a lost root pass
    assert found.clean < limit and not found.broken


def test_an_option_that_only_t5_reads_is_not_mt5s() -> None:
    small = model("mT5")
    small.config.scale_decoder_outputs = True
    assert compare(small, grow(small, 2)).clean <= 1e-12


def test_modes_and_dropout_of_single_modules_are_kept() -> None:
    small = model("BERT, GELU, tied").train()
    small.bert.embeddings.eval()
    for module in small.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    large = grow(small, 2)
    pairs = zip(small.modules(), large.modules(), strict=True)
    assert all(one.training == other.training for one, other in pairs)
    assert all(m.p == 0.0 for m in large.modules() if isinstance(m, torch.nn.Dropout))


@pytest.mark.parametrize("kind", ["T5 v1.0", "T5 v1.1", "GPT-2, tied"])
def test_a_head_untied_against_its_configuration(kind: str) -> None:
    small = model(kind)
    growth_models.untie(small)
    large = grow(small, 3)
    assert not is_tied(large) and compare(small, large).clean <= 1e-12


def test_the_small_model_and_the_generator_are_left_alone() -> None:
    small = model("GPT-2, tied").train()
    before = copy.deepcopy(small.state_dict())
    torch.manual_seed(0)
    large = grow(small, 2)
    drawn = torch.rand(3)
    torch.manual_seed(0)
    assert torch.equal(torch.rand(3), drawn)
    assert small.training and large.training and small.config.n_embd == 12
    assert all(torch.equal(value, before[name]) for name, value in small.state_dict().items())
    for parameter in large.parameters():
        parameter.data.zero_()
    assert all(torch.equal(value, before[name]) for name, value in small.state_dict().items())
