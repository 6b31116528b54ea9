"""Real classes at small sizes, and at the sizes in which they were released."""

from __future__ import annotations

import pytest
import torch

pytest.importorskip("transformers")

from verified_transformer.book import TINY, on_meta, randomised, tiny
from verified_transformer.book.real_models import hugging_face


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


def test_a_tiny_model_stands_where_it_is_asked_for() -> None:
    devices = [next(on_meta(lambda: tiny("gpt2", n_embd=6)).parameters()).device.type]
    devices.append(next(tiny("gpt2", n_embd=6).parameters()).device.type)
    devices.append(next(on_meta(lambda: tiny("gpt2", n_embd=6)).parameters()).device.type)
    assert devices == ["meta", "cpu", "meta"]


def test_torch_keeps_its_own_generator() -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    tiny("gpt2")
    assert torch.equal(torch.rand(3), expected)


def test_what_does_not_learn_keeps_its_values() -> None:
    model = tiny("roformer")
    table = model.roformer.encoder.embed_positions.weight.clone()
    randomised(model, "rotary")
    assert torch.equal(model.roformer.encoder.embed_positions.weight, table)


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
