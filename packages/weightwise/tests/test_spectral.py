"""A start and rates by the spectral norm, on the classes that people use, tied and untied."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from growth_models import transformers
from test_mup import bert, gpt2, llama
from torch import nn

from weightwise import is_tied, spectral_groups, spectral_start

needs_muon = pytest.mark.skipif(
    not hasattr(torch.optim, "Muon"), reason="torch.optim.Muon came with torch 2.9"
)


def qwen3(width: int, **changes: Any) -> Any:
    heads = {"num_attention_heads": width // 16, "num_key_value_heads": width // 32, "head_dim": 16}
    sizes = {"hidden_size": width, "intermediate_size": 3 * width, "num_hidden_layers": 2}
    ends = {"vocab_size": 40, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    config = transformers.Qwen3Config(**{**heads, **sizes, **ends, **changes})
    return transformers.Qwen3ForCausalLM(config)


KINDS: dict[str, Callable[..., Any]] = {
    f"{name}, {tie}": lambda width, make=make, tie=tie, **changes: make(
        width, tie_word_embeddings=tie == "tied", **changes
    )
    for name, make in {"GPT-2": gpt2, "Llama": llama, "Qwen3": qwen3}.items()
    for tie in ("tied", "untied")
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def made(kind: str, width: int = 128, **changes: Any) -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(width)
        return KINDS[kind](width, **changes)


def started(kind: str, width: int = 128) -> Any:
    model = made(kind, width)
    spectral_start(model, torch.Generator().manual_seed(width))
    return model


def linear(model: Any) -> Iterator[tuple[str, nn.Parameter]]:
    """What is a layer's matrix and not the head's."""
    head = model.get_output_embeddings()
    for name, module in model.named_modules():
        if module is not head and (isinstance(module, nn.Linear) or "Conv1D" in str(type(module))):
            yield f"{name}.weight", module.weight


def layers(name: str, matrix: torch.Tensor) -> list[torch.Tensor]:
    """Matrices of outputs by inputs: GPT-2 stores them turned, and three of them in one."""
    matrix = matrix.detach()
    if "c_attn" in name:
        return [part.T for part in matrix.chunk(3, 1)]
    return [matrix.T if ".c_" in name else matrix]


def first_number(layer: torch.Tensor) -> float:
    """The RMS of the largest output beside that of its input."""
    outputs, inputs = layer.shape
    return math.sqrt(inputs / outputs) * torch.linalg.matrix_norm(layer.double(), 2).item()


def first_numbers(model: Any) -> list[float]:
    return [first_number(layer) for name, matrix in linear(model) for layer in layers(name, matrix)]


def rms(values: torch.Tensor) -> float:
    return values.detach().double().square().mean().sqrt().item()


def along_a_row(model: Any) -> float:
    """The mean logit of a token whose state, before the last norm, lies along its row."""
    body, head = model.base_model, model.get_output_embeddings()
    norm = body.ln_f if hasattr(body, "ln_f") else body.norm
    rows = head.weight.detach()[3:]
    rows = rows / rows.square().mean(1, keepdim=True).sqrt()
    return head(norm(rows))[:, 3:].diagonal().mean().item()


def text(rows: int = 8) -> torch.Tensor:
    return torch.randint(3, 40, (rows, 12), generator=torch.Generator().manual_seed(3))


def loss(model: Any) -> torch.Tensor:
    tokens = text()
    return F.cross_entropy(model(input_ids=tokens).logits[:, :-1].mT, tokens[:, 1:])


def optimisers(model: Any, **settings: float) -> tuple[torch.optim.Optimizer, torch.optim.AdamW]:
    muon, adamw = spectral_groups(model, **settings)
    return torch.optim.Muon(muon), torch.optim.AdamW(adamw)


@every_kind
def test_every_layer_starts_with_a_largest_output_of_one(kind: str) -> None:
    """The class's own start doubles it with four times the width."""
    for width in (64, 256):
        model = started(kind, width)
        assert all(0.85 < each < 1.1 for each in first_numbers(model))
        assert rms(model.get_input_embeddings().weight[3:]) == pytest.approx(1, abs=0.03)
        gains = [p for n, p in model.named_parameters() if p.ndim == 1 and "bias" not in n]
        assert {1.0, 1 / width if is_tied(model) else 1.0} == {x for p in gains for x in p.tolist()}
        assert not any(p.any() for n, p in model.named_parameters() if n.endswith("bias"))
    narrow, wide = (first_numbers(made(kind, width)) for width in (64, 256))
    assert all(1.7 < b / a < 2.3 for a, b in zip(narrow, wide, strict=True))


@every_kind
def test_both_ends_are_of_order_one_at_every_width(kind: str) -> None:
    """A logit along its own row is d times the deviation; in the class's own start it grows."""
    before = [along_a_row(made(kind, width)) for width in (64, 256)]
    after = [along_a_row(started(kind, width)) for width in (64, 256)]
    assert after == pytest.approx([1, 1], abs=0.05)
    assert before[1] / before[0] > 1.9


@every_kind
def test_nothing_else_is_touched(kind: str, tmp_path: Path) -> None:
    model = made(kind, 64).to(torch.bfloat16)
    frozen = dict(list(linear(model))[:2])
    for matrix in frozen.values():
        matrix.requires_grad_(False)
    config, before = model.config.to_dict(), copy.deepcopy(model)
    spectral_start(model)
    assert model.config.to_dict() == config and model.training == before.training
    assert all(map(torch.equal, model.buffers(), before.buffers()))
    kept = dict(before.named_parameters())
    for name, parameter in model.named_parameters():
        assert parameter.dtype == torch.bfloat16 and parameter.shape == kept[name].shape
        assert parameter.requires_grad == (name not in frozen)
        assert parameter.ndim < 2 or torch.equal(parameter, kept[name]) == (name in frozen)
    padding = model.get_input_embeddings().padding_idx
    assert padding is None or not model.get_input_embeddings().weight[padding].any()
    grouped = [p for groups in spectral_groups(model, lr=0.1) for g in groups for p in g["params"]]
    assert {*map(id, grouped)} == {id(p) for p in model.parameters() if p.requires_grad}
    assert len(grouped) == len({*map(id, grouped)})
    model.save_pretrained(tmp_path)
    again = type(model).from_pretrained(tmp_path, dtype=torch.bfloat16)
    assert is_tied(again) == is_tied(model) == kind.endswith(", tied")
    assert all(map(torch.equal, again.parameters(), model.parameters()))


@needs_muon
@every_kind
def test_a_step_moves_every_layer_by_the_rate(kind: str) -> None:
    """By two thirds to a bit more of it, which is Muon's; of GPT-2's three at once, by no more."""
    model = started(kind)
    before, both = copy.deepcopy(model), optimisers(model, lr=0.02)
    loss(model).backward()
    for optimiser in both:
        optimiser.step()
    was = dict(before.named_parameters())
    for name, matrix in linear(model):
        moved = [first_number(layer) / 0.02 for layer in layers(name, matrix - was[name])]
        assert max(moved) < 1.25 and (len(moved) == 3 or min(moved) > 0.65), name
    table, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    used = text().unique()
    step = (table - was[next(n for n, p in model.named_parameters() if p is table)])[used]
    assert 0.9 < rms(step) / 0.02 < 1.01
    if head is not table:
        assert 0.9 < rms(head - was["lm_head.weight"]) / (0.02 / 128) < 1.01


@needs_muon
def test_torchs_own_factor_takes_gpt2s_matrices_from_the_wrong_side() -> None:
    """A layer that widens by four moves by half, and one that narrows by four times too much."""
    model = started("GPT-2, tied")
    before = copy.deepcopy(model)
    loss(model).backward()
    torch.optim.Muon([matrix for _, matrix in linear(model)], lr=0.02, weight_decay=0).step()
    was = dict(before.named_parameters())
    moved = {n.split(".", 3)[3]: first_number((p - was[n]).T) / 0.02 for n, p in linear(model)}
    assert 0.3 < moved["mlp.c_fc.weight"] < 0.65 and 2.7 < moved["mlp.c_proj.weight"] < 4.9


@needs_muon
@every_kind
def test_matrices_shrink_alike_and_vectors_do_not(kind: str) -> None:
    model = started(kind, 64)
    before = copy.deepcopy(model)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    for optimiser in optimisers(model, lr=0.02, weight_decay=0.5):
        optimiser.step()
    for parameter, was in zip(model.parameters(), before.parameters(), strict=True):
        torch.testing.assert_close(parameter, was * (0.99 if was.ndim > 1 else 1))


@needs_muon
@every_kind
def test_it_learns(kind: str) -> None:
    model = started(kind, 64)
    both, losses = optimisers(model, lr=0.05), []
    for _ in range(10):
        found = loss(model)
        model.zero_grad()
        found.backward()
        for optimiser in both:
            optimiser.step()
        losses.append(found.item())
    assert losses[0] == pytest.approx(math.log(40), abs=0.2) and losses[-1] < losses[0] - 0.6


@pytest.mark.parametrize("use", [spectral_start, lambda model: spectral_groups(model, lr=0.1)])
def test_what_is_not_known_is_refused_by_name(use: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match="got a BertForMaskedLM; accepted: GPT2LMHeadModel, Llam"):
        use(bert(32))
    sizes = {"vocab_size": 8, "hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 2}
    experts = transformers.MixtralConfig(**sizes, num_key_value_heads=2, num_hidden_layers=1)
    mixture = transformers.MixtralForCausalLM(experts)
    with pytest.raises(ValueError, match="got a MixtralForCausalLM; accepted"):
        use(mixture)
    model = made("Llama, tied", 32)
    before = copy.deepcopy(model)
    model.model.layers[0].scale = nn.Parameter(torch.ones(()))
    with pytest.raises(ValueError, match=r"model.layers.0.scale: a parameter of LlamaDecoderLayer"):
        use(model)
    del model.model.layers[0].scale
    assert all(map(torch.equal, model.parameters(), before.parameters()))


@pytest.mark.parametrize(
    ("settings", "error", "told"),
    [
        ({"lr": -1.0}, ValueError, "lr: got -1.0; accepted: a finite number of at least 0"),
        ({"lr": 0.1, "weight_decay": math.inf}, ValueError, "weight_decay: got inf; accepted"),
        ({"lr": "a"}, TypeError, "lr: got 'a'; accepted: a number"),
    ],
)
def test_bad_settings_are_told(settings: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        spectral_groups(made("GPT-2, tied", 32), **settings)


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated")  # by torch itself
def test_a_compiled_model_is_taken_out_and_a_generator_decides_the_draws() -> None:
    model = made("Qwen3, tied", 64)
    spectral_start(torch.compile(model), torch.Generator().manual_seed(64))
    expected = started("Qwen3, tied", 64)
    assert all(map(torch.equal, model.parameters(), expected.parameters()))
    spectral_start(model, torch.Generator().manual_seed(65))
    assert not torch.equal(model.lm_head.weight, expected.lm_head.weight)
