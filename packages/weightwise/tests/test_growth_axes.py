"""The algebra of growth: embeddings, left inverses, layouts, scales."""

from __future__ import annotations

import pytest
import torch

from weightwise.growth import axes, rules

AXES = {
    "repeated": axes.repeated(3, 2, scale=0.7),
    "heads": axes.heads(2, 3, 3, scale=1.3),
    "isometric": axes.isometric(4, 7, scale=0.9),
    "halves": axes.rotary(2, 4, 3, layout="halves", scale=1.7),
    "interleaved": axes.rotary(3, 4, 2, layout="interleaved"),
    "unchanged": axes.unchanged(5),
    "concatenated": axes.concatenated(axes.rotary(1, 4, 2, layout="halves"), axes.repeated(3, 2)),
}


@pytest.mark.parametrize("name", AXES)
def test_the_left_inverse_is_one_and_is_moore_penroses(name: str) -> None:
    e, inverse = AXES[name].matrix(), AXES[name].left_inverse()
    assert torch.allclose(inverse @ e, torch.eye(AXES[name].size).double(), atol=1e-14)
    assert torch.allclose(inverse, torch.linalg.pinv(e), atol=1e-14)


@pytest.mark.parametrize("name", AXES)
def test_an_axis_says_whether_a_layer_norm_forgets_it(name: str) -> None:
    """Centred and divided by its deviation, Ex is plain copies of x treated so, or it is not."""
    axis = AXES[name]
    x = torch.randn(axis.size).double() + 1
    small, large = ((v - v.mean()) / v.std(correction=0) for v in (x, axis.write(x, 0)))
    forgets = torch.allclose(large, small[axis.source], atol=1e-12)
    assert axis.keeps_means() == forgets == (name in ("repeated", "heads", "unchanged"))


def test_an_isometric_axis_keeps_mean_squares_and_is_plain_at_a_multiple() -> None:
    x = torch.randn(5).double()
    for new in (5, 6, 9, 10, 13):
        wide = axes.isometric(5, new).write(x, 0)
        assert wide.square().mean() == pytest.approx(x.square().mean().item(), rel=1e-14)
    plain, found = axes.repeated(5, 3), axes.isometric(5, 15)
    assert torch.equal(found.factor, plain.factor) and torch.equal(found.source, plain.source)


@pytest.mark.parametrize("name", AXES)
def test_write_and_read_are_these_matrices(name: str) -> None:
    axis = AXES[name]
    w = torch.randn(axis.size, axis.size, dtype=torch.float64)
    assert torch.allclose(axis.write(w, 0), axis.matrix() @ w, atol=1e-14)
    assert torch.allclose(axis.write(w, 1), w @ axis.matrix().T, atol=1e-14)
    assert torch.allclose(axis.read(w, 1), w @ axis.left_inverse(), atol=1e-14)


@pytest.mark.parametrize("reads", AXES)
@pytest.mark.parametrize("writes", AXES)
def test_a_grown_linear_map_does_what_the_small_one_does(writes: str, reads: str) -> None:
    out, into = AXES[writes], AXES[reads]
    w, b = torch.randn(out.size, into.size).double(), torch.randn(out.size).double()
    x = torch.randn(into.size).double()
    wide = rules.linear(rules.Part("weight", w, out, into, w))
    bias = rules.linear(rules.Part("bias", b, out, into, b))
    assert torch.allclose(wide @ into.write(x, 0) + bias, out.write(w @ x + b, 0), atol=1e-13)
    turned = rules.transposed(rules.Part("weight", w.T, out, into, w))
    assert torch.equal(turned, wide.T)


@pytest.mark.parametrize("reads", AXES)
@pytest.mark.parametrize("writes", AXES)
def test_what_is_gathered_is_what_the_axes_make(writes: str, reads: str) -> None:
    out, into = AXES[writes], AXES[reads]
    w = torch.randn(out.size, into.size).double()
    wide = rules.linear(rules.Part("weight", w, out, into, w))
    lazy = rules.linear(rules.Part("weight", axes.Gathered(w), out, into, w))
    assert lazy.shape == wide.shape and torch.allclose(lazy.dense(), wide, rtol=1e-15, atol=0)
    for dtype in (torch.float32, torch.bfloat16):  # rounded once, from a small weight of any dtype
        small = axes.Gathered(w.to(dtype))
        found = rules.linear(rules.Part("weight", small, out, into, w))
        here = found.into(torch.empty(found.shape, dtype=dtype))
        assert torch.equal(here, found.dense().to(dtype))


@pytest.mark.parametrize("reads", AXES)
@pytest.mark.parametrize("writes", AXES)
def test_the_adjoint_is_the_inverse_transposed(writes: str, reads: str) -> None:
    out, into = AXES[writes], AXES[reads]
    w = torch.eye(out.size * into.size).double().view(-1, out.size, into.size)
    grown = rules.linear(rules.Part("weight", axes.Gathered(w), out, into, w))
    g, adjoint = (x.dense().flatten(1).T for x in (grown, grown.adjoint()))
    assert torch.allclose(adjoint, torch.linalg.pinv(g).T, atol=1e-13)
    assert torch.allclose(grown.squared().dense().flatten(1).T, g.square(), rtol=1e-14, atol=0)


def test_copies_of_one_number_may_have_different_factors() -> None:
    axis = axes.Axis(torch.tensor([0, 0, 1]), torch.tensor([1.0, 3.0, 0.5]).double(), 2)
    lazy = axis.write(axes.Gathered(torch.tensor([2.0, 4.0])), 0)
    assert lazy.into(torch.empty(3)).tolist() == [2, 6, 2]


def test_repetition_is_the_articles_first_one() -> None:
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    assert axes.repeated(4, 2).write(x, 0).tolist() == [1, 1, 2, 2, 3, 3, 4, 4]


def test_heads_stay_apart() -> None:
    grown = axes.heads(3, 2, 4).source.view(3, 8) // 2
    assert torch.equal(grown, torch.arange(3)[:, None].expand(3, 8))


def _turned(x: torch.Tensor, angles: torch.Tensor, layout: str) -> torch.Tensor:
    """Rotate the pairs of one head, by the definition, with complex numbers."""
    pairs = x.view(2, -1).T if layout == "halves" else x.view(-1, 2)
    z = torch.view_as_complex(pairs.contiguous()) * torch.exp(1j * angles)
    back = torch.view_as_real(z)
    return (back.T if layout == "halves" else back).reshape(-1)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("layout", ["halves", "interleaved"])
def test_rotation_and_growth_commute(layout: str, k: int) -> None:
    size, position, θ = 6, 11.0, 50.0
    axis = axes.rotary(1, size, k, layout=layout, scale=0.6)
    angles, wide = (
        position * θ ** (-2 * torch.arange(n // 2).double() / n) for n in (size, k * size)
    )
    x = torch.randn(size, dtype=torch.float64)
    after = axis.write(_turned(x, angles, layout), 0)
    assert torch.allclose(_turned(axis.write(x, 0), wide, layout), after, atol=1e-14)


@pytest.mark.canary
@pytest.mark.parametrize("layout", ["halves", "interleaved"])
def test_repeated_rotary_heads_do_not_commute(layout: str) -> None:
    axis = axes.repeated(6, 2)
    angles, wide = (11.0 * 50.0 ** (-2 * torch.arange(n // 2).double() / n) for n in (6, 12))
    x = torch.randn(6, dtype=torch.float64)
    after = axis.write(_turned(x, angles, layout), 0)
    assert not torch.allclose(_turned(axis.write(x, 0), wide, layout), after, atol=1e-2)


@pytest.mark.parametrize("ε", [1e-12, 1e-5, 1e-1])
def test_a_norm_of_a_plainly_repeated_stream_needs_no_other_ε(ε: float) -> None:
    x, axis = 1e-3 * torch.randn(7, dtype=torch.float64), axes.repeated(7, 3)
    norm = torch.nn.functional.layer_norm
    after = axis.write(norm(x, (7,), eps=ε), 0)
    assert torch.allclose(norm(axis.write(x, 0), (21,), eps=ε), after, rtol=1e-12)
    shrunk = axes.repeated(7, 3, scale=3**-0.5).write(x, 0)  # the article's stream scale
    assert torch.allclose(norm(shrunk, (21,), eps=ε / 3), after, rtol=1e-12)
    assert torch.allclose(norm(shrunk, (21,), eps=ε), after, rtol=1e-3) == (ε < 1e-9)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_scales(k: int) -> None:
    assert rules.score_scale(k, k, scaled=True) == pytest.approx(k**-0.25)
    assert rules.score_scale(k, 1, scaled=True) == pytest.approx(k**0.25)
    assert rules.score_scale(k, k, scaled=False) == pytest.approx(k**-0.5)
    assert rules.score_scale(k, 1, scaled=False) == 1
    tied = axes.repeated(4, k, scale=rules.scored_scale(k, tied=True))
    assert torch.allclose(tied.left_inverse(), axes.repeated(4, k).matrix().T)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"size: got 3; accepted: an even"):
        axes.rotary(1, 3, 2, layout="halves")
    with pytest.raises(ValueError, match=r"layout: got 'pairs'; accepted: 'halves', 'interleaved'"):
        axes.rotary(1, 4, 2, layout="pairs")
