"""Real classes at small sizes, and at the sizes in which they were released."""

from __future__ import annotations

import pytest
import torch
from torch import nn

pytest.importorskip("transformers")

from verified_transformer.book import (
    TINY,
    family,
    of_kind,
    on_meta,
    parameters,
    randomised,
    released,
    tiny,
)
from verified_transformer.book.real_models import hugging_face
from verified_transformer.models import is_tied


@pytest.mark.parametrize("kind", TINY)
def test_a_tiny_model_runs_and_is_the_same_at_every_call(kind: str) -> None:
    first, second = tiny(kind), tiny(kind)
    ids = torch.tensor([[3, 5, 8]])
    more = {"decoder_input_ids": ids} if first.config.is_encoder_decoder else {}
    with torch.no_grad():
        logits = [model(input_ids=ids, **more).logits for model in (first, second)]
    assert logits[0].shape == (1, 3, 19) and logits[0].dtype == torch.float64
    assert torch.equal(*logits)
    assert not first.training


def test_what_becomes_of_a_tiny_model_is_not_in_the_next() -> None:
    first = tiny("gpt2")
    first.lm_head.weight.data.zero_()
    first.config.n_head = 7
    second = tiny("gpt2")
    assert second.lm_head.weight.any() and second.config.n_head == 3
    assert second.lm_head.weight is second.transformer.wte.weight


def test_changes_reach_the_configuration() -> None:
    assert is_tied(tiny("llama", tie_word_embeddings=True))
    assert not is_tied(tiny("llama", tie_word_embeddings=False))
    assert tiny("bert", vocab_size=40, num_hidden_layers=2).config.num_hidden_layers == 2


def test_torch_keeps_its_own_generator() -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    tiny("gpt2")
    assert torch.equal(torch.rand(3), expected)


def test_randomising_moves_every_parameter_away_from_its_default() -> None:
    model = randomised(tiny("bert"), "a test")
    defaults = {0.0, 1.0}
    assert all(not set(p.flatten().tolist()) & defaults for p in model.parameters())
    gains = [p for name, p in model.named_parameters() if "LayerNorm.weight" in name]
    assert abs(torch.cat(gains).mean().item() - 1) < 0.3
    again = randomised(tiny("bert"), "a test")
    assert all(
        torch.equal(*pair) for pair in zip(model.parameters(), again.parameters(), strict=True)
    )


@pytest.mark.parametrize(
    ("name", "millions"),
    [("BERT base", 109.5), ("GPT-2 124M", 124.4), ("Qwen2.5 0.5B", 494.0), ("Llama 3 8B", 8030.3)],
)
def test_released_models_have_the_size_in_their_name(name: str, millions: float) -> None:
    assert parameters(released(name)) / 1e6 == pytest.approx(millions, abs=0.1)


def test_a_family_goes_from_small_to_large() -> None:
    sizes = [parameters(model) for model in family("GPT-2", tie_word_embeddings=False).values()]
    assert sizes == sorted(sizes) and len(sizes) == 4


def test_nothing_takes_memory_on_meta() -> None:
    assert on_meta(lambda: nn.Linear(3, 4)).weight.is_meta
    assert of_kind("llama", auto="", vocab_size=40, hidden_size=8, num_hidden_layers=1,
                   intermediate_size=8, num_attention_heads=2).device.type == "meta"  # fmt: skip


@pytest.mark.parametrize(
    ("found", "says"),
    [("4.57.1", "4.57.1 is inst"), ("5.4.0", "5.4.0 is installed"), (None, "not inst")],
)
def test_an_old_or_missing_transformers_is_named(monkeypatch, found, says) -> None:
    def version(name: str) -> str:
        if found is None:
            raise hugging_face.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(hugging_face, "version", version)
    with pytest.raises(ImportError, match=rf"needs transformers 5\.20 or later, and .*{says}"):
        hugging_face.quiet_transformers()
