"""Arrays that are nearly another: the same entries in another layout, or with noise.

One mixed moment sees little of an array: tiled, padded with zeros, turned, or with noise at right
angles to it, it may have the same. The mean square of the difference sees all of these.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..seeds import generator

_Layout = Callable[[torch.Tensor, str], torch.Tensor]


def layouts(shape: tuple[int, ...]) -> dict[str, _Layout]:
    """Return the wrong versions of an array of this shape, by name.

    Each takes an array of real or complex numbers and a name for its own random numbers. Axes are
    counted from 0; those of size 1 have no other layout.

    Args:
        shape: of the array.

    Example:
        >>> x = torch.arange(4.0)
        >>> for name in ("tiled", "doubled", "zero-padded"):
        ...     print(layouts((4,))[name](x, "x").tolist())
        [0.0, 1.0, 0.0, 1.0]
        [0.0, 0.0, 1.0, 1.0]
        [0.0, 1.0, 0.0, 0.0]
        >>> sorted(layouts((2, 3)))[:3]
        ['1 % larger', 'another rotation', 'doubled along axis 1']
    """
    found: dict[str, _Layout] = {}
    for axis, size in enumerate(shape):
        along = f" along axis {axis}" if len(shape) > 1 else ""
        for name, make in _along(axis, size).items():
            found[name + along] = make
    if len(shape) > 1 and min(shape[-2:]) > 1:
        found["transposed"] = lambda x, _: x.mT.reshape(x.shape)
    if shape and shape[-1] > 1:
        found["another rotation"] = _rotated
    found["noise of 1 %"] = _noisy
    if torch.Size(shape).numel() > 1:
        found["noise at right angles"] = _orthogonal_noise
    found["sign"] = lambda x, _: -x
    found["1 % larger"] = lambda x, _: 1.01 * x
    return found


def _along(axis: int, size: int) -> dict[str, _Layout]:
    """_Layouts of one axis; those that coincide at this size are given once."""
    half = (size + 1) // 2
    places = torch.arange(size)
    orders = {
        "tiled": places % half,
        "doubled": places // 2,
        "rolled": places.roll(1),
        "reversed": places.flip(0),
    }
    distinct: dict[tuple[int, ...], str] = {tuple(places.tolist()): ""}
    for name, order in orders.items():
        distinct.setdefault(tuple(order.tolist()), name)

    def taken(name: str) -> _Layout:
        return lambda x, _: x.index_select(axis, orders[name].to(x.device))

    found = {name: taken(name) for name in distinct.values() if name}
    if size > 1:
        found["zero-padded"] = lambda x, _: x.index_fill(axis, places[half:].to(x.device), 0)
    return found


def _normal(x: torch.Tensor, shape: tuple[int, ...], name: str) -> torch.Tensor:
    return torch.randn(shape, generator=generator(name), dtype=torch.float64).to(x)


def _rotated(x: torch.Tensor, name: str) -> torch.Tensor:
    square = _normal(x, (x.shape[-1], x.shape[-1]), f"{name} rotation").real
    return x @ torch.linalg.qr(square).Q.to(x)


def _noisy(x: torch.Tensor, name: str) -> torch.Tensor:
    noise = _normal(x, tuple(x.shape), f"{name} noise")
    return x + 0.01 * x.norm() / noise.norm() * noise


def _orthogonal_noise(x: torch.Tensor, name: str) -> torch.Tensor:
    noise = _normal(x, tuple(x.shape), f"{name} orthogonal noise")
    noise = noise - (x.conj() * noise).sum() / (x.conj() * x).sum() * x
    return x + 0.01 * x.norm() / noise.norm() * noise
