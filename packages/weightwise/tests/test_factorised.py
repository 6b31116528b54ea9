"""Factorised embeddings: rows, scores and gradients of the table that they never make."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from weightwise.counting import Count
from weightwise.factorised import (
    FactorisedEmbedding,
    KroneckerEmbedding,
    LowRankEmbedding,
    TensorProductEmbedding,
    TensorTrainEmbedding,
    balanced_factors,
    covering_factors,
    gathering,
)

N, D = 23, 12
Make = Callable[..., FactorisedEmbedding]


FAMILIES: dict[str, Make] = {
    "low rank": lambda n=N, rank=3, **options: LowRankEmbedding(n, D, rank, **options),
    "tensor product": lambda n=N, rank=2, **options: TensorProductEmbedding(
        n, (2, 3, 2), rank, **options
    ),
    "Kronecker": lambda n=N, rank=2, **options: KroneckerEmbedding(
        (2, 3, 4), (2, 3, 2), rank, num_embeddings=n, **options
    ),
    "tensor train": lambda n=N, rank=(2, 5), **options: TensorTrainEmbedding(
        (2, 3, 4), (2, 3, 2), rank, num_embeddings=n, **options
    ),
}
TABLES, TRAIN = (
    partial(kind, num_embeddings=N) for kind in (KroneckerEmbedding, TensorTrainEmbedding)
)
SHAPES: dict[str, Make] = FAMILIES | {
    "one factor": partial(TensorProductEmbedding, N, (D,), 3),
    "two factors": partial(TensorProductEmbedding, N, (3, 4)),
    "five factors": partial(TensorProductEmbedding, N, (1, 2, 1, 3, 2), 2),
    "one table": partial(TABLES, (N,), (D,), 2),
    "two tables": partial(TABLES, (5, 5), (4, 3), 7),
    "growing and shrinking tables": partial(TABLES, (1, 9, 3), (6, 1, 2), 1),
    "one core": partial(TRAIN, (N,), (D,), 4),
    "two cores": partial(TRAIN, (5, 5), (4, 3), 6),
    "cores from the left": partial(TRAIN, (1, 2, 12), (6, 2, 1), 3),
    "cores from the right": partial(TRAIN, (12, 2, 1), (1, 2, 6), 3),
    "four cores": partial(TRAIN, (2, 3, 2, 2), (2, 1, 3, 2), (2, 3, 4)),
}
each_shape = pytest.mark.parametrize("make", SHAPES.values(), ids=SHAPES.keys())
each_family = pytest.mark.parametrize("make", FAMILIES.values(), ids=FAMILIES.keys())


def drawn(make: Make, **options: object) -> FactorisedEmbedding:
    options = {"dtype": torch.float64, **options}
    return make(generator=torch.Generator().manual_seed(1), **options)


def states(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(2))


def some_tokens(*shape: int) -> torch.Tensor:
    return torch.randint(N, shape, generator=torch.Generator().manual_seed(3))


def row(module: FactorisedEmbedding, token: int) -> torch.Tensor:
    """A row of the table, by the definition of its family alone."""
    if isinstance(module, LowRankEmbedding):
        return sum(module.codes[token, a] * module.basis[a] for a in range(module.rank))
    if isinstance(module, TensorProductEmbedding):
        terms = [[factor[token, a] for factor in module.factors] for a in range(module.rank)]
        return sum(_kron(term) for term in terms)
    index, rest = [], token
    for size in reversed(module.row_sizes):
        index.insert(0, rest % size)
        rest //= size
    if isinstance(module, KroneckerEmbedding):
        pairs = list(zip(module.factors, index, strict=True))
        return sum(_kron([factor[a, i] for factor, i in pairs]) for a in range(module.rank))
    chosen = [core[:, i] for core, i in zip(module.cores, index, strict=True)]
    paths = torch.cartesian_prod(*(torch.arange(rank) for rank in (1, *module.ranks, 1)))
    return sum(
        _kron([core[path[j], :, path[j + 1]] for j, core in enumerate(chosen)]) for path in paths
    )


def _kron(vectors: list[torch.Tensor]) -> torch.Tensor:
    product = vectors[0]
    for vector in vectors[1:]:
        product = torch.kron(product, vector)
    return product


@each_shape
def test_dense_is_the_definition(make: Make) -> None:
    module = drawn(make)
    expected = torch.stack([row(module, token) for token in range(N)])
    assert module.dense().shape == (N, D)
    assert torch.allclose(module.dense(), expected, rtol=1e-12, atol=1e-12)


@each_shape
@pytest.mark.parametrize("padding_idx", [None, 5, -1])
@pytest.mark.parametrize("cache", [1, 60, 2**20])
def test_lookup_and_gradient_are_those_of_the_table(
    make: Make, padding_idx: int | None, cache: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "_CACHE", cache)
    module = drawn(make, padding_idx=padding_idx)
    tokens, weight = some_tokens(6, 9), states(6, 9, D)
    tokens[0, 0], tokens[3, 4] = 5, N - 1
    found, expected = module(tokens), module.dense()[tokens]
    assert torch.allclose(found, expected, rtol=1e-12, atol=1e-12)
    gradients = torch.autograd.grad((found.sin() * weight).sum(), [*module.parameters()])
    truths = torch.autograd.grad((expected.sin() * weight).sum(), [*module.parameters()])
    for gradient, truth in zip(gradients, truths, strict=True):
        assert torch.allclose(gradient, truth, rtol=1e-10, atol=1e-10)


@each_shape
@pytest.mark.parametrize("padding_idx", [None, 5, -1])
@pytest.mark.parametrize("way", [1, 400, 2**22, "rows"])
def test_attend_and_gradient_are_those_of_the_table(
    make: Make, padding_idx: int | None, way: int | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By rows, or through the factors with so many numbers at a time."""
    said = "rows" if way == "rows" else "factors"
    monkeypatch.setattr(FactorisedEmbedding, "scores_by", lambda *_: said)
    if way != "rows":
        monkeypatch.setattr(gathering, "_CACHE", way)
    module, hidden = drawn(make, padding_idx=padding_idx), states(2, 3, D).requires_grad_()
    found, expected = module.attend(hidden), hidden @ module.dense().T
    assert found.shape == (2, 3, N)
    assert torch.allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert torch.allclose(module.attend(hidden[0, 0]), expected[0, 0], rtol=1e-12, atol=1e-12)
    inputs, weight = [hidden, *module.parameters()], states(2, 3, N)
    gradients = torch.autograd.grad((found.sin() * weight).sum(), inputs)
    truths = torch.autograd.grad((expected.sin() * weight).sum(), inputs)
    for gradient, truth in zip(gradients, truths, strict=True):
        assert torch.allclose(gradient, truth, rtol=1e-10, atol=1e-10)


@each_family
def test_padding_row_is_zero_whatever_the_parameters_are(make: Make) -> None:
    module = drawn(make, padding_idx=-3)
    assert module.padding_idx == N - 3
    assert not module(torch.tensor([N - 3])).any() and module(torch.tensor([0])).any()
    assert not module.attend(states(4, D))[:, N - 3].any()
    module(torch.tensor([N - 3, N - 3])).sum().backward()
    assert not any(parameter.grad.any() for parameter in module.parameters())


@each_family
@pytest.mark.parametrize("shape", [(), (7,), (2, 3, 4), (0,), (3, 0)])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_shapes_of_tokens(make: Make, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    module, tokens = drawn(make, padding_idx=0), some_tokens(*shape).to(dtype)
    found = module(tokens)
    assert found.shape == (*shape, D)
    assert torch.allclose(found, module.dense()[tokens.long()], rtol=1e-12, atol=1e-12)
    found.sum().backward()
    assert all(parameter.grad.shape == parameter.shape for parameter in module.parameters())
    assert module.attend(found).shape == (*shape, N)


@each_family
def test_strided_tokens_and_hidden(make: Make) -> None:
    module, tokens, hidden = drawn(make), some_tokens(4, 6).T[::2], states(D, 4).T
    assert torch.allclose(module(tokens), module.dense()[tokens])
    assert torch.allclose(module.attend(hidden), hidden @ module.dense().T)


@each_family
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_dtypes(make: Make, dtype: torch.dtype) -> None:
    exact = drawn(make, σ=0.5)
    for module in (copy.deepcopy(exact).to(dtype), drawn(make, σ=0.5, dtype=dtype)):
        tokens, hidden = some_tokens(40), states(3, D).to(dtype)
        reference = copy.deepcopy(module).double()
        unit = 8 * torch.finfo(dtype).eps
        found, scores = module(tokens), module.attend(hidden)
        assert found.dtype == scores.dtype == module.dense().dtype == dtype
        assert torch.allclose(found.double(), reference(tokens), rtol=unit, atol=unit)
        assert torch.allclose(
            scores.double(), reference.attend(hidden.double()), rtol=unit, atol=4 * unit
        )
        found.sum().backward()
        reference(tokens).sum().backward()
        for one, other in zip(module.parameters(), reference.parameters(), strict=True):
            assert one.grad.dtype == dtype
            assert torch.allclose(one.grad.double(), other.grad, rtol=unit, atol=4 * unit)


def test_half_precision_gradients_are_summed_in_single(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "_CACHE", 1)
    module = KroneckerEmbedding((2, 2), (1, 1), dtype=torch.bfloat16)
    with torch.no_grad():
        for factor in module.factors:
            factor.fill_(1)
    module(torch.zeros(1000, dtype=torch.int64)).sum().backward()
    assert module.factors[0].grad[0, 0].item() == 1000  # a sum in bfloat16 stops at 256


@each_family
def test_device_arguments(make: Make) -> None:
    module = make(device="meta", dtype=torch.bfloat16, padding_idx=0)
    assert all(p.is_meta and p.dtype == torch.bfloat16 for p in module.parameters())
    assert module(torch.zeros(4, dtype=torch.int64, device="meta")).shape == (4, D)
    assert module.attend(torch.zeros(4, D, dtype=torch.bfloat16, device="meta")).shape == (4, N)
    with torch.device("meta"):
        assert all(parameter.is_meta for parameter in make().parameters())
    there = module.to_empty(device="cpu")
    there.reset_parameters()
    assert there(torch.tensor([1])).isfinite().all()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@each_shape
def test_cuda_agrees(make: Make) -> None:
    module, tokens = drawn(make, padding_idx=5), some_tokens(3, 4)
    there = copy.deepcopy(module).cuda()
    found = there(tokens.cuda())
    assert found.is_cuda and torch.allclose(found.cpu(), module(tokens))
    assert torch.allclose(there.attend(found).cpu(), module.attend(module(tokens)))
    module.attend(module(tokens)).sum().backward()
    there.attend(found).sum().backward()
    for one, other in zip(module.parameters(), there.parameters(), strict=True):
        assert torch.allclose(one.grad, other.grad.cpu())
    on_device = make(device="cuda", generator=torch.Generator("cuda").manual_seed(0))
    torch.cuda.set_sync_debug_mode("error")
    try:
        on_device(tokens.cuda(non_blocking=True))
    finally:
        torch.cuda.set_sync_debug_mode("default")


@each_family
def test_state_copies_and_pickles(make: Make) -> None:
    module, tokens = drawn(make, padding_idx=2), some_tokens(9)
    other = make(dtype=torch.float64, padding_idx=2)
    assert not torch.equal(other(tokens), module(tokens))
    other.load_state_dict(module.state_dict())
    for same in (other, copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert torch.equal(same(tokens), module(tokens))
        assert (same.num_embeddings, same.embedding_dim, same.padding_idx) == (N, D, 2)
    with torch.no_grad():
        next(other.parameters()).zero_()
    assert module(tokens).any() and not other(tokens).any()


@each_family
def test_reset_draws_what_the_generator_gives(make: Make) -> None:
    module = make()
    before = module.dense()
    module.reset_parameters(torch.Generator().manual_seed(8))
    again = make(generator=torch.Generator().manual_seed(8))
    assert torch.equal(module.dense(), again.dense()) and not torch.equal(before, again.dense())


@each_family
def test_repr_says_the_sizes(make: Make) -> None:
    said = make(padding_idx=-1).extra_repr()
    assert said.startswith("23, 12, ") and "rank" in said and said.endswith("padding_idx=22")
    assert "padding_idx" not in make().extra_repr()


@each_family
@pytest.mark.parametrize("token", [-1, N, N + 1, 10**9, -(2**40)])
def test_tokens_out_of_range_are_refused(make: Make, token: int) -> None:
    assert drawn(make)(torch.tensor([0, N - 1])).shape == (2, D)
    with pytest.raises(IndexError, match="out of range"):
        drawn(make)(torch.tensor([0, token]))


@each_family
def test_other_tokens_and_states_are_refused(make: Make) -> None:
    with pytest.raises(TypeError, match=r"tokens: got torch\.float32; accepted: torch\.int32"):
        make()(torch.zeros(2))
    with pytest.raises(TypeError, match=r"tokens: got torch\.bool; accepted"):
        make()(torch.zeros(2, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"hidden: got shape \(2, 11\); accepted: \(…, 12\)"):
        make().attend(torch.zeros(2, D - 1))
    with pytest.raises(ValueError, match=r"hidden: got shape \(\); accepted"):
        make().attend(torch.tensor(0.0))
    for wrong in (N, -N - 1):
        with pytest.raises(ValueError, match=rf"padding_idx: got {wrong}; accepted: -23 to 22"):
            make(padding_idx=wrong)
    with pytest.raises(ValueError, match=r"σ: got 0; accepted: a positive"):
        make(σ=0)
    with pytest.raises(ValueError, match=r"ranks?: got 0; accepted: (a positive|1 to 23)"):
        make(rank=0)
    with pytest.raises(ValueError, match=r"num_embeddings: got 0; accepted: a positive"):
        make(n=0)


def test_sizes_that_do_not_fit_are_refused() -> None:
    for family in (KroneckerEmbedding, TensorTrainEmbedding):
        message = (
            r"column_sizes: got \(16, 16, 15\), whose product is 3840; accepted: sizes whose "
            r"product equals embedding_dim = 4096"
        )
        with pytest.raises(ValueError, match=message):
            family((2, 2, 2), (16, 16, 15), 2, embedding_dim=4096)
        message = (
            r"row_sizes: got \(2, 3, 4\), whose product is 24; accepted: sizes whose product must "
            r"be at least num_embeddings = 25"
        )
        with pytest.raises(ValueError, match=message):
            family((2, 3, 4), (2, 2, 2), 2, num_embeddings=25)
        with pytest.raises(ValueError, match=r"column_sizes: got 2 of them with 3 row_sizes"):
            family((2, 3, 4), (2, 2), 2)
        with pytest.raises(ValueError, match=r"row_sizes: got \(2, 0\); accepted: at least one"):
            family((2, 0), (2, 2), 2)
    with pytest.raises(ValueError, match=r"sizes: got \(\); accepted: at least one"):
        TensorProductEmbedding(3, ())
    with pytest.raises(ValueError, match=r"ranks: got \(2,\); accepted: .* 2 of them for 3 cores"):
        TensorTrainEmbedding((2, 2, 2), (2, 2, 2), (2,))
    with pytest.raises(ValueError, match=r"embedding_dim: got 0; accepted: a positive"):
        LowRankEmbedding(3, 0, 1)


def test_whole_numbers_of_other_kinds_are_sizes_and_others_are_not() -> None:
    rows, columns, two = torch.tensor([2, 3]), torch.tensor([3, 2]), torch.tensor(2).numpy()[()]
    for family in (KroneckerEmbedding, TensorTrainEmbedding):
        for wanted in (family(rows, columns, two), family(rows.numpy(), [3, 2], True)):
            assert wanted.row_sizes == (2, 3) and wanted.dense().shape == (6, 6)
        with pytest.raises(TypeError, match=r"row_sizes: got 2\.5; accepted: whole numbers"):
            family((2.5, 3), (3, 2), 2)
        with pytest.raises(TypeError, match=r"ranks?: got 2\.0; accepted: whole numbers"):
            family((2, 3), (3, 2), 2.0)
    for wrong in (0, -3):
        with pytest.raises(ValueError, match=rf"ranks: got {wrong}; accepted"):
            TensorTrainEmbedding((2,), (3,), wrong)
    assert TensorTrainEmbedding((2,), (3,), 4).ranks == TensorTrainEmbedding((2,), (3,), ()).ranks


@pytest.mark.parametrize("family", [KroneckerEmbedding, TensorTrainEmbedding])
def test_int32_tokens_of_a_table_beyond_them(family: type) -> None:
    module = family((2**17, 2**17), (1, 1), 1)
    tokens = torch.tensor([5, 2**31 - 1])
    assert torch.equal(module(tokens.int()), module(tokens))
    with pytest.raises(IndexError, match="out of range"):
        module(torch.tensor([-1], dtype=torch.int32))


@each_family
def test_variance_of_drawn_tables(make: Make) -> None:
    generator = torch.Generator().manual_seed(6)
    module = make(σ=0.5, rank=4)
    squares = []
    for _ in range(600):
        module.reset_parameters(generator)
        squares.append(module.dense().detach().double().square().mean())
    squares = torch.stack(squares)
    error = squares.std().item() / math.sqrt(len(squares))
    assert error < 0.02
    assert abs(squares.mean().item() - 0.25) < 5 * error


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize(
    "module",
    [
        LowRankEmbedding(8000, 64, 4),
        TensorProductEmbedding(8000, (4, 4, 4), 2),
        KroneckerEmbedding((20, 20, 20), (4, 4, 4), 8),
        KroneckerEmbedding((100, 80), (8, 8), 50),
        TensorTrainEmbedding((20, 20, 20), (4, 4, 4), 6),
        TensorTrainEmbedding((20, 20, 20), (4, 4, 4), 40),
    ],
    ids=lambda module: f"{type(module).__name__} {getattr(module, 'ranks', module)}"[:40],
)
def test_no_tensor_is_larger_than_what_is_asked(module: FactorisedEmbedding, grad: bool) -> None:
    n, d, tokens = 8000, 64, torch.arange(0, 8000, 160)
    parameters = sum(parameter.numel() for parameter in module.parameters())
    with torch.set_grad_enabled(grad), Count() as count:
        found = module(tokens)
        if grad:
            found.sum().backward()
    assert len(tokens) * d <= count.largest <= max(len(tokens) * d, parameters) < n * d / 2
    hidden = torch.randn(5, d)
    with torch.set_grad_enabled(grad), Count() as count:
        logits = module.attend(hidden)
        if grad:
            logits.sum().backward()
    assert count.largest <= 5 * n + parameters < n * d / 2


def test_memory_alive_is_that_of_the_tokens() -> None:
    module = TensorTrainEmbedding((20, 20, 20), (4, 4, 4), 40)
    parameters = sum(parameter.numel() for parameter in module.parameters())
    with Count() as count:
        module(torch.arange(0, 8000, 8)).sum().backward()
    # output, its gradient, and what a chunk makes; the parameters, their gradients and copies
    assert count.peak <= 4 * (6 * 1000 * 64 + 5 * parameters)


@pytest.mark.parametrize(
    ("module", "states"),
    [
        (TensorProductEmbedding(8000, (8, 8), 1), 5),
        (KroneckerEmbedding((20, 20, 20), (4, 4, 4), 30), 40),
        (TensorTrainEmbedding((20, 20, 20), (4, 4, 4), 20), 40),
    ],
    ids=lambda value: type(value).__name__,
)
def test_scores_keep_no_intermediate_for_the_gradient(
    module: FactorisedEmbedding, states: int
) -> None:
    hidden = torch.randn(states, 64, requires_grad=True)
    parameters = sum(parameter.numel() for parameter in module.parameters())
    with Count() as count:
        module.attend(hidden).sum().backward()
    # two of the logits and what a piece makes, and the parameters' gradient: no more
    assert count.peak / 4 <= 5 * states * 8000 + 2.5 * parameters


def test_scores_go_the_way_that_takes_less_time() -> None:
    train = TensorTrainEmbedding((37, 37, 37), (8, 8, 12), 64, device="meta")
    assert [train.scores_by(states) for states in (1, 2048)] == ["factors", "rows"]
    thin = LowRankEmbedding(50_257, 768, 64, device="meta")
    assert {thin.scores_by(states) for states in (1, 128, 100_000)} == {"factors"}


@pytest.mark.parametrize("tokens", [5, 400])
def test_digits_of_many_tokens_are_multiplied_out_once(tokens: int) -> None:
    train = TensorTrainEmbedding((10, 10, 10), (4, 4, 4), 5)
    with torch.no_grad(), Count() as count:
        train(torch.arange(tokens))
    first, last = 4 * 5 * 4 * 5, 16 * 5 * 4
    assert count.multiplications == min(tokens, 10 * 10) * first + tokens * last


def loss(module: FactorisedEmbedding) -> torch.Tensor:
    """Of a table that is looked up and scores what follows, as in a model with a tied head."""
    tokens = some_tokens(6, 9)
    hidden = torch.nn.functional.layer_norm(module(tokens[:, :-1]), (D,))
    scores = module.attend(hidden).flatten(0, 1)
    return torch.nn.functional.cross_entropy(scores, tokens[:, 1:].flatten())


@each_family
def test_any_one_factor_may_be_frozen(make: Make) -> None:
    for frozen in range(len([*make().parameters()])):
        module = drawn(make)
        factors = [*module.parameters()]
        expected = torch.autograd.grad(loss(module), factors)
        factors[frozen].requires_grad_(False)
        loss(module).backward()
        for j, (factor, truth) in enumerate(zip(factors, expected, strict=True)):
            assert factor.grad is None if j == frozen else torch.allclose(factor.grad, truth)


@each_family
def test_checkpoints_and_second_passes_give_the_same_gradient(make: Make) -> None:
    module = drawn(make, padding_idx=4)
    factors, once = [*module.parameters()], loss(module)
    first = torch.autograd.grad(once, factors, retain_graph=True)
    again = checkpoint(loss, module, use_reentrant=False)
    for other in (torch.autograd.grad(once, factors), torch.autograd.grad(again, factors)):
        assert all(map(torch.equal, first, other))


@each_family
def test_mixed_precision_keeps_the_dtype_of_the_parameters(make: Make) -> None:
    module = drawn(make, dtype=torch.float32)
    truths = torch.autograd.grad(loss(module), [*module.parameters()])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert module(some_tokens(9)).dtype == torch.float32
        loss(module).backward()
    for factor, truth in zip(module.parameters(), truths, strict=True):
        assert factor.grad.dtype == torch.float32
        assert (factor.grad - truth).norm() < 0.05 * truth.norm()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:")  # the compiler's own
@each_family
def test_compiled_tables_have_the_same_gradients(make: Make) -> None:
    module, tokens = drawn(make, padding_idx=4), some_tokens(6, 9)
    compiled = torch.compile(lambda tokens: module.attend(module(tokens)), backend="eager")
    found = torch.autograd.grad(compiled(tokens).sin().sum(), [*module.parameters()])
    plain = module.attend(module(tokens)).sin().sum()
    for one, other in zip(found, torch.autograd.grad(plain, [*module.parameters()]), strict=True):
        assert torch.allclose(one, other, rtol=1e-12, atol=1e-12)


@each_family
def test_torch_func_takes_the_low_rank_family_only(make: Make) -> None:
    module = drawn(make)

    def total(parameters: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.func.functional_call(module, parameters, (some_tokens(9),)).sum()

    parameters = {name: p.detach() for name, p in module.named_parameters()}
    if make is FAMILIES["low rank"]:
        assert torch.func.grad(total)(parameters).keys() == parameters.keys()
    else:
        with pytest.raises(RuntimeError, match="functorch"):
            torch.func.grad(total)(parameters)


def test_lookup_says_that_it_can_be_differentiated_once() -> None:
    module = drawn(FAMILIES["tensor train"])
    (gradient, *_) = torch.autograd.grad(
        module(some_tokens(4)).square().sum(), [*module.parameters()], create_graph=True
    )
    with pytest.raises(RuntimeError, match="differentiate twice"):
        gradient.sum().backward()


@pytest.mark.parametrize(
    ("number", "k", "expected"),
    [(4096, 3, (16, 16, 16)), (4096, 2, (64, 64)), (7, 3, (1, 1, 7)), (768, 2, (24, 32)),
     (12, 1, (12,)), (1, 2, (1, 1)), (5120, 3, (16, 16, 20))],
)  # fmt: skip
def test_balanced_factors(number: int, k: int, expected: tuple[int, ...]) -> None:
    assert balanced_factors(number, k) == expected


@pytest.mark.parametrize("number", [60, 97, 210, 360])
def test_balanced_factors_have_the_least_sum(number: int) -> None:
    sizes = range(1, number + 1)
    pairs = [(a, number // a) for a in sizes if number % a == 0]
    assert sum(balanced_factors(number, 2)) == min(map(sum, pairs))
    triples = [(a, b, c // b) for a, c in pairs for b in sizes if c % b == 0]
    assert sum(balanced_factors(number, 3)) == min(map(sum, triples))


@pytest.mark.parametrize("k", [1, 2, 3, 4, 7])
def test_covering_factors_cover_and_little_more(k: int) -> None:
    for number in (1, 2, 8, 1000, 8000, 30_522, 50_257, 152_064, 160_000):
        sizes = covering_factors(number, k)
        assert len(sizes) == k and math.prod(sizes) >= number
        smaller = [math.prod(sizes) // size * (size - 1) for size in sizes]
        assert all(product < number for product in smaller)
    assert covering_factors(8000, 3) == (20, 20, 20) and covering_factors(152_064, 2) == (390, 390)


def products(module: FactorisedEmbedding, work: str) -> int:
    with torch.no_grad(), Count() as count:
        module(torch.tensor([3])) if work == "lookup" else module.attend(torch.zeros(1, D))
    return count.multiplications


def test_kronecker_scores_take_the_cheapest_order() -> None:
    for rows, columns in [((1, 9, 3), (6, 1, 2)), ((9, 3, 1), (1, 2, 6)), ((2, 3, 4), (2, 3, 2))]:
        costs = []
        for order in itertools.permutations(range(3)):
            left, cost = list(columns), 0
            for j in order:
                cost += 5 * math.prod(left) * rows[j]
                left[j] = rows[j]
            costs.append(cost)
        assert products(KroneckerEmbedding(rows, columns, 5), "attend") == min(costs)


def test_train_scores_begin_at_the_cheaper_end() -> None:
    one = TensorTrainEmbedding((1, 2, 12), (6, 2, 1), 3)
    other = TensorTrainEmbedding((12, 2, 1), (1, 2, 6), 3)  # its mirror image
    # by hand: 12·1·3 + (2·1)·3·2·3 + 2·3·12
    assert products(one, "attend") == products(other, "attend") == 36 + 36 + 72


def test_train_rows_take_the_cheapest_order() -> None:
    one = TensorTrainEmbedding((2, 2, 2), (6, 2, 1), (2, 3))
    other = TensorTrainEmbedding((2, 2, 2), (1, 2, 6), (3, 2))
    # the last two first: 2·2·3·1, then 6·2·2; the first two first would be 6·2·2·3 + 12·3
    assert products(one, "lookup") == products(other, "lookup") == 12 + 24
