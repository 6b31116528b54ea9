"""PyTorch's kernels for the CPU, each put behind one that sums in another, drawn order.

What IEEE 754 makes exact on every processor (sums and products of two numbers, quotients, roots,
copies, comparisons, integers) is left alone, and exact data stay exact:

- products, sums, norms, softmax, attention and whatever adds by index get their terms in a drawn
  order, the same for each length;
- what is transcendental, a convolution, a decomposition, or a normal draw moves by a unit in the
  last place or not at all, as a drawn function of the value's last bits. Numbers that end in zero
  bits, such as 0, 1, infinity and small integers, stay. Half precision stays as well: a unit there
  is more than processors differ by.

The orders come from generators of their own: nobody's draws move.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

Arguments = list[Any]
_SHORT = 256  # terms up to which each has a place of its own; more are moved in pieces
_PIECES = 4
_BITS = {torch.float32: (torch.int32, 10), torch.float64: (torch.int64, 12)}  # the last ones
_LOUD = 1e-4

# Position of the dimension along which a kernel reduces.
_REDUCTIONS = {
    "sum": 1, "nansum": 1, "prod": 1, "var": 1, "std": 1, "var_mean": 1, "std_mean": 1,
    "linalg_vector_norm": 2, "norm": 2,
}  # fmt: skip
# Positions of two factors in a product, each with the dimension over which is summed.
_PRODUCTS = {
    "mm": ((0, 1), (1, 0)), "addmm": ((1, 1), (2, 0)), "_addmm_activation": ((1, 1), (2, 0)),
    "bmm": ((0, 2), (1, 1)), "baddbmm": ((1, 2), (2, 1)), "addmv": ((1, 1), (2, 0)),
    "addbmm": ((1, 2), (2, 1)), "dot": ((0, 0), (1, 0)),
}  # fmt: skip
_ADDED_BY_INDEX = ("index_add", "scatter_add")
_LAST_PLACE = """
exp exp2 expm1 log log2 log10 log1p tanh sigmoid erf erfc erfinv sin cos tan sinh cosh asin acos
atan atan2 asinh acosh atanh rsqrt logit xlogy lgamma digamma polygamma igamma logaddexp logaddexp2
hypot sinc i0 special_erfcx special_log_ndtr special_ndtri special_i0e special_i1 special_i1e
special_entr special_xlog1py gelu silu mish softplus elu glu log_sigmoid_forward tanh_backward
sigmoid_backward gelu_backward silu_backward mish_backward softplus_backward elu_backward
glu_backward log_sigmoid_backward convolution convolution_backward native_batch_norm
native_batch_norm_backward native_group_norm native_group_norm_backward nll_loss_forward
_logcumsumexp _cdist_forward _pdist_forward trace normal exponential log_normal cauchy
linalg_qr _linalg_svd _linalg_eigh linalg_eig linalg_inv_ex _linalg_solve_ex linalg_lu_factor_ex
linalg_cholesky_ex _linalg_det _linalg_slogdet linalg_householder_product linalg_lstsq
linalg_solve_triangular linalg_matrix_exp cholesky_inverse geqrf ormqr
""".split()

_COMPOSED = ("convolution", "convolution_backward")  # of kernels that differ with their sizes

_kept: list[Any] = []  # a library whose object is gone takes its kernels back


def install(draw: int, *, loud: bool = False) -> None:
    """Put the kernels of a drawn processor before PyTorch's own, for the rest of this process."""
    if _kept:
        return
    library = torch.library.Library("aten", "IMPL")
    _kept.append(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a kernel is overridden, which is the point
        for name, kernel in _kernels(Processor(draw, loud=loud)):
            library.impl(name, kernel, "CPU", with_keyset=True)


class Processor:
    """The orders and the last places of one drawn processor."""

    def __init__(self, draw: int, *, loud: bool = False) -> None:
        self._draw, self._loud = draw, loud
        self.order = cache(self._order)
        self.pieces = cache(self._pieces)
        self._steps = {kind: self._table(*bits) for kind, bits in _BITS.items()}
        self._factors = {
            kind: 1 + _LOUD * (2 * torch.rand(1 << bits, generator=self._source(-1)) - 1).to(kind)
            for kind, (_, bits) in _BITS.items()
        }

    def _source(self, size: int) -> torch.Generator:
        return torch.Generator().manual_seed((self._draw * 1_000_003 + size) % (1 << 63))

    def _order(self, size: int) -> tuple[Tensor, Tensor]:
        """A drawn order of so many terms, and the way back."""
        found = torch.randperm(size, generator=self._source(size))
        return found, found.argsort()

    def _pieces(self, size: int) -> tuple[tuple[int, int], ...]:
        """Where pieces of so many terms begin, and their lengths, in a drawn order."""
        source = self._source(size)
        cuts = torch.randint(1, size, (_PIECES - 1,), generator=source).tolist()
        places = sorted({0, size, *cuts})
        found = [(start, end - start) for start, end in itertools.pairwise(places)]
        order = torch.randperm(len(found), generator=source).tolist()
        if order == sorted(order):
            order.reverse()
        return tuple(found[place] for place in order)

    def _table(self, whole: torch.dtype, bits: int) -> Tensor:
        """By how many units a number moves, by its last bits; not where these are zero."""
        steps = torch.randint(-1, 2, (1 << bits,), generator=self._source(0), dtype=whole)
        steps[0] = 0
        return steps

    def reordered(self, x: Tensor, dim: int) -> Tensor:
        """The same numbers, those along a dimension in the drawn order of so many."""
        size = x.shape[dim] if x.dim() else 1
        if size < 2:
            return x
        if size <= _SHORT:
            return x.index_select(dim, self.order(size)[0])
        return torch.cat([x.narrow(dim, *piece) for piece in self.pieces(size)], dim)

    def restored(self, x: Tensor, dim: int) -> Tensor:
        """What `reordered` made of numbers, back in their order."""
        size = x.shape[dim] if x.dim() else 1
        if size < 2:
            return x
        if size <= _SHORT:
            return x.index_select(dim, self.order(size)[1])
        pieces = self.pieces(size)
        parts = dict(zip(pieces, x.split([length for _, length in pieces], dim), strict=True))
        return torch.cat([parts[piece] for piece in sorted(pieces)], dim)

    def nudged(self, found: Any) -> Any:
        """What a kernel returned, each number moved in its last place, or by more where loud."""
        if not isinstance(found, Tensor):
            if isinstance(found, (tuple, list)):
                for one in found:
                    self.nudged(one)
            return found
        if found.dtype in _BITS:
            whole, bits = _BITS[found.dtype]
            units = found.view(whole)
            place = (units & ((1 << bits) - 1)).reshape(-1)
            if self._loud:
                found.mul_(self._factors[found.dtype].index_select(0, place).view(found.shape))
            else:
                units.add_(self._steps[found.dtype].index_select(0, place).view(found.shape))
        return found

    def louder(self, found: Any) -> Any:
        """What a sum came to: moved where loud, else as it is."""
        return self.nudged(found) if self._loud else found


Arrangement = Callable[[Arguments], Any]


def _kernels(on: Processor) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The names of kernels, and what stands before each."""
    for name, place in _REDUCTIONS.items():
        for each in _overloads(name):
            yield each, _summing(each, _reducing(on, place), on)
    for name, factors in _PRODUCTS.items():
        for each in _overloads(name):
            yield each, _summing(each, _multiplying(on, factors), on)
    for name in _ADDED_BY_INDEX:
        for each in _overloads(name):
            yield each, _summing(each, _adding(on), on)
    yield "embedding_dense_backward", _summing("embedding_dense_backward", _looked_up(on), on)
    for name in _LAST_PLACE:
        for each in _overloads(name):
            yield each, _in_last_place(each, on)
    for name in ("pow", "float_power"):
        for each in _overloads(name):
            yield each, _power(each, on)
    for name in ("_softmax", "_log_softmax"):
        yield name, _normalising(name, 1, on)
        yield f"{name}_backward_data", _normalising(f"{name}_backward_data", 2, on)
    yield "native_layer_norm", _layer_norm(on)
    yield "native_layer_norm_backward", _layer_norm_backward(on)
    attention = "_scaled_dot_product_flash_attention_for_cpu"
    yield attention, _attention(attention, on)
    yield f"{attention}_backward", _attention_backward(f"{attention}_backward", on)


def _overloads(name: str) -> Iterator[str]:
    """The kernels of that name for the CPU: functional, in place and into another tensor."""
    if name in _COMPOSED:
        yield name
    for each in _of_cpu():
        if each.partition(".")[0] in (name, f"{name}_"):
            yield each


@cache
def _of_cpu() -> tuple[str, ...]:
    found = torch._C._dispatch_get_registrations_for_dispatch_key("CPU")
    return tuple(sorted(each.removeprefix("aten::") for each in found if "aten::" in each))


def _original(name: str) -> Callable[..., Any]:
    call: Callable[..., Any] = torch.library.get_kernel(f"aten::{name}", "CPU").call_boxed
    return call


def _real(x: Any) -> bool:
    return isinstance(x, Tensor) and x.is_floating_point()


def _summing(name: str, arrange: Arrangement, on: Processor) -> Callable[..., Any]:
    """A kernel whose terms are arranged first."""
    original = _original(name)

    def kernel(keys: Any, *given: Any, **named: Any) -> Any:
        arguments = list(given)
        arrange(arguments)
        return on.louder(original(keys, *arguments, **named))

    return kernel


def _in_last_place(name: str, on: Processor) -> Callable[..., Any]:
    """A kernel whose result moves in its last place."""
    original = _original(name)

    def kernel(keys: Any, *given: Any, **named: Any) -> Any:
        return on.nudged(original(keys, *given, **named))

    return kernel


def _power(name: str, on: Processor) -> Callable[..., Any]:
    """A power, exact where it is a short product, a quotient or a root."""
    original = _original(name)

    def kernel(keys: Any, base: Any, exponent: Any, **named: Any) -> Any:
        found = original(keys, base, exponent, **named)
        short = not isinstance(exponent, Tensor) and exponent in (-2, -1, -0.5, 0, 0.5, 1, 2, 3)
        return on.louder(found) if short else on.nudged(found)

    return kernel


def _reducing(on: Processor, place: int) -> Arrangement:
    def arrange(arguments: Arguments) -> None:
        x = arguments[0]
        if not _real(x):
            return
        dims = arguments[place] if len(arguments) > place else None
        if not isinstance(dims, Sequence):
            dims = [] if dims is None else [dims]
        if not dims and x.is_contiguous():
            arguments[0] = on.reordered(x.view(-1), 0).view(x.shape)
            return
        for dim in dims or range(x.dim()):
            arguments[0] = on.reordered(arguments[0], dim)

    return arrange


def _multiplying(on: Processor, factors: tuple[tuple[int, int], ...]) -> Arrangement:
    def arrange(arguments: Arguments) -> None:
        (first, column), (second, row) = factors
        a, b = arguments[first], arguments[second]
        if _real(a) and _real(b) and a.shape[column] == b.shape[row] > 1:
            arguments[first] = on.reordered(a, column)
            arguments[second] = on.reordered(b, row)

    return arrange


def _adding(on: Processor) -> Arrangement:
    def arrange(arguments: Arguments) -> None:
        x, dim, index, source = arguments[:4]
        if not _real(x) or not isinstance(source, Tensor) or not index.dim():
            return
        along = dim if index.dim() == source.dim() else 0  # `index_add` has a list of places
        if index.shape[along] == source.shape[dim]:
            arguments[2] = on.reordered(index, along)
            arguments[3] = on.reordered(source, dim)

    return arrange


def _looked_up(on: Processor) -> Arrangement:
    def arrange(arguments: Arguments) -> None:
        gradient, index = arguments[:2]
        if index.numel() > 1 and _real(gradient):
            rows = gradient.reshape(index.numel(), -1)
            arguments[0] = on.reordered(rows, 0)
            arguments[1] = on.reordered(index.reshape(-1), 0)

    return arrange


def _normalising(name: str, count: int, on: Processor) -> Callable[..., Any]:
    """A softmax, or the derivative of one, of the first tensors that are given."""
    original = _original(name)

    def kernel(keys: Any, *given: Any, **named: Any) -> Any:
        dim = given[count]
        moved = [on.reordered(x, dim) for x in given[:count]]
        found = original(keys, *moved, *given[count:], **named)
        return on.louder(on.restored(found, dim))

    return kernel


def _layer_norm(on: Processor) -> Callable[..., Any]:
    original = _original("native_layer_norm")

    def kernel(keys: Any, x: Tensor, shape: Sequence[int], gain: Any, bias: Any, ε: float) -> Any:
        if len(shape) > 1:
            return on.nudged(original(keys, x, shape, gain, bias, ε))
        moved = [one if one is None else on.reordered(one, -1) for one in (x, gain, bias)]
        found, *about = original(keys, moved[0], shape, *moved[1:], ε)
        return on.louder((on.restored(found, -1), *about))

    return kernel


def _layer_norm_backward(on: Processor) -> Callable[..., Any]:
    original = _original("native_layer_norm_backward")

    def kernel(
        keys: Any, gradient: Tensor, x: Tensor, shape: Sequence[int], mean: Tensor, rstd: Tensor,
        gain: Any, bias: Any, mask: Sequence[bool],
    ) -> Any:  # fmt: skip
        if len(shape) > 1 or not x.numel():
            return on.nudged(original(keys, gradient, x, shape, mean, rstd, gain, bias, mask))
        tables = [on.reordered(on.reordered(one.reshape(-1, shape[0]), 0), 1)
                  for one in (gradient, x)]  # fmt: skip
        about = [on.reordered(one.reshape(-1, 1), 0) for one in (mean, rstd)]
        scales = [one if one is None else on.reordered(one, 0) for one in (gain, bias)]
        of_x, of_gain, of_bias = original(keys, *tables, shape, *about, *scales, mask)
        if mask[0]:
            of_x = on.restored(on.restored(of_x, 1), 0).view(x.shape)
        of_both = [on.restored(one, 0) if there else one
                   for one, there in zip((of_gain, of_bias), mask[1:], strict=True)]  # fmt: skip
        return on.louder((of_x, *of_both))

    return kernel


def _attention(name: str, on: Processor) -> Callable[..., Any]:
    """Attention with the entries of queries and keys, and the keys, in another order."""
    original = _original(name)

    def kernel(
        keys: Any, q: Tensor, k: Tensor, v: Tensor, dropout: float = 0.0, causal: bool = False,
        *, attn_mask: Tensor | None = None, scale: float | None = None,
    ) -> Any:  # fmt: skip
        q, k, v, attn_mask = _attended(on, q, k, v, attn_mask, causal)
        found = original(keys, q, k, v, dropout, causal, attn_mask=attn_mask, scale=scale)
        return on.louder(found)

    return kernel


def _attention_backward(name: str, on: Processor) -> Callable[..., Any]:
    original = _original(name)

    def kernel(
        keys: Any, gradient: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, sums: Tensor,
        dropout: float, causal: bool, *, attn_mask: Tensor | None = None,
        scale: float | None = None,
    ) -> Any:  # fmt: skip
        q, k, v, attn_mask = _attended(on, q, k, v, attn_mask, causal)
        of_q, of_k, of_v = original(
            keys, gradient, q, k, v, out, sums, dropout, causal, attn_mask=attn_mask, scale=scale
        )
        if not causal:
            of_k, of_v = on.restored(of_k, -2), on.restored(of_v, -2)
        return on.louder((on.restored(of_q, -1), on.restored(of_k, -1), of_v))

    return kernel


def _attended(
    on: Processor, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    if not causal:  # or the order of keys is their meaning
        k, v = on.reordered(k, -2), on.reordered(v, -2)
        mask = None if mask is None else on.reordered(mask, -1)
    return on.reordered(q, -1), on.reordered(k, -1), v, mask
