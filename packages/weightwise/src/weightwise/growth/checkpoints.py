"""Grow a saved checkpoint, a tensor at a time: of any size, with the memory of its largest tensors.

Every shard of the source becomes one shard of the target, which is written under another name and
renamed once it is whole; the index of several shards comes last, so that nobody loads a part. (A
folder with all weights and no ``config.json`` is loaded, at the sizes that the class has by
default.) A run that was killed is called again and goes on after the last tensor that it wrote.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import torch
from torch import nn

from ..writing import write_whole
from .descriptions import Description, GrowthRefused, described
from .filling import Growth, fill_own
from .growing import begun
from .layers import alike
from .sizes import Sizes, size_name, size_of
from .stock import made
from .verify import GrowthFailed, require_same_function

Progress = Callable[[str, int, int], None]
_INDEX, _PART = "model.safetensors.index.json", ".part"
_CHECKED_WORDS = 256
_KINDS = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".h5", ".msgpack", ".index.json")


class _Tensor(NamedTuple):
    """A tensor of a shard: its key, the one that it is read from, its parameter, and what it is.

    ``name`` is that of the parameter in the large model, ``small`` in the small one; without it the
    tensor belongs to a new layer. ``block`` is an expert's number, which part of its matrix this
    is, and of how many, where the class holds all experts in one parameter.
    """

    key: str
    read: str
    name: str
    small: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    block: tuple[int, int, int] | None = None

    @property
    def size(self) -> int:
        """In bytes."""
        return torch.Size(self.shape).numel() * self.dtype.itemsize


def widen_checkpoint(
    source: str | Path,
    target: str | Path,
    k: int = 1,
    *,
    check: bool = True,
    progress: Progress | None = None,
    description: Description | str | None = None,
    **sizes: Unpack[Sizes],
) -> Path:
    """Grow a saved checkpoint into another folder, the same function.

    The tensors are, bit by bit, those of `grow`. One at a time is in memory, and with ``check`` one
    layer of each kind between both ends, which have the first words of the vocabulary.

    Args:
        source: a folder that ``save_pretrained`` wrote, in safetensors, sharded or not.
        target: the folder to write; new, empty, or what a call that was killed has left, which is
            then gone on with. Tokenizers and the like are copied along.
        k: factor of growth of the stream, as `grow` takes it.
        check: whether these layers are built, grown and compared as `grow` does, before anything
            is written, and their bits held against what is then written.
        progress: called with the name of a shard, how many of its tensors are written, and how many
            there are, after each.
        description, sizes: as `grow` takes them.

    Returns:
        The target.

    Raises:
        TypeError, ValueError: ``k`` and sizes as for `grow`; ``source`` is no such folder;
            ``target`` holds something else.
        GrowthRefused: as `grow`; or a tensor is missing, is none of the class's parameters, or is
            one of several that the library fuses when it loads them, experts excepted.
        GrowthFailed: as `grow`, on these layers.

    Example:
        >>> import tempfile
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> small = GPT2LMHeadModel(GPT2Config(n_embd=8, n_head=2, n_layer=3))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     small.save_pretrained(f"{folder}/small")
        ...     wide = widen_checkpoint(f"{folder}/small", f"{folder}/wide", 2)
        ...     GPT2LMHeadModel.from_pretrained(wide).config.n_embd
        16
    """
    source, target = _folder(source), Path(target)
    if target.resolve() == source.resolve():
        raise ValueError(f"target: got {target}, the source; accepted: another folder")
    shards = _shards(source)
    small = _empty(source, shards, description)
    growth = begun(small, k, sizes, description=description)
    growth.require_rules()
    contents = {path: _contents(path, growth) for path in shards}
    _require_all(source, growth, contents)
    places: dict[str, dict[Any, tuple[Path, str]]] = {}
    for path, tensors in contents.items():
        for it in tensors:
            places.setdefault(it.small, {})[it.block] = path, it.read
    wanted = {}
    if check:
        wanted = require_same_layers(
            small, k, sizes, lambda name, rows: _joined(places[name], rows), {*places}, description
        )
    beside = [
        path for path in source.iterdir()
        if path.is_file() and path.name != "config.json" and not path.name.endswith(_WEIGHTS)
    ]  # fmt: skip
    _make_folder(target, {path.name for path in (*shards, *beside)} | {_INDEX, "config.json"})
    for path in beside:
        shutil.copyfile(path, target / path.name)
    growth.large.config.architectures = small.config.architectures
    write_whole(target / "config.json", growth.large.config.to_json_string())
    asked = {"k": k} | {name: size for name, size in sizes.items() if size is not None}
    said = json.dumps(asked, sort_keys=True)
    for path, tensors in contents.items():
        _write_shard(path, target / path.name, tensors, growth, said, wanted, progress)
    if (source / _INDEX).is_file():
        index = json.loads((source / _INDEX).read_text("utf-8"))
        every = [(tensor, path.name) for path, tensors in contents.items() for tensor in tensors]
        index["metadata"] = {
            "total_parameters": sum(torch.Size(tensor.shape).numel() for tensor, _ in every),
            "total_size": sum(tensor.size for tensor, _ in every),
        }
        index["weight_map"] = {tensor.key: name for tensor, name in every}
        write_whole(target / _INDEX, json.dumps(index, indent=2, sort_keys=True) + "\n")
    return target


def _folder(source: str | Path) -> Path:
    if not isinstance(source, str | Path) or not (Path(source) / "config.json").is_file():
        raise ValueError(f"source: got {source!r}; accepted: the path of one with a config.json")
    return Path(source)


def _make_folder(target: Path, known: set[str]) -> None:
    """Make the target; refuse one that holds what is not ours."""
    target.mkdir(parents=True, exist_ok=True)
    strange = sorted({path.name.removesuffix(_PART) for path in target.iterdir()} - known)
    if strange:
        raise ValueError(
            f"target: got {target} with {strange[0]}; accepted: an empty folder, or what a call "
            "for this source has left"
        )


def _shards(source: Path) -> list[Path]:
    """The files of a checkpoint, in their order."""
    index, alone = source / _INDEX, source / "model.safetensors"
    found = [alone]
    if index.is_file():
        names = json.loads(index.read_text("utf-8"))["weight_map"].values()
        found = [source / name for name in sorted(set(names))]
    for path in found:
        if not path.is_file():
            raise ValueError(
                f"source: got {source} without {path.name}; accepted: one that `save_pretrained` "
                "wrote, in safetensors, all shards there"
            )
        _require_whole(path)
    return found


def _require_whole(path: Path) -> None:
    """Refuse, by its name, a shard that was cut off or is something else."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt"):
            return
    except SafetensorError as error:
        raise ValueError(
            f"source: got {path.name} of {path.stat().st_size} bytes, which does not open: "
            f"{error}; accepted: a shard that was written to its end"
        ) from error


def _empty(source: Path, shards: list[Path], description: Description | str | None) -> Any:
    """The class of a checkpoint, its parameters on the meta device."""
    import transformers
    from safetensors import safe_open

    config = transformers.AutoConfig.from_pretrained(source)
    name = (config.architectures or ["no architecture"])[0]
    kind = getattr(transformers, name, None)
    if kind is None or getattr(config, "quantization_config", None):
        what = name if kind is None else "quantised weights"
        raise GrowthRefused(f"source: got {what}; accepted: a class of transformers, in floats")
    dtype = config.dtype
    if dtype is None:
        with safe_open(shards[0], "pt") as held:
            dtype = held.get_tensor(next(iter(held.keys()))).dtype
    return _made(kind, config, dtype, description)


def _made(
    kind: type, config: Any, dtype: torch.dtype, description: Description | str | None
) -> Any:
    """A class with its buffers as they are loaded, its parameters on the meta device."""
    model = made(kind, config, "cpu").to(dtype).eval()
    fill_own(model, described(model, description), dict(model.named_buffers()))
    return model


def _contents(path: Path, growth: Growth) -> list[_Tensor]:
    """What a shard holds, and what it becomes."""
    from safetensors import safe_open
    from transformers.conversion_mapping import get_model_conversion_mapping
    from transformers.core_model_loading import WeightRenaming, rename_source_key

    model = growth.model
    every = get_model_conversion_mapping(model)
    renamed = [each for each in every if isinstance(each, WeightRenaming)]
    fused = [each for each in every if not isinstance(each, WeightRenaming)]
    names = dict(model.named_parameters(remove_duplicate=False))
    state, prefix = model.state_dict(), model.base_model_prefix
    found = []
    with safe_open(path, "pt") as held:
        for key in held.keys():  # it is no dictionary
            name, pattern = rename_source_key(key, renamed, fused, prefix, state)
            block = _block(key, pattern, fused) if pattern else None
            if (pattern and block is None) or name not in names:
                what = "is one of several that are fused" if pattern else "is no parameter"
                raise GrowthRefused(
                    f"{key}: it {what} of {type(model).__name__}; accepted: a checkpoint with its "
                    "parameters as they are (`grow` takes the loaded model)"
                )
            told = held.get_slice(key)
            dtype = {short: kind for kind, short in _KINDS.items()}.get(told.get_dtype())
            wanted = tuple(names[name].shape)
            if block is not None:
                wanted = wanted[1] // block[2], wanted[2]
            if dtype is None or tuple(told.get_shape()) != wanted:
                raise GrowthRefused(
                    f"{key}: got {told.get_dtype()} {tuple(told.get_shape())}; accepted: floats of "
                    f"16 bits or more, {wanted}"
                )
            for place in growth.first:
                old, between = growth.origin(place)
                if old == name:
                    shape = tuple(growth.large.get_parameter(place).shape)
                    if block is not None:
                        shape = shape[1] // block[2], shape[2]
                    own, old = _renamed(key, name, place), "" if between else name
                    found.append(_Tensor(own, key, place, old, shape, dtype, block))
    return found


def _block(key: str, pattern: str, fused: list[Any]) -> tuple[int, int, int] | None:
    """Which expert's tensor a key is, which part of its matrix, and of how many.

    None where it is something else that the library fuses.
    """
    converter = next(each for each in fused if pattern in each.source_patterns)
    every = [(type(each).__name__, getattr(each, "dim", None)) for each in converter.operations]
    number = re.search(re.escape(pattern).replace(r"\*", r"(\d+)"), key)
    parts = len(converter.source_patterns)
    if number is None or every != [("MergeModulelist", 0), ("Concatenate", 1)][: min(parts, 2)]:
        return None
    return int(number[1]), converter.source_patterns.index(pattern), parts


def _renamed(key: str, name: str, place: str) -> str:
    """A key of a shard with the number of another layer, as its parameter has it in its name."""
    if name == place:
        return key
    parts = list(zip(name.split("."), place.split("."), strict=True))
    first = next(at for at, (old, new) in enumerate(parts) if old != new)
    stack, (old, new) = parts[first - 1][0], parts[first]
    found, count = re.subn(rf"((?:^|\.){stack}\.){old}\.", rf"\g<1>{new}.", key)
    if count != 1:
        raise GrowthRefused(
            f"layers: got {key}, another name than its parameter's, {name}; accepted: None (`grow` "
            "takes the loaded model)"
        )
    return found


def _require_all(source: Path, growth: Growth, contents: dict[Path, list[_Tensor]]) -> None:
    """Check that every parameter is there, and under one number where it is there twice."""
    held: dict[str, dict[Any, tuple[Path, str]]] = {}
    for path, tensors in contents.items():
        for it in tensors:
            here = held.setdefault(growth.first[it.name], {})
            place = here.setdefault(it.block, (path, it.read))
            if place != (path, it.read) and not torch.equal(_read(path, it.read), _read(*place)):
                raise GrowthRefused(
                    f"{it.key}: it is not {place[1]}, to which the configuration ties it; "
                    "accepted: equal numbers, or tie_word_embeddings=False"
                )
    for name in sorted(set(growth.first.values())):
        found = [*held.get(name, {})]
        count = len(growth.large.get_parameter(name)) * found[0][2] if found and found[0] else 1
        if len(found) < count:
            what = name if count == 1 else f"{count - len(found)} of {count} tensors of {name}"
            raise GrowthRefused(f"source: got {source} without {what}; accepted: all parameters")


def _read(path: Path, key: str, rows: int | None = None) -> torch.Tensor:
    """A tensor of a shard, or its first rows."""
    from safetensors import safe_open

    with safe_open(path, "pt") as held:
        found: torch.Tensor = held.get_slice(key)[:rows]
    return found


def _joined(parts: dict[Any, tuple[Path, str]], rows: int) -> torch.Tensor:
    """A parameter's first rows; all of one that holds experts, of which each has its tensors."""
    if None in parts:
        return _read(*parts[None], rows)
    count = 1 + max(number for number, *_ in parts)
    return torch.stack([
        torch.cat([_read(*parts[block]) for block in sorted(parts) if block[0] == number])
        for number in range(count)
    ])  # fmt: skip


def require_same_layers(
    small: Any,
    k: int,
    sizes: Mapping[str, Any],
    read: Callable[[str, int], torch.Tensor],
    names: set[str],
    description: Description | str | None = None,
) -> dict[str, tuple[int, str]]:
    """Grow one layer of each kind between both ends as `grow` does, and compare.

    Of the vocabulary the first words alone: each row of a table or of a head acts by itself.

    Args:
        small: the model, its parameters on the meta device.
        k, sizes, description: as `begun` takes them.
        read: returns the first rows, so many, of a parameter, which is one of ``names``.

    Returns:
        By name of a parameter, how many rows were grown and what they are.

    Raises:
        GrowthFailed: another function.
    """
    config = copy.deepcopy(small.config)
    least = 1 + (getattr(config, "pad_token_id", None) or 0)
    setattr(config, size_name(config, "vocabulary") or "_",
            min(size_of(config, "vocabulary") or 0, max(least, _CHECKED_WORDS)))  # fmt: skip
    if sizes.get("vocabulary"):
        sizes = {**sizes, "vocabulary": size_of(config, "vocabulary") + 1}
    model = _made(type(small), config, small.dtype, description)
    found = described(model, description)
    passed = alike(model, found, lengthened=bool(sizes.get("layers")))
    own = dict(model.named_parameters(remove_duplicate=False))
    loaded = {
        own[name]: nn.Parameter(read(name, own[name].shape[0]))
        for name in filter(names.__contains__, own)
        if not any(name.startswith(f"{layer}.") for layer in passed)
    }
    for name, parameter in own.items():
        if parameter in loaded:
            path, _, leaf = name.rpartition(".")
            setattr(model.get_submodule(path), leaf, loaded[parameter])
    growth = begun(model, k, sizes, description=description)
    growth.fill()
    require_same_function(growth)
    grown = {name: growth.large.get_parameter(growth.place[name]) for name in own}
    rows = {name: len(it) - growth.new_words * growth.has_words(name) for name, it in grown.items()}
    return {name: (rows[name], _digest(it[: rows[name]]))
            for name, it in grown.items() if not it.is_meta}  # fmt: skip


def _write_shard(
    source: Path,
    target: Path,
    tensors: list[_Tensor],
    growth: Growth,
    sizes: str,
    wanted: dict[str, tuple[int, str]],
    progress: Progress | None,
) -> None:
    """Write a shard under another name, from where it was left, and rename it once it is whole."""
    header = _header(source, tensors, sizes)
    if target.is_file():
        size = len(header) + sum(tensor.size for tensor in tensors)
        with target.open("rb") as held:
            if held.read(len(header)) == header and target.stat().st_size == size:
                return
        raise ValueError(
            f"target: got {target} of another source, k or size; accepted: an empty folder, or "
            "what a call for this source and these sizes has left"
        )
    part = target.with_name(target.name + _PART)
    part.touch()
    with part.open("r+b") as out:
        if out.read(len(header)) != header:
            out.seek(0)
            out.truncate()
            out.write(header)
        place, done = len(header), part.stat().st_size
        for count, tensor in enumerate(tensors, 1):
            follower = tensors[count].size if count < len(tensors) else 1
            # the last that looks whole is written again: its end may not have reached the disk
            if place + tensor.size + follower > done:
                value = _grown(source, tensor, growth)
                rows, digest = 0, _digest(value[:0])
                if tensor.block is None:
                    rows, digest = wanted.get(tensor.small, (rows, digest))
                if _digest(value[:rows]) != digest:
                    raise GrowthFailed(f"{tensor.key}: it is not, bit by bit, what `grow` makes")
                out.seek(place)
                out.truncate()
                out.write(_bytes(value))
                out.flush()
                os.fsync(out.fileno())
            place += tensor.size
            if progress is not None:
                progress(target.name, count, len(tensors))
    part.replace(target)


def _grown(source: Path, tensor: _Tensor, growth: Growth) -> torch.Tensor:
    value = _read(source, tensor.read)
    rule = growth.of(tensor.name, value) if tensor.block is None else (
        growth.gathered(tensor.name).block(*tensor.block, value)
    )  # fmt: skip
    return rule.into(torch.empty(tensor.shape, dtype=tensor.dtype))


def _header(source: Path, tensors: list[_Tensor], sizes: str) -> bytes:
    """The beginning of a file of safetensors; it says what the tensors were grown from."""
    with source.open("rb") as held:
        digest = hashlib.file_digest(held, "sha256").hexdigest()
    told: dict[str, Any] = {"__metadata__": {"format": "pt", "grown_from": digest, "sizes": sizes}}
    place = 0
    for tensor in tensors:
        told[tensor.key] = {
            "dtype": _KINDS[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [place, place + tensor.size],
        }
        place += tensor.size
    text = json.dumps(told, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _bytes(value: torch.Tensor) -> memoryview:
    plain: Any = value.detach().contiguous().reshape(-1).view(torch.uint8).numpy()
    return memoryview(plain)


def _digest(value: torch.Tensor) -> str:
    return hashlib.sha256(_bytes(value)).hexdigest()
