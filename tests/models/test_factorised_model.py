"""Factorised embeddings in place of `nn.Embedding` in a small transformer with a tied head."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from verified_transformer.models.factorised import (
    FactorisedEmbedding,
    KroneckerEmbedding,
    LowRankEmbedding,
    TensorProductEmbedding,
    TensorTrainEmbedding,
)

N, D, PADDING = 23, 12, 4
Make = Callable[..., FactorisedEmbedding]


def low_rank(**options: object) -> FactorisedEmbedding:
    return LowRankEmbedding(N, D, 5, **options)


def tensor_product(**options: object) -> FactorisedEmbedding:
    return TensorProductEmbedding(N, (3, 4), 2, **options)


def kronecker(**options: object) -> FactorisedEmbedding:
    return KroneckerEmbedding((2, 3, 4), (2, 3, 2), 6, num_embeddings=N, **options)


def tensor_train(**options: object) -> FactorisedEmbedding:
    return TensorTrainEmbedding((2, 3, 4), (2, 3, 2), 4, num_embeddings=N, **options)


FAMILIES = [low_rank, tensor_product, kronecker, tensor_train]
each_family = pytest.mark.parametrize("make", FAMILIES, ids=lambda make: make.__name__)


class Block(nn.Module):
    """Attention of two heads and a feed-forward layer, each after a norm and beside a path."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(D), nn.LayerNorm(D)
        self.mixed, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.wide = nn.Sequential(nn.Linear(D, 2 * D), nn.GELU(), nn.Linear(2 * D, D))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.mixed(self.before(x)).unflatten(-1, (3, 2, -1)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.wide(self.between(x))


class Tied(nn.Module):
    """A decoder whose head is its table."""

    def __init__(self, table: nn.Module) -> None:
        super().__init__()
        self.table, self.blocks, self.last = table, nn.Sequential(Block(), Block()), nn.LayerNorm(D)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        hidden = self.last(self.blocks(self.table(tokens)))
        if isinstance(self.table, nn.Embedding):
            return hidden @ self.table.weight.T
        return self.table.attend(hidden)

    def loss(self, tokens: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def some_tokens() -> torch.Tensor:
    tokens = torch.randint(N, (6, 9), generator=torch.Generator().manual_seed(3))
    tokens[:2, -3:] = PADDING
    return tokens


def twins(make: Make, **options: object) -> tuple[Tied, Tied]:
    """The same model on a factorised table and on that table as a whole."""
    torch.manual_seed(1)
    table = make(σ=0.3, dtype=torch.float64, **options)
    whole = nn.Embedding.from_pretrained(table.dense().detach(), freeze=False, **options)
    model = Tied(table).double()
    twin = copy.deepcopy(model)
    twin.table = whole
    return model, twin


@each_family
@pytest.mark.parametrize("padding_idx", [None, PADDING])
def test_loss_and_gradients_are_those_of_the_table_as_a_whole(
    make: Make, padding_idx: int | None
) -> None:
    model, twin = twins(make, padding_idx=padding_idx)
    losses = [one.loss(some_tokens()) for one in (model, twin)]
    assert losses[0].item() == pytest.approx(losses[1].item(), rel=1e-13)
    for loss in losses:
        loss.backward()
    body = zip(model.blocks.parameters(), twin.blocks.parameters(), strict=True)
    for one, other in body:
        assert torch.allclose(one.grad, other.grad, rtol=1e-10, atol=1e-12)
    # the one gradient of lookup and head together, by the chain rule through the table
    factors = [*model.table.parameters()]
    truths = torch.autograd.grad(model.table.dense(), factors, twin.table.weight.grad)
    for factor, truth in zip(factors, truths, strict=True):
        assert truth.any() and torch.allclose(factor.grad, truth, rtol=1e-10, atol=1e-12)


@each_family
def test_models_learn(make: Make) -> None:
    model, _ = twins(make, padding_idx=PADDING)
    adam = torch.optim.AdamW(model.parameters(), lr=0.02)
    losses = []
    for _ in range(25):
        loss = model.loss(some_tokens())
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]
    assert not model.table(torch.tensor(PADDING)).any()


@each_family
def test_any_one_factor_may_be_frozen(make: Make) -> None:
    for frozen in range(len([*make().parameters()])):
        model, _ = twins(make)
        expected = torch.autograd.grad(model.loss(some_tokens()), [*model.table.parameters()])
        factors = [*model.table.parameters()]
        factors[frozen].requires_grad_(False)
        model.loss(some_tokens()).backward()
        for j, (factor, truth) in enumerate(zip(factors, expected, strict=True)):
            assert factor.grad is None if j == frozen else torch.allclose(factor.grad, truth)


@each_family
def test_checkpoints_and_second_passes_give_the_same_gradient(make: Make) -> None:
    model, _ = twins(make, padding_idx=PADDING)
    factors, tokens = [*model.table.parameters()], some_tokens()
    loss = model.loss(tokens)
    first = torch.autograd.grad(loss, factors, retain_graph=True)
    again = checkpoint(model.loss, tokens, use_reentrant=False)
    for other in (torch.autograd.grad(loss, factors), torch.autograd.grad(again, factors)):
        assert all(map(torch.equal, first, other))


@each_family
def test_parameters_may_come_from_a_file(make: Make) -> None:
    model, _ = twins(make)
    with torch.device("meta"):
        empty = make(dtype=torch.float64)
    empty.load_state_dict(model.table.state_dict(), assign=True)
    assert torch.equal(empty(some_tokens()), model.table(some_tokens()))


@each_family
def test_mixed_precision_keeps_the_dtype_of_the_parameters(make: Make) -> None:
    model = twins(make)[0].float()
    truths = torch.autograd.grad(model.loss(some_tokens()), [*model.table.parameters()])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert model.table(some_tokens()).dtype == torch.float32
        model.loss(some_tokens()).backward()
    for factor, truth in zip(model.table.parameters(), truths, strict=True):
        assert factor.grad.dtype == torch.float32
        assert (factor.grad - truth).norm() < 0.05 * truth.norm()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:")  # the compiler's own
@each_family
def test_compiled_models_have_the_same_gradients(make: Make) -> None:
    model, _ = twins(make, padding_idx=PADDING)
    factors, tokens = [*model.table.parameters()], some_tokens()
    compiled = torch.compile(
        lambda tokens: model.table.attend(model.table(tokens)), backend="eager"
    )
    found = torch.autograd.grad(compiled(tokens).sin().sum(), factors)
    wanted = torch.autograd.grad(model.table.attend(model.table(tokens)).sin().sum(), factors)
    for one, other in zip(found, wanted, strict=True):
        assert torch.allclose(one, other, rtol=1e-12, atol=1e-12)


@each_family
def test_torch_func_takes_the_low_rank_family_only(make: Make) -> None:
    model, _ = twins(make)

    def total(parameters: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.func.functional_call(model.table, parameters, (some_tokens(),)).sum()

    parameters = {name: p.detach() for name, p in model.table.named_parameters()}
    if make is low_rank:
        assert torch.func.grad(total)(parameters).keys() == parameters.keys()
    else:
        with pytest.raises(RuntimeError, match="functorch"):
            torch.func.grad(total)(parameters)
