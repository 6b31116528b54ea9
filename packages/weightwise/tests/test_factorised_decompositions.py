"""Tables factorised: exact where they can be, nearest where that is known, and honest errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pytest
import torch

from weightwise.factorised import (
    FromDense,
    KroneckerEmbedding,
    LowRankEmbedding,
    TensorProductEmbedding,
    TensorTrainEmbedding,
)
from weightwise.factorised.decompositions import (
    alternating_least_squares,
    rearranged,
    tensor_train,
    truncated_svd,
)
from weightwise.factorised.products import tensor_product as product_of

N, D = 23, 12


@dataclass(frozen=True)
class Factorise:
    """`from_dense` of a family with its sizes, and a rank where none is given."""

    kind: Any
    rank: int
    sizes: tuple[Sequence[int], ...] = ()

    def __call__(self, weight: torch.Tensor, rank: int = 0, **options: Any) -> FromDense:
        return self.kind.from_dense(weight, *self.sizes, rank or self.rank, **options)

    def __str__(self) -> str:
        return f"{self.kind.__name__} {self.sizes}"


low_rank = Factorise(LowRankEmbedding, 3)
tensor_product = Factorise(TensorProductEmbedding, 2, ((3, 4),))
tensor_product_of_three = Factorise(TensorProductEmbedding, 2, ((2, 3, 2),))
kronecker = Factorise(KroneckerEmbedding, 4, ((6, 4), (3, 4)))
kronecker_of_three = Factorise(KroneckerEmbedding, 4, ((2, 3, 4), (2, 3, 2)))
train_of_two = Factorise(TensorTrainEmbedding, 4, ((6, 4), (3, 4)))
train = Factorise(TensorTrainEmbedding, 3, ((2, 3, 4), (2, 3, 2)))
FULL = {  # the rank at which every table is met
    low_rank: 12, tensor_product: 3, tensor_product_of_three: 6, kronecker: 16,
    kronecker_of_three: 36, train_of_two: 16, train: 8,
}  # fmt: skip
ALTERNATING = [tensor_product_of_three, kronecker_of_three]
BEST = [low_rank, tensor_product, kronecker, train_of_two]
each = pytest.mark.parametrize("factorise", FULL, ids=str)
each_best = pytest.mark.parametrize("factorise", BEST, ids=str)


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def misses(found: FromDense, weight: torch.Tensor) -> float:
    return ((found.module.dense() - weight).norm() / weight.norm()).item()


@each
def test_exact_at_full_rank_and_beyond(factorise: Factorise) -> None:
    weight = drawn(N, D)
    below = factorise(weight, 1).relative_error
    assert below > 0.3
    for rank in (FULL[factorise], max(N, FULL[factorise])):
        found = factorise(weight, rank)
        bound = 1e-5 if factorise in ALTERNATING else 1e-12
        assert found.relative_error < bound and misses(found, weight) < bound


@each
def test_a_rank_beyond_both_sizes_is_refused(factorise: Factorise) -> None:
    with pytest.raises(ValueError, match=r"ranks?: got 99; accepted: 1 to (23|72)"):
        factorise(drawn(N, D), 99)


@each
def test_error_is_that_of_the_module(factorise: Factorise) -> None:
    weight = drawn(N, D)
    found = factorise(weight)
    assert 0.05 < found.relative_error < 1
    assert found.relative_error == pytest.approx(misses(found, weight), rel=1e-12)
    assert (found.module.num_embeddings, found.module.embedding_dim) == (N, D)
    tokens = torch.tensor([0, 7, N - 1])
    assert torch.allclose(found.module(tokens), found.module.dense()[tokens])


@each
def test_a_table_of_the_family_is_found_again(factorise: Factorise) -> None:
    module = factorise(drawn(N, D), 2).module
    module.reset_parameters(torch.Generator().manual_seed(1))
    with torch.no_grad():
        # the rows beyond n too: zeros there would not be of this rank
        weight = module._rows([*module.parameters()])
    bound = 0.01 if factorise in ALTERNATING else 1e-12  # some tensors take thousands of sweeps
    assert factorise(weight, 2).relative_error < bound


@each
def test_padding_row_is_zeroed_before(factorise: Factorise) -> None:
    weight = drawn(N, D)
    kept = weight.clone()
    weight[-2] *= 1e6
    found = factorise(weight, padding_idx=-2)
    kept[-2] = 0
    assert weight[-2].norm() > 1e6 and found.module.padding_idx == N - 2
    assert not found.module.dense()[-2].any()
    assert found.relative_error == pytest.approx(misses(found, kept), rel=1e-12)
    assert found.relative_error < 1


@each
def test_dtype_of_the_weight_is_kept(factorise: Factorise) -> None:
    weight = drawn(N, D)
    exact, state = factorise(weight).relative_error, torch.random.get_rng_state()
    bounds = {torch.float64: 1e-12, torch.float32: 1e-4, torch.bfloat16: 0.03}
    for dtype, bound in bounds.items():
        found = factorise(weight.to(dtype))
        assert all(parameter.dtype == dtype for parameter in found.module.parameters())
        assert abs(found.relative_error - exact) < bound
    full = factorise(weight.bfloat16(), FULL[factorise])
    assert 1e-5 < full.relative_error < 0.05  # the module's own rounding is counted
    assert torch.equal(torch.random.get_rng_state(), state)


@each
def test_default_device_and_mixed_precision_change_nothing(factorise: Factorise) -> None:
    weight = drawn(N, D).float()
    expected = factorise(weight).module.state_dict()
    with torch.device("meta"):
        there = factorise(weight).module.state_dict()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = factorise(weight).module.state_dict()
    for name, value in expected.items():
        assert torch.equal(there[name], value) and torch.equal(mixed[name], value)


@each
def test_a_table_of_any_scale_is_met_alike(factorise: Factorise) -> None:
    weight = drawn(N, D)
    error = factorise(weight).relative_error
    extreme = (1e-200, 1e200) if factorise is low_rank else ()  # where squares are out of range
    for scale in (1e-30, 1e-12, 1e30, *extreme):
        assert factorise(weight * scale).relative_error == pytest.approx(error, rel=1e-3)


@each
def test_a_table_of_zeros_is_met(factorise: Factorise) -> None:
    found = factorise(torch.zeros(N, D))
    assert found.relative_error == 0 and not found.module.dense().any()


@each
def test_what_is_no_table_is_refused(factorise: Factorise) -> None:
    with pytest.raises(ValueError, match=r"weight: got torch\.float32 of shape \(3,\); accepted"):
        factorise(torch.zeros(3))
    with pytest.raises(ValueError, match=r"weight: got torch\.int64 of shape \(23, 12\)"):
        factorise(torch.zeros(N, D, dtype=torch.int64))
    with pytest.raises(
        TypeError, match=r"weight: got a Linear; accepted: a tensor or an nn\.Embed"
    ):
        factorise(torch.nn.Linear(D, N))
    with pytest.raises(ValueError, match=r"padding_idx: got 23; accepted: -23 to 22"):
        factorise(torch.zeros(N, D), padding_idx=N)
    for wrong in (math.inf, math.nan):
        with pytest.raises(ValueError, match=r"weight: got entries that are infinite or no number"):
            factorise(torch.full((N, D), wrong))


def test_sizes_that_do_not_fit_the_weight_are_refused() -> None:
    weight = torch.zeros(25, 10)
    with pytest.raises(ValueError, match=r"sizes: got \(3, 4\), whose product is 12; .* = 10"):
        tensor_product(weight)
    with pytest.raises(ValueError, match=r"column_sizes: got \(3, 4\)|row_sizes: got \(6, 4\)"):
        kronecker(weight)
    with pytest.raises(ValueError, match=r"row_sizes: got \(2, 3, 4\), .* num_embeddings = 25"):
        train(weight)


def norm(values: torch.Tensor) -> float:
    return values.double().norm().item()


def test_errors_are_the_singular_values_dropped() -> None:
    weight = drawn(N, D)
    whole = torch.cat([weight, weight.new_zeros(1, D)])

    def dropped(matrix: torch.Tensor, rank: int) -> float:
        return norm(torch.linalg.svdvals(matrix)[..., rank:]) / norm(weight)

    # the Van Loan-Pitsianis rearrangement, entry by entry
    moved = torch.empty(18, 16, dtype=torch.float64)
    for i in range(24):
        for c in range(D):
            moved[i // 4 * 3 + c // 4, i % 4 * 4 + c % 4] = whole[i, c]
    for rank in (1, 2, 3, 7):
        assert low_rank(weight, rank).relative_error == pytest.approx(dropped(weight, rank))
        for family in (kronecker, train_of_two):
            # the 24th row of the product, a zero of the padded table, is no row of the module
            module = family(weight, rank).module
            error = norm(module._rows([*module.parameters()]).detach() - whole) / norm(weight)
            assert error == pytest.approx(dropped(moved, rank), rel=1e-10)
            assert family(weight, rank).relative_error <= error
    for rank in (1, 2):
        rows = dropped(weight.view(N, 3, 4), rank)
        assert tensor_product(weight, rank).relative_error == pytest.approx(rows)


@each_best
def test_no_perturbation_and_no_descent_is_nearer(factorise: Factorise) -> None:
    weight = drawn(24, D)
    found = factorise(weight, 2)
    generator = torch.Generator().manual_seed(5)
    module, best = found.module, found.relative_error
    state = {name: value.clone() for name, value in module.state_dict().items()}
    for size in (1e-4, 1e-2, 0.3):
        for _ in range(10):
            module.load_state_dict(state)
            with torch.no_grad():
                for p in module.parameters():
                    p.add_(torch.randn(p.shape, generator=generator, dtype=p.dtype) * size)
            assert misses(found, weight) > best
    module.reset_parameters(generator)
    adam = torch.optim.Adam(module.parameters(), lr=0.05)
    for _ in range(300):
        loss = (module.dense() - weight).square().sum()
        adam.zero_grad()
        loss.backward()
        adam.step()
    assert best - 1e-12 <= misses(found, weight) < 1.15 * best


@pytest.mark.parametrize("ranks", [(1, 1), (2, 3), (4, 2), (3, 8)])
def test_train_errs_at_most_by_what_each_cut_drops(ranks: Sequence[int]) -> None:
    tensor = drawn(4, 9, 8, seed=7) * torch.linspace(0.1, 2, 9, dtype=torch.float64)[:, None]
    a, b, c = tensor_train(tensor, ranks)
    error = norm(torch.einsum("xiy,yjz,zkw->ijk", a, b, c) - tensor)
    first = norm(torch.linalg.svdvals(tensor.reshape(4, 72))[ranks[0] :])
    second = norm(torch.linalg.svdvals(tensor.reshape(36, 8))[ranks[1] :])
    assert error <= math.hypot(first, second) * (1 + 1e-12) + 1e-12
    # each cut alone is a lower bound, so that the error is at most sqrt(2) times the least
    assert error >= max(first, second) * (1 - 1e-12)
    assert a.norm().item() == pytest.approx(c.norm().item()) == pytest.approx(b.norm().item())


@pytest.mark.parametrize("shape", [(1, 4, 9, 8), (5, 2, 3, 4), (3, 3, 2, 4, 2)])
@pytest.mark.parametrize("rank", [1, 3, 5])
def test_no_sweep_makes_the_error_larger(shape: tuple[int, ...], rank: int) -> None:
    tensors = drawn(*shape, seed=3)
    found = alternating_least_squares(tensors, rank, 25)
    assert (found.errors.diff(dim=0) <= 1e-10).all()
    assert (found.errors[-1] < found.errors[0] - 1e-6).any()
    letters = "abcd"[: len(shape) - 1]
    terms = ",".join(f"Zr{letter}" for letter in letters)
    left = torch.einsum(f"{terms}->Z{letters}", *found.factors) - tensors
    assert torch.allclose(left.flatten(1).norm(dim=1), found.errors[-1], rtol=1e-9, atol=1e-9)


def test_least_squares_are_solved_exactly() -> None:
    tensors = drawn(2, 4, 5, 3, seed=9)
    factors = [f.clone().requires_grad_() for f in alternating_least_squares(tensors, 2, 6).factors]
    left = torch.einsum("Zra,Zrb,Zrc->Zabc", *factors) - tensors
    gradients = torch.autograd.grad(left.square().sum(), factors)
    assert gradients[-1].abs().max() < 1e-8 < gradients[0].abs().max()  # the last was solved last


def test_ranks_beyond_the_unfoldings_still_help() -> None:
    tensors = drawn(1, 2, 5, 6, seed=2)
    errors = [alternating_least_squares(tensors, r, 60).errors[-1].item() for r in (1, 2, 4, 7)]
    assert errors == sorted(errors, reverse=True) and errors[-1] < 0.5 * errors[1]


def test_least_squares_need_a_sweep() -> None:
    with pytest.raises(ValueError, match=r"sweeps: got 0; accepted: a positive"):
        alternating_least_squares(drawn(1, 2, 3, 2), 1, 0)


def test_singular_values_are_shared_equally() -> None:
    left, right = truncated_svd(drawn(3, 6, 4), 2)
    assert torch.allclose(left.norm(dim=1), right.norm(dim=2), rtol=1e-12)


def test_rearrangement_turns_a_kronecker_product_into_an_outer_product() -> None:
    a, b, c = drawn(2, 3, seed=1), drawn(4, 1, seed=2), drawn(3, 2, seed=3)
    moved = rearranged(torch.kron(torch.kron(a, b), c), (2, 4, 3), (3, 1, 2))
    outer = torch.einsum("i,j,k->ijk", a.flatten(), b.flatten(), c.flatten())
    assert torch.allclose(moved, outer, rtol=1e-12)


def test_writing_into_a_dense_table_leaves_the_factors() -> None:
    train = TensorTrainEmbedding((3,), (2,), 1)
    train.dense().detach().zero_()
    assert bool((train.cores[0] != 0).any())


def test_tensor_products_are_kronecker_products_one_by_one() -> None:
    left, right, last = torch.rand(4, 2), torch.rand(4, 5), torch.rand(4, 3)
    alone = [reduce(torch.kron, vectors) for vectors in zip(left, right, last, strict=True)]
    assert torch.equal(product_of([left, right, last]), torch.stack(alone))
    with pytest.raises(ValueError, match="at least one"):
        product_of([])
