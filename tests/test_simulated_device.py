"""What a GPU would refuse is refused without one, and measurements run there as on the CPU."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import pytest
import torch
from simulated_device import simulated_device
from transformers import GPT2Config, GPT2LMHeadModel

from verified_transformer import (
    Index,
    Normal,
    Tensor,
    device,
    generator,
    mean,
    measure,
    seed_of,
    symbols,
    total,
)
from weightwise import factorised_table, initial_loss
from weightwise.factorised.families import FAMILIES
from weightwise.first_loss import first_loss


@pytest.fixture(autouse=True)
def there() -> Iterator[None]:
    with simulated_device():
        yield


def test_what_is_made_there_stays_there() -> None:
    a = torch.ones(3, device=device())
    assert a.is_cuda and a.device.type == "cuda" and a.sum().item() == 3
    made = [a + 1, a.new_zeros(2), torch.zeros_like(a), a.max(0).values, a[torch.tensor([0])]]
    made += [torch.arange(3, device=a.device), torch.ones(3).to(a), torch.ones(2).cuda()]
    assert all(one.is_cuda for one in made)
    assert not a.cpu().is_cuda and not torch.ones(3).is_cuda and a.cpu().numpy().sum() == 3
    back = a.cpu()
    a += 1
    assert back.sum().item() == 3


def test_a_module_moves_and_learns_there() -> None:
    module = copy.deepcopy(copy.deepcopy(torch.nn.Linear(3, 2)).to(device()))
    module(torch.ones(3, device=device())).sum().backward()
    assert module.weight.grad.is_cuda and module.weight.grad.sum().item() == 6


@pytest.mark.canary
@pytest.mark.parametrize(
    "mixed",
    [
        lambda a, b: a + b,
        lambda a, b: b @ a,
        lambda a, b: torch.cat([a, b]),
        lambda a, b: torch.nn.functional.linear(a, b[None]),
        lambda a, b: torch.nn.Linear(3, 2)(a),
        lambda a, b: a.numpy(),
        lambda a, b: a.normal_(generator=generator("of the CPU")),
        lambda a, b: b.normal_(generator=generator("of the device", device())),
    ],
)
def test_two_devices_do_not_mix(
    mixed: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
) -> None:
    with pytest.raises((RuntimeError, TypeError), match="device"):
        mixed(torch.ones(3, device=device()), torch.ones(3))


@pytest.mark.canary
def test_a_measurement_runs_there_and_a_factory_without_a_device_is_found() -> None:
    d = symbols("d")
    i = Index("i", d)
    norm = mean(total(Tensor("w", Normal(0, 2), d)[i] ** 2, i))
    found = measure(norm, lambda w: (w * w).sum(-1), {d: 3}, 12.0, name="a length")
    assert found.confirmed and found.device == "cuda"
    with pytest.raises(RuntimeError, match="expected all tensors to be on the same device"):
        measure(norm, lambda w: (w * w * torch.ones(3)).sum(-1), {d: 3}, 12.0, name="a length")


def test_a_first_loss_is_the_same_there() -> None:
    source = torch.Generator().manual_seed(seed_of("a first loss on a device"))
    features, table = torch.randn(4, 8, generator=source), torch.randn(50, 8, generator=source)
    loss = first_loss(features.cuda(), table.cuda()).loss
    assert loss.is_cuda and torch.equal(loss.cpu(), first_loss(features, table).loss)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_table_is_read_scores_and_learns_there(family: str) -> None:
    table = factorised_table(family, 60, 12, 2, σ=0.02).to(device())
    rows = table(torch.tensor([1, 2, 59], device=device()))
    table.attend(rows).sum().backward()
    assert rows.is_cuda and all(own.grad.is_cuda for own in table.parameters())


def test_a_model_is_measured_as_on_the_cpu() -> None:
    config = GPT2Config(vocab_size=300, n_embd=64, n_layer=1, n_head=2, n_positions=32,
                        bos_token_id=0, eos_token_id=0)  # fmt: skip
    torch.manual_seed(0)
    model = GPT2LMHeadModel(config)
    here, there = (
        initial_loss(each, measure=True, length=16).measured
        for each in (copy.deepcopy(model), model.to(device()))
    )
    assert here is not None and here == there
