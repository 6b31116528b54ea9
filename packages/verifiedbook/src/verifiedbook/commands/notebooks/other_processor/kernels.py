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

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

Arguments = list[Any]
# Entries up to which each term has a place of its own; in a larger tensor two pieces change places,
# which takes an eighth of the time.
_SMALL = 1 << 13
_BITS = {torch.float32: (torch.int32, 10), torch.float64: (torch.int64, 12)}  # the last ones
_LOUD = 1e-4

# Position of the dimension along which a kernel reduces.
_REDUCTIONS = {
    "nansum": 1, "prod": 1, "var": 1, "std": 1, "var_mean": 1, "std_mean": 1,
    "linalg_vector_norm": 2, "norm": 2,
}  # fmt: skip
# Positions of two factors in a product, each with the dimension over which is summed; the kernel
# that adds such a product to a tensor.
_PRODUCTS: dict[str, tuple[tuple[tuple[int, int], tuple[int, int]], str | None]] = {
    "mm": (((0, 1), (1, 0)), "addmm_"), "addmm": (((1, 1), (2, 0)), "addmm_"),
    "bmm": (((0, 2), (1, 1)), "baddbmm_"), "baddbmm": (((1, 2), (2, 1)), "baddbmm_"),
    "addmv": (((1, 1), (2, 0)), "addmv_"), "dot": (((0, 0), (1, 0)), None),
    "addbmm": (((1, 2), (2, 1)), None), "_addmm_activation": (((1, 1), (2, 0)), None),
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
        for name, kernel in list(_kernels(Processor(draw, loud=loud))):  # all originals first
            library.impl(name, kernel, "CPU", with_keyset=True)


class Processor:
    """The orders and the last places of one drawn processor."""

    def __init__(self, draw: int, *, loud: bool = False) -> None:
        self._draw, self._loud = draw, loud
        self.order = cache(self._order)
        self.cut = cache(self._cut)
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

    def _cut(self, size: int) -> int:
        """Where so many terms are cut in two: the sum begins with the second part."""
        return int(torch.randint(1, size, (), generator=self._source(size)))

    def parts(self, x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
        """The two pieces along a dimension, in the order in which they are summed."""
        size, cut = x.shape[dim], self.cut(x.shape[dim])
        return x.narrow(dim, cut, size - cut), x.narrow(dim, 0, cut)

    def _table(self, whole: torch.dtype, bits: int) -> Tensor:
        """By how many units a number moves, by its last bits; not where these are zero."""
        steps = torch.randint(-1, 2, (1 << bits,), generator=self._source(0), dtype=whole)
        steps[0] = 0
        return steps

    def reordered(self, x: Tensor, dim: int, large: bool) -> Tensor:
        """The same numbers, those along a dimension in the drawn order of so many."""
        size = x.shape[dim] if x.dim() else 1
        if size < 2:
            return x
        return torch.cat(self.parts(x, dim), dim) if large else self._places(x, dim, 0)

    def restored(self, x: Tensor, dim: int, large: bool) -> Tensor:
        """What `reordered` made of numbers, back in their order."""
        size = x.shape[dim] if x.dim() else 1
        if size < 2:
            return x
        if not large:
            return self._places(x, dim, 1)
        moved = size - self.cut(size)
        return torch.cat((x.narrow(dim, moved, size - moved), x.narrow(dim, 0, moved)), dim)

    def _places(self, x: Tensor, dim: int, way: int) -> Tensor:
        return x.index_select(dim, self.order(x.shape[dim])[way])

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
    yield "sum.dim_IntList", _sum("sum.dim_IntList", on)
    yield "sum.IntList_out", _sum("sum.IntList_out", on)
    for name, (factors, then) in _PRODUCTS.items():
        for each in _overloads(name):
            yield each, _product(each, factors, then, on)
    for name in _ADDED_BY_INDEX:
        for each in _overloads(name):
            yield each, _summing(each, _adding(on), on)
    yield "embedding_dense_backward", _summing("embedding_dense_backward", _looked_up(on), on)
    for name in _LAST_PLACE:
        for each in _overloads(name):
            yield each, _in_last_place(each, on)
    for each in _overloads("pow"):
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
        if not isinstance(base, Tensor) and name.startswith("pow.Tensor"):  # a number comes bare
            base = torch.scalar_tensor(base, dtype=named.get("out", exponent).dtype)
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
            arguments[0] = on.reordered(x.view(-1), 0, x.numel() > _SMALL).view(x.shape)
            return
        for dim in dims or range(x.dim()):
            arguments[0] = on.reordered(arguments[0], dim, x.numel() > _SMALL)

    return arrange


def _product(
    name: str, factors: tuple[tuple[int, int], tuple[int, int]], then: str | None, on: Processor
) -> Callable[..., Any]:
    """A product with its terms in another order; of large factors, a sum of two products."""
    original, (first, column), (second, row) = _original(name), *factors
    add = None if then is None else _original(then)

    def kernel(keys: Any, *given: Any, **named: Any) -> Any:
        a, b = given[first], given[second]
        if not _real(a) or not _real(b) or not a.shape[column] == b.shape[row] > 1:
            return original(keys, *given, **named)
        arguments, large = list(given), a.numel() + b.numel() > _SMALL
        if add is None or not large or a.element_size() < 4:  # half precision would round twice
            arguments[first] = on.reordered(a, column, large)
            arguments[second] = on.reordered(b, row, large)
            return on.louder(original(keys, *arguments, **named))
        arguments[first], rest = on.parts(a, column)
        arguments[second], other = on.parts(b, row)
        found = original(keys, *arguments, **named)
        return on.louder(add(keys, found, rest, other, alpha=named.get("alpha", 1)))

    return kernel


def _sum(name: str, on: Processor) -> Callable[..., Any]:
    """A sum with its terms in another order; of a large tensor, two sums."""
    original, add = _original(name), _original("sum.dim_IntList")
    arrange = _reducing(on, 1)

    def kernel(keys: Any, x: Tensor, dims: Any = None, keepdim: bool = False, **named: Any) -> Any:
        if not _real(x) or x.numel() <= _SMALL or x.element_size() < 4:
            arguments = [x, dims]
            arrange(arguments)
            return on.louder(original(keys, *arguments, keepdim, **named))
        longest = max(dims or range(x.dim()), key=lambda dim: x.shape[dim])
        if x.shape[longest] < 2:
            return original(keys, x, dims, keepdim, **named)
        first, second = on.parts(x, longest)
        found = original(keys, first, dims, keepdim, **named)
        found.add_(add(keys, second, dims, keepdim, dtype=found.dtype))
        return on.louder(found)

    return kernel


def _adding(on: Processor) -> Arrangement:
    def arrange(arguments: Arguments) -> None:
        x, dim, index, source = arguments[:4]
        if not _real(x) or not isinstance(source, Tensor) or not index.dim():
            return
        along = dim if index.dim() == source.dim() else 0  # `index_add` has a list of places
        if index.shape[along] == source.shape[dim]:
            large = source.numel() > _SMALL
            arguments[2] = on.reordered(index, along, large)
            arguments[3] = on.reordered(source, dim, large)

    return arrange


def _looked_up(on: Processor) -> Arrangement:
    def arrange(arguments: Arguments) -> None:
        gradient, index = arguments[:2]
        if index.numel() > 1 and _real(gradient):
            rows = gradient.reshape(index.numel(), -1)
            large = rows.numel() > _SMALL
            arguments[0] = on.reordered(rows, 0, large)
            arguments[1] = on.reordered(index.reshape(-1), 0, large)

    return arrange


def _normalising(name: str, count: int, on: Processor) -> Callable[..., Any]:
    """A softmax, or the derivative of one, of the first tensors that are given."""
    original = _original(name)

    def kernel(keys: Any, *given: Any, **named: Any) -> Any:
        dim, large = given[count], given[0].numel() > _SMALL
        moved = [on.reordered(x, dim, large) for x in given[:count]]
        found = original(keys, *moved, *given[count:], **named)
        return on.louder(on.restored(found, dim, large))

    return kernel


def _layer_norm(on: Processor) -> Callable[..., Any]:
    original = _original("native_layer_norm")

    def kernel(keys: Any, x: Tensor, shape: Sequence[int], gain: Any, bias: Any, ε: float) -> Any:
        if len(shape) > 1:
            return on.nudged(original(keys, x, shape, gain, bias, ε))
        large = x.numel() > _SMALL
        moved = [one if one is None else on.reordered(one, -1, large) for one in (x, gain, bias)]
        found, *about = original(keys, moved[0], shape, *moved[1:], ε)
        return on.louder((on.restored(found, -1, large), *about))

    return kernel


def _layer_norm_backward(on: Processor) -> Callable[..., Any]:
    original = _original("native_layer_norm_backward")

    def kernel(
        keys: Any, gradient: Tensor, x: Tensor, shape: Sequence[int], mean: Tensor, rstd: Tensor,
        gain: Any, bias: Any, mask: Sequence[bool],
    ) -> Any:  # fmt: skip
        if len(shape) > 1 or not x.numel():
            return on.nudged(original(keys, gradient, x, shape, mean, rstd, gain, bias, mask))
        large, size = x.numel() > _SMALL, shape[0]
        tables = [on.reordered(on.reordered(one.reshape(-1, size), 0, large), 1, large)
                  for one in (gradient, x)]  # fmt: skip
        about = [on.reordered(one.reshape(-1, 1), 0, large) for one in (mean, rstd)]
        scales = [one if one is None else on.reordered(one, 0, large) for one in (gain, bias)]
        of_x, of_gain, of_bias = original(keys, *tables, shape, *about, *scales, mask)
        if mask[0]:
            of_x = on.restored(on.restored(of_x, 1, large), 0, large).view(x.shape)
        of_both = [on.restored(one, 0, large) if there else one
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
        large = q.numel() > _SMALL
        q, k, v, attn_mask = _attended(on, q, k, v, attn_mask, causal)
        of_q, of_k, of_v = original(
            keys, gradient, q, k, v, out, sums, dropout, causal, attn_mask=attn_mask, scale=scale
        )
        if not causal:
            of_k, of_v = on.restored(of_k, -2, large), on.restored(of_v, -2, large)
        return on.louder((on.restored(of_q, -1, large), on.restored(of_k, -1, large), of_v))

    return kernel


def _attended(
    on: Processor, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    large = q.numel() > _SMALL
    if not causal:  # or the order of keys is their meaning
        k, v = on.reordered(k, -2, large), on.reordered(v, -2, large)
        mask = None if mask is None else on.reordered(mask, -1, large)
    return on.reordered(q, -1, large), on.reordered(k, -1, large), v, mask
