"""Small Transformers side by side: seeds do not touch each other, schemes do what they say."""

import math

import pytest
import torch

from verified_transformer.lab.layers.small_transformer import SmallTransformers, learn_sums

SIZES = {"seeds": 3, "layers": 2, "width": 8, "head": 6, "hidden": 10, "vocabulary": 5, "length": 4}


def tokens(batch: int = 7) -> torch.Tensor:
    return torch.arange(3 * batch * 4).view(3, batch, 4) % 5


@pytest.mark.parametrize("scheme", ["post", "pre", "learned"])
def test_a_model_guesses_at_first(scheme: str) -> None:
    logits = SmallTransformers("guess", scheme, **SIZES).logits(tokens())
    assert logits.shape == (3, 7, 4, 5)
    assert logits.abs().max() < 1  # hence a loss of about log 5
    loss = learn_sums(SmallTransformers("guess", scheme, **SIZES), "guess", steps=1, rate=1e-3)
    assert (loss - math.log(5)).abs().max() < 0.1


@pytest.mark.parametrize(("scheme", "biases"), [("post", False), ("pre", True), ("learned", False)])
def test_seeds_do_not_touch_each_other(scheme: str, biases: bool) -> None:
    models = SmallTransformers("apart", scheme, biases=biases, **SIZES)
    models.logits(tokens())[0].square().sum().backward()
    touched = [w.grad[1:].abs().max().item() for w in models.weights.values() if w.grad is not None]
    assert max(touched) == 0


def test_models_of_one_name_start_alike_and_learn() -> None:
    one, two = (SmallTransformers("alike", "pre", **SIZES) for _ in range(2))
    assert all(torch.equal(w, two.weights[name]) for name, w in one.weights.items())
    losses = learn_sums(one, "batches", steps=60, rate=1e-2, batch=32)
    assert losses.shape == (60, 3)
    assert (losses[-5:].mean(0) < losses[:5].mean(0) - 0.1).all()


def test_a_learned_factor_starts_at_the_identity_and_a_schedule_at_its_factor() -> None:
    x = tokens()
    learned = SmallTransformers("alike", "learned", **SIZES)
    schedule = SmallTransformers("alike", "schedule", **SIZES)
    assert torch.equal(learned.logits(x), schedule.logits(x, factor=0.0))
    assert not torch.allclose(learned.logits(x), schedule.logits(x, factor=1.0))


def test_the_division_is_the_root_of_the_heads_size() -> None:
    divided = SmallTransformers("alike", "pre", **SIZES)
    undivided = SmallTransformers("alike", "pre", divide=False, **SIZES)
    with torch.no_grad():
        for i in range(2):
            undivided.weights[f"qkv{i}"][..., :6] /= 6**0.5  # the queries
    assert torch.allclose(divided.logits(tokens()), undivided.logits(tokens()), atol=1e-6)


def test_biases_start_at_zero_and_subtract_the_mean() -> None:
    models = SmallTransformers("shift", "pre", biases=True, **SIZES)
    before = models.logits(tokens())
    with torch.no_grad():
        models.weights["places"] += 3.0  # of every channel alike: the mean, subtracted in norms
    assert torch.allclose(models.logits(tokens()), before, atol=1e-5)
    with torch.no_grad():
        models.weights["bias readout"] += 1.0
    assert torch.allclose(models.logits(tokens()), before + 1, atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"scheme": "sandwich"}, "scheme: got 'sandwich'"), ({"biases": True}, "biases: got True")],
)
def test_what_cannot_be_built_is_refused(changes: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SmallTransformers("refused", **SIZES, **changes)
