"""Operations counted while they run: multiplications, additions, reads and memory.

    >>> layer, x = torch.nn.Linear(3, 5), torch.ones(2, 3)
    >>> with Count() as count:
    ...     y = layer(x)
    >>> count.multiplications, count.reads
    (30, 0)

A count is taken from the torch calls that really happen, with the shapes that they really have. A
call that the counter does not know raises an error, so that no work is left uncounted in silence.
Not counted: arithmetic on whole numbers (where an index comes from), functions of a single number
(`exp`, `gelu`), changes of sign, comparisons, copies and draws; reads by a slice or by one fixed
index, which are views; work outside torch (`tolist`, NumPy); what a kernel allocates for itself.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

Work = tuple[int, int, int]  # multiplications, additions, reads


class Count(TorchDispatchMode):
    """Counts what torch does between ``with Count() as count:`` and the end of the block.

    What threads do that the block starts is not seen.

    Attributes:
        multiplications: products of two numbers; a division counts as one.
        additions: sums of two numbers, those inside a matrix product among them.
        reads: entries taken from a table by an index (``table[rows]``, `F.embedding`).
        largest: entries of the largest tensor that a call made.
        peak: bytes alive at the same time at most, of those allocated inside the block; not the
            numbers that ``torch.tensor`` is given, which are there before torch is called.
        calls: how often each of torch's functions was called, views among them, by name: ``"mul"``.

    Raises:
        NotImplementedError: a call inside the block whose work the counter does not know, on
            complex numbers, with ``alpha`` or ``beta`` other than 1, and powers other than squares
            among them.

    Example:
        >>> with Count() as count:
        ...     product = torch.ones(2, 3) @ torch.ones(3, 4)
        >>> count.multiplications, count.additions
        (24, 16)
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's own, without types
        self.multiplications = self.additions = self.reads = 0
        self.largest = self.peak = self._alive = 0
        self.calls: Counter[str] = Counter()
        self._storages: set[int] = set()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:  # else the first count imports torch's compiler
        return False

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        name = str(func.overloadpacket).removeprefix("aten.").removesuffix("_")
        rule = _RULES.get(name)
        kwargs = kwargs or {}
        scaled = any(kwargs.get(scale, 1) != 1 for scale in ("alpha", "beta"))
        before = _tensors((*args, *kwargs.values()))
        known = (rule is not None or func.is_view) and not scaled
        made = func(*args, **kwargs) if known else None
        tensors = [t for t in made if t is not None] if isinstance(made, tuple | list) else [made]
        if not known or any(t.is_complex() for t in _tensors(tensors)):
            raise NotImplementedError(f"{func}: the counter does not know what this call costs")
        self.calls[name] += 1
        if rule is not None:
            work = rule(tensors[0], *args) if _is_real(tensors[0]) else (0, 0, 0)
            self.multiplications += work[0]
            self.additions += work[1]
            self.reads += work[2]
        # of views too: without autograd, what torch calls a view may be a copy (`reshape`)
        self._note(_tensors(tensors), {t.untyped_storage()._cdata for t in before})
        return made

    def _note(self, made: list[torch.Tensor], before: set[int]) -> None:
        for tensor in made:
            storage = tensor.untyped_storage()
            key, size = storage._cdata, storage.nbytes()
            if key in before or key in self._storages:
                continue
            self.largest = max(self.largest, tensor.numel())
            self._storages.add(key)
            self._alive += size
            self.peak = max(self.peak, self._alive)
            weakref.finalize(storage, self._gone, key, size)

    def _gone(self, key: int, size: int) -> None:
        self._storages.discard(key)
        self._alive -= size


def _tensors(values: Iterable[Any]) -> list[torch.Tensor]:
    return [value for value in values if isinstance(value, torch.Tensor)]


def _is_real(made: Any) -> bool:
    return isinstance(made, torch.Tensor) and made.is_floating_point()


def _product(made: torch.Tensor, a: torch.Tensor, *_: Any) -> Work:
    products = made.numel() * a.shape[-1]
    return products, max(0, products - made.numel()), 0


def _product_and_sum(made: torch.Tensor, _: Any, a: torch.Tensor, *__: Any) -> Work:
    products = made.numel() * a.shape[-1]
    return products, products, 0


def _sum(made: torch.Tensor, a: torch.Tensor, *_: Any) -> Work:
    return 0, max(0, a.numel() - made.numel()), 0


def _mean(made: torch.Tensor, a: torch.Tensor, *_: Any) -> Work:
    return made.numel(), max(0, a.numel() - made.numel()), 0


def _gradient_rows(made: torch.Tensor, gradient: torch.Tensor, *_: Any) -> Work:
    return 0, gradient.numel(), 0


def _add_rows(made: torch.Tensor, _: Any, __: Any, ___: Any, rows: torch.Tensor) -> Work:
    return 0, rows.numel(), 0


def _put(
    made: Any, target: torch.Tensor, at: Any, _: Any, accumulate: bool = False, *__: Any
) -> Work:
    return 0, torch.ops.aten.index(target, at).numel() if accumulate else 0, 0


def _layer_norm(made: torch.Tensor, _: Any, __: Any, scale: Any, shift: Any, *___: Any) -> Work:
    return made.numel() * (2 + (scale is not None)), made.numel() * (3 + (shift is not None)), 0


def _power(made: torch.Tensor, _: Any, exponent: Any) -> Work:
    if exponent != 2:
        raise NotImplementedError(f"pow: the counter does not know the power {exponent}")
    return made.numel(), 0, 0


def _softmax(made: torch.Tensor, a: torch.Tensor, dim: int, *_: Any) -> Work:
    return made.numel(), _shifted_sums(a, dim), 0


def _softmax_back(made: torch.Tensor, _: Any, out: torch.Tensor, dim: int, *__: Any) -> Work:
    return 2 * made.numel(), _shifted_sums(out, dim), 0


def _shifted_sums(a: torch.Tensor, dim: int) -> int:
    """Additions of one subtraction for each entry and of the sum of each line."""
    return 2 * a.numel() - (a.numel() // a.shape[dim] if a.numel() else 0)


def _each(products: int = 0, sums: int = 0, reads: int = 0) -> Callable[..., Work]:
    def rule(made: torch.Tensor, *_: Any) -> Work:
        return products * made.numel(), sums * made.numel(), reads * made.numel()

    return rule


_NAMES: dict[Callable[..., Work], str] = {
    _product: "mm bmm mv dot",
    _product_and_sum: "addmm baddbmm",
    _sum: "sum",
    _mean: "mean",
    _gradient_rows: "embedding_dense_backward",
    _add_rows: "index_add",
    _put: "index_put _index_put_impl",
    _layer_norm: "native_layer_norm",
    _power: "pow",
    _softmax: "_softmax",
    _softmax_back: "_softmax_backward_data",
    _each(products=1): "mul div reciprocal",
    _each(sums=1): "add sub rsub",
    _each(reads=1): "embedding index index_select gather take",
    _each(): (
        "eye diag_embed squeeze unsqueeze clone copy _to_copy _unsafe_view cat stack detach "
        "lift_fresh constant_pad_nd where full fill zeros ones empty arange zeros_like "
        "ones_like empty_like full_like new_zeros new_empty new_empty_strided empty_strided "
        "new_full new_ones randn rand normal uniform zero masked_fill select_backward "
        "slice_backward repeat roll flip eq ne lt le gt ge any all bitwise_and bitwise_or "
        "bitwise_not logical_and logical_or logical_not logical_xor remainder floor_divide max "
        "min amax amin exp log tanh sqrt relu gelu sigmoid silu rsqrt abs threshold_backward "
        "neg _unique2 unique_dim sort _local_scalar_dense"
    ),
}
_RULES = {name: rule for rule, names in _NAMES.items() for name in names.split()}
