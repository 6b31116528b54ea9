"""Operations counted while they run: multiplications, additions, reads and memory.

    with Count() as count:
        embedding(tokens)
    count.multiplications, count.reads, count.peak

A count is taken from the torch calls that really happen, with the shapes that they really have. A
call that the counter does not know raises an error, so that no work is left uncounted in silence.
Not counted: arithmetic on whole numbers (where an index comes from), functions of a single number
(`exp`, `gelu`), copies and draws.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

Work = tuple[int, int, int]  # multiplications, additions, reads


class Count(TorchDispatchMode):
    """Counts what torch does between ``with Count() as count:`` and the end of the block.

    Attributes:
        multiplications: products of two numbers; a division counts as one.
        additions: sums of two numbers, those inside a matrix product among them.
        reads: entries taken from a table by an index (``table[rows]``, `F.embedding`).
        largest: entries of the largest tensor that a call made.
        peak: bytes alive at the same time at most, of those allocated inside the block.
        calls: how often each of torch's functions was called, views among them, by name: ``"mul"``.

    Raises:
        NotImplementedError: a call inside the block whose work the counter does not know.
    """

    def __init__(self) -> None:
        super().__init__()
        self.multiplications = self.additions = self.reads = 0
        self.largest = self.peak = self._alive = 0
        self.calls: Counter[str] = Counter()
        self._storages: set[int] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        name = str(func.overloadpacket).removeprefix("aten.").removesuffix("_")
        rule = _RULES.get(name)
        if rule is None and not func.is_view:
            raise NotImplementedError(f"{func}: the counter does not know what this call costs")
        self.calls[name] += 1
        before = _storages(args)
        made = func(*args, **(kwargs or {}))
        tensors = [t for t in made if t is not None] if isinstance(made, tuple | list) else [made]
        if rule is not None:
            work = rule(tensors[0], *args) if _is_real(tensors[0]) else (0, 0, 0)
            self.multiplications += work[0]
            self.additions += work[1]
            self.reads += work[2]
            self._note([t for t in tensors if isinstance(t, torch.Tensor)], before)
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


def _storages(args: tuple) -> set[int]:
    return {a.untyped_storage()._cdata for a in args if isinstance(a, torch.Tensor)}


def _is_real(made: Any) -> bool:
    return isinstance(made, torch.Tensor) and made.is_floating_point()


def _product(made: torch.Tensor, a: torch.Tensor, *_: Any) -> Work:
    products = made.numel() * a.shape[-1]
    return products, products - made.numel(), 0


def _product_and_sum(made: torch.Tensor, _: Any, a: torch.Tensor, *__: Any) -> Work:
    products = made.numel() * a.shape[-1]
    return products, products, 0


def _sum(made: torch.Tensor, a: torch.Tensor, *_: Any) -> Work:
    return 0, a.numel() - made.numel(), 0


def _mean(made: torch.Tensor, a: torch.Tensor, *_: Any) -> Work:
    return made.numel(), a.numel() - made.numel(), 0


def _scatter(made: torch.Tensor, target: Any, *rest: Any) -> Work:
    values = [a for a in (target, *rest) if _is_real(a)]
    return 0, (values[-1] if len(values) > 1 else values[0]).numel(), 0


def _each(products: int = 0, sums: int = 0, reads: int = 0) -> Callable[..., Work]:
    def rule(made: torch.Tensor, *_: Any) -> Work:
        return tuple(count * made.numel() for count in (products, sums, reads))

    return rule


_NAMES: dict[Callable[..., Work], str] = {
    _product: "mm bmm mv dot",
    _product_and_sum: "addmm baddbmm",
    _sum: "sum",
    _mean: "mean",
    _scatter: "embedding_dense_backward index_add index_put _index_put_impl",
    _each(products=1): "mul div reciprocal pow",
    _each(sums=1): "add sub neg rsub _softmax_backward_data",
    _each(products=1, sums=1): "_softmax",
    _each(products=3, sums=3): "native_layer_norm",
    _each(reads=1): "embedding index index_select gather take",
    _each(): (
        "eye diag_embed squeeze unsqueeze clone copy _to_copy _unsafe_view cat stack detach "
        "lift_fresh constant_pad_nd where full fill zeros ones empty arange zeros_like "
        "ones_like empty_like full_like new_zeros new_empty new_empty_strided empty_strided "
        "new_full new_ones randn rand normal uniform zero masked_fill select_backward "
        "slice_backward repeat roll flip eq ne lt le gt ge any all bitwise_and bitwise_or "
        "bitwise_not logical_and logical_or logical_not logical_xor remainder floor_divide max "
        "min amax amin exp log tanh sqrt relu gelu sigmoid silu rsqrt abs threshold_backward "
        "native_dropout _unique2 unique_dim sort _local_scalar_dense"
    ),
}
_RULES = {name: rule for rule, names in _NAMES.items() for name in names.split()}
