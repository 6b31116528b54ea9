"""Every class that grows computes the same function, at every ε, tied and untied."""

from __future__ import annotations

import copy

import growth_models
import pytest
import torch
from growth_models import KINDS, model

from verified_transformer.models.architectures import is_tied
from verified_transformer.models.growth import compare, grow

SETTINGS = [(2, 1e-12, 1.0), (3, 1e-5, 1.0), (2, 1e-1, 1e-2)]


@pytest.mark.parametrize(("k", "ε", "embeddings"), SETTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_function_stays(kind: str, k: int, ε: float, embeddings: float) -> None:
    small = model(kind, ε=ε, embeddings=embeddings)
    large = grow(small, k)
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
