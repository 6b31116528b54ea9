"""Grow a checkpoint of `torch.distributed.checkpoint`, each process its rows of each tensor."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

import torch

from .checkpoints import require_first_layers
from .descriptions import Description, GrowthRefused
from .filling import make_frequencies
from .growing import begun
from .sizes import Sizes


def widen_distributed(
    source: str | Path,
    target: str | Path,
    small: Any,
    k: int = 1,
    *,
    check: bool = True,
    prefix: str = "",
    description: Description | str | None = None,
    **sizes: Unpack[Sizes],
) -> Any:
    """Grow a checkpoint that torch's own ``save`` wrote into another, the same function.

    Every process calls it. The tensors are, bit by bit, those of `grow`; a process holds one small
    tensor at a time, and its share of the rows of all the large ones until they are written.

    Args:
        source: a folder that ``torch.distributed.checkpoint.save`` wrote, of a state dict.
        target: the folder to write.
        small: the model, as its class makes it; no number of it is read, so that it may be on the
            meta device.
        k: factor of growth of the stream, as `grow` takes it.
        check: whether each process grows the first two layers and compares them, as
            `widen_checkpoint` does.
        prefix: what stands before a parameter's name in the checkpoint, such as ``"model."``.
        description, sizes: as `grow` takes them.

    Returns:
        The configuration of the large model.

    Raises:
        TypeError, ValueError: ``k`` and sizes as for `grow`; ``target`` is the source.
        GrowthRefused: as `grow`; or a tensor is missing, or has another shape.
        GrowthFailed: as `grow`, on the first layers.
    """
    import torch.distributed as dist
    from torch.distributed.checkpoint.filesystem import FileSystemReader
    from torch.distributed.checkpoint.state_dict_loader import load
    from torch.distributed.checkpoint.state_dict_saver import save
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Shard

    if Path(source).resolve() == Path(target).resolve():
        raise ValueError(f"target: got {target}, the source; accepted: another folder")
    growth = begun(small, k, sizes, description=description)
    growth.require_rules()
    make_frequencies(growth.large, growth.description, "cpu")
    held = FileSystemReader(source).read_metadata().state_dict_metadata
    own = dict(small.named_parameters(remove_duplicate=False))
    for name, parameter in own.items():
        found = getattr(held.get(prefix + name), "size", None)
        alone = growth.first[growth.place[name]] == growth.place[name]
        if found != parameter.shape and (alone or found is not None):
            got = "no such tensor" if found is None else f"{tuple(found)}"
            raise GrowthRefused(
                f"{prefix}{name}: got {got}; accepted: {tuple(parameter.shape)}, under this name"
            )

    def read(name: str, rows: int | None = None) -> torch.Tensor:
        value = torch.empty(own[name].shape, dtype=own[name].dtype)
        load({prefix + name: value}, checkpoint_id=source)
        return value[:rows]

    if check:
        names = {name for name in own if prefix + name in held}
        require_first_layers(small, k, sizes, read, names, description)
    count = dist.get_world_size()
    mesh, place = init_device_mesh("cpu", (count,)), dist.get_rank()
    state = {}
    for name in growth.first:
        old = growth.origin(name)[0]
        if prefix + old in held:
            rule = growth.of(name, read(old))
            each = -(-rule.shape[0] // count)  # rows of a process, as `Shard` cuts them
            part = rule.rows(torch.arange(rule.shape[0])[each * place : each * (place + 1)])
            local = part.into(torch.empty(part.shape, dtype=rule.value.dtype))
            empty = torch.empty(rule.shape, device="meta")
            state[prefix + name] = DTensor.from_local(
                local, mesh, [Shard(0)], run_check=False, shape=empty.shape, stride=empty.stride()
            )
    save(state, checkpoint_id=target)
    return growth.large.config
