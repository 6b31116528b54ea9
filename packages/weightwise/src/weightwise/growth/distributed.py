"""Grow a checkpoint of `torch.distributed.checkpoint`, each process its rows of each tensor.

It is written in parts, each a checkpoint of its own in a folder of the target, which is whole once
torch has written its ``.metadata``. That of the target, which names what lies in all parts, comes
last. A run that was killed is called again and leaves the parts alone that are whole.
"""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Unpack

import torch

from ..writing import write_whole
from .checkpoints import require_same_layers
from .descriptions import Description, GrowthRefused
from .filling import Growth
from .growing import begun
from .sizes import Sizes

_WHOLE, _TOLD = ".metadata", "grown_from.json"
_BYTES = 2**30  # of a part, or one tensor


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
    tensor at a time, and its share of the rows of a gigabyte of large ones. Called again after a
    kill, by as many processes or others, it goes on after the last part that was whole.

    Args:
        source: a folder that ``torch.distributed.checkpoint.save`` wrote, of a state dict.
        target: the folder to write, which all processes see; new, empty, or what a call that was
            killed has left.
        small: the model, as its class makes it; no number of it is read, so that it may be on the
            meta device.
        k: factor of growth of the stream, as `grow` takes it.
        check: whether each process grows one layer of each kind and compares them, as
            `widen_checkpoint` does.
        prefix: what stands before a parameter's name in the checkpoint, such as ``"model."``.
        description, sizes: as `grow` takes them.

    Returns:
        The configuration of the large model.

    Raises:
        TypeError, ValueError: ``k`` and sizes as for `grow`; ``target`` is the source, or holds
            something else.
        GrowthRefused: as `grow`; or a tensor is missing, or has another shape.
        GrowthFailed: as `grow`, on these layers.
    """
    import torch.distributed as dist
    from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
    from torch.distributed.checkpoint.state_dict_loader import load
    from torch.distributed.checkpoint.state_dict_saver import save
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Shard

    if Path(source).resolve() == Path(target).resolve():
        raise ValueError(f"target: got {target}, the source; accepted: another folder")
    asked = {"k": k} | {name: size for name, size in sizes.items() if size is not None}
    origin = hashlib.sha256((Path(source) / _WHOLE).read_bytes()).hexdigest()
    told = json.dumps({"grown_from": origin, **asked}, sort_keys=True)
    _require_own(Path(target), told)
    growth = begun(small, k, sizes, description=description)
    growth.require_rules()
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

    here = {name for name in own if prefix + name in held}
    if check:
        require_same_layers(small, k, sizes, read, here, description)
    dist.barrier()  # all have looked at the target
    count, place = dist.get_world_size(), dist.get_rank()
    if place == 0:
        Path(target).mkdir(parents=True, exist_ok=True)
        write_whole(Path(target) / _TOLD, told)
    mesh = init_device_mesh("cpu", (count,))
    parts = [*_parts(growth, here)]
    for number, names in enumerate(parts):
        state = {}
        folder = Path(target) / f"part-{number}"
        for name in names if not (folder / _WHOLE).is_file() else []:
            rule = growth.of(name, read(growth.origin(name)[0]))
            each = -(-rule.shape[0] // count)  # rows of a process, as `Shard` cuts them
            part = rule.rows(torch.arange(rule.shape[0])[each * place : each * (place + 1)])
            local = part.into(torch.empty(part.shape, dtype=rule.value.dtype))
            empty = torch.empty(rule.shape, device="meta")
            state[prefix + name] = DTensor.from_local(
                local, mesh, [Shard(0)], run_check=False, shape=empty.shape, stride=empty.stride()
            )
        dist.barrier()  # all have seen whether the part was whole
        if state:
            save(state, storage_writer=FileSystemWriter(folder))
    if place == 0:
        _write_metadata(Path(target), len(parts))
    dist.barrier()
    return growth.large.config


def _require_own(target: Path, told: str) -> None:
    """Refuse a target that holds what a call for this source and these sizes has not left."""
    own = target / _TOLD
    if (own.read_text("utf-8") != told) if own.is_file() else any(target.glob("*")):
        raise ValueError(
            f"target: got {target}, which holds something else; accepted: an empty folder, or what "
            "a call for this source and these sizes has left"
        )


def _parts(growth: Growth, held: set[str]) -> Iterator[list[str]]:
    """Names of the large parameters that have one in the checkpoint, so many as make a part."""
    part, size = list[str](), 0
    for name in growth.first:
        if growth.origin(name)[0] in held:
            large = growth.large.get_parameter(name)
            if part and size + large.nbytes > _BYTES:
                yield part
                part, size = [], 0
            part.append(name)
            size += large.nbytes
    yield part


def _write_metadata(target: Path, parts: int) -> None:
    """Say where each tensor lies, in one file for all parts."""
    from torch.distributed.checkpoint.filesystem import FileSystemReader

    whole, *others = (
        FileSystemReader(target / f"part-{number}").read_metadata() for number in range(parts)
    )
    for number, each in enumerate([whole, *others]):
        for stored in each.storage_data.values():
            stored.relative_path = f"part-{number}/{stored.relative_path}"
        for kind in ("state_dict_metadata", "storage_data", "planner_data"):
            getattr(whole, kind).update(getattr(each, kind))
    write_whole(target / _WHOLE, pickle.dumps(whole))
