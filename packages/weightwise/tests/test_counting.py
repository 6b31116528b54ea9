"""The counter: known counts of known calls, memory alive, and refusal of what it does not know."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from weightwise.counting import Count


def test_a_matrix_product():
    a, b = torch.ones(3, 5), torch.ones(5, 7)
    with Count() as count:
        a @ b
    assert (count.multiplications, count.additions, count.reads) == (105, 84, 0)
    assert (count.largest, count.peak) == (21, 84)
    assert count.calls == {"mm": 1}


def test_a_linear_layer_and_its_backward_pass():
    layer, x = nn.Linear(5, 7), torch.ones(3, 5, requires_grad=True)
    with Count() as count:
        layer(x).sum().backward()
    assert count.multiplications == 3 * (3 * 5 * 7)  # once forward, twice backward


@pytest.mark.parametrize("look", [lambda t, i: F.embedding(i, t), lambda t, i: t[i]])
def test_a_lookup_reads_and_multiplies_nothing(look):
    table, rows = torch.ones(11, 4), torch.tensor([[1, 2, 3], [7, 7, 0]])
    with Count() as count:
        look(table, rows)
    assert (count.multiplications, count.additions, count.reads) == (0, 0, 24)


def test_outer_products_by_broadcast_einsum_and_kron():
    a, b = torch.ones(3), torch.ones(5)
    for call in (
        lambda: a[:, None] * b,
        lambda: torch.einsum("i,j->ij", a, b),
        lambda: torch.kron(a, b),
    ):
        with Count() as count:
            call()
        assert count.multiplications == 15, call


def test_arithmetic_on_whole_numbers_is_not_counted():
    rows = torch.arange(6)
    with Count() as count:
        (rows * 3 + 1) % 4
    assert (count.multiplications, count.additions) == (0, 0)


def test_peak_is_what_is_alive_together():
    with Count() as apart:
        for _ in range(3):
            torch.zeros(8, dtype=torch.float64)
    with Count() as together:
        kept = [torch.zeros(8, dtype=torch.float64) for _ in range(3)]
    assert (apart.peak, together.peak) == (64, 192)
    assert len(kept) == 3


def test_views_and_changes_in_place_allocate_nothing():
    x = torch.ones(4, 6)
    with Count() as count:
        x.view(24)[3:].mul_(2)
    assert (count.multiplications, count.peak, count.largest) == (21, 0, 0)


def test_what_autograd_saves_stays_alive():
    x = torch.ones(10, requires_grad=True)
    with Count() as count:
        y = (x * 3).exp().mul(2.0)
        assert count._alive == 80  # exp saves its outcome, and y is held
        del y
    assert count._alive == 0


def test_an_unknown_call_is_refused():
    x = torch.ones(3)
    for call in (
        lambda: torch.linalg.svd(torch.eye(3)),
        lambda: torch.ones(3, 3, dtype=torch.complex64) @ torch.ones(3, 3, dtype=torch.complex64),
        lambda: x * 2j,
        lambda: x**3,
        lambda: torch.add(x, x, alpha=3),
        lambda: torch.addmm(x, torch.ones(3, 3), torch.ones(3, 3), beta=0.5),
    ):
        with pytest.raises(NotImplementedError, match="does not know"), Count():
            call()


def test_writing_adds_nothing_and_adding_up_does():
    table, rows = torch.zeros(5, 7), torch.tensor([0, 1])
    for accumulate, additions in ((False, 0), (True, 14)):
        with Count() as count:
            table.index_put_((rows,), torch.tensor(1.0), accumulate=accumulate)
        assert count.additions == additions


def test_softmax_forward_and_backward():
    x = torch.ones(3, 5, requires_grad=True)
    with Count() as forward:
        y = torch.softmax(x, -1)
    with Count() as backward:
        y.backward(torch.ones(3, 5))
    # a maximum taken off, a sum, a division; then p (g - sum p g)
    assert (forward.multiplications, forward.additions) == (15, 15 + 12)
    assert (backward.multiplications, backward.additions) == (30, 15 + 12)


def test_layer_norm_by_hand():
    x, one = torch.ones(3, 5), torch.ones(5)
    for affine, work in (((), (30, 45)), ((one, one), (45, 60))):
        with Count() as count:
            F.layer_norm(x, (5,), *affine)
        assert (count.multiplications, count.additions) == work


def test_sums_of_nothing_are_no_additions():
    with Count() as count:
        torch.ones(0, 3).sum()
        torch.ones(3, 0) @ torch.ones(0, 7)
    assert count.additions == 0


def test_what_is_written_into_is_not_allocated_but_hidden_copies_are():
    a, out = torch.ones(3, 3), torch.empty(3, 3)
    with Count() as count:
        torch.mm(a, a, out=out)
    assert (count.multiplications, count.peak) == (27, 0)
    with Count() as count, torch.inference_mode():
        torch.ones(2, 3).T.reshape(-1)
    assert count.peak == 48
