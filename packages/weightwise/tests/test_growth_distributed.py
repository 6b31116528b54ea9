"""`widen_distributed`: the manual's script in two processes, and bit by bit what `grow` makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.distributed.checkpoint.state_dict_saver as saving
from growth_models import model
from torch.distributed.checkpoint.api import CheckpointException

from weightwise import GrowthRefused, grow
from weightwise.growth import distributed, widen_distributed


@pytest.fixture
def one_process(tmp_path: Path) -> Any:
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/met", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.usefixtures("one_process")
@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("Llama, tied, biases, head size 6, eager", {"k": 2, "layers": 3}),
        ("Phi-3, untied", {"k": 3}),
        ("GPT-2, tied", {"k": 2, "heads": 6}),
    ],
)
def test_it_writes_what_grow_makes(kind: str, sizes: dict[str, int], tmp_path: Path) -> None:
    small = model(kind, dtype=torch.float32)
    state = {f"model.{name}": it for name, it in small.named_parameters(remove_duplicate=False)}
    dcp.save(state, checkpoint_id=tmp_path / "small")
    with torch.device("meta"):
        alike = type(small)(small.config)
    config = widen_distributed(
        tmp_path / "small", tmp_path / "wide", alike, prefix="model.", **sizes
    )
    large = grow(small, **sizes)
    assert config.to_dict() == large.config.to_dict()
    for name, value in large.named_parameters(remove_duplicate=False):
        found = torch.empty_like(value)
        dcp.load({f"model.{name}": found}, checkpoint_id=tmp_path / "wide")
        assert torch.equal(found, value), name


@pytest.mark.canary
@pytest.mark.usefixtures("one_process")
def test_it_goes_on_after_the_last_whole_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, source, target = model("GPT-2, tied"), tmp_path / "small", tmp_path / "wide"
    dcp.save(dict(small.named_parameters()), checkpoint_id=source)
    monkeypatch.setattr(distributed, "_BYTES", 4000)
    true, written, most = saving.save, list[Path](), 2

    def save(state: Any, *, storage_writer: Any) -> None:
        if len(written) == most:  # of the third part, its tensors are there and no more
            true(state, storage_writer=storage_writer)
            (storage_writer.path / ".metadata").unlink()
            raise KeyboardInterrupt
        written.append(storage_writer.path)
        true(state, storage_writer=storage_writer)

    monkeypatch.setattr(saving, "save", save)
    with pytest.raises(KeyboardInterrupt):
        widen_distributed(source, target, small, 2, check=False)
    with pytest.raises(CheckpointException, match=r"wide/\.metadata"):
        dcp.load({"transformer.wte.weight": torch.empty(19, 24)}, checkpoint_id=target)
    with pytest.raises(ValueError, match=r"target: got .*, which holds something else; accepted"):
        widen_distributed(source, target, small, 3, check=False)
    first, most = written.copy(), 99
    widen_distributed(source, target, small, 2, check=False)
    assert len(first) == 2 and len(set(written)) == len(written) > 4
    for name, value in grow(small, 2).named_parameters():
        found = torch.empty_like(value)
        dcp.load({name: found}, checkpoint_id=target)
        assert torch.equal(found, value), name


@pytest.mark.canary
@pytest.mark.usefixtures("one_process")
def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    small = model("GPT-2, tied", dtype=torch.float32)
    state = dict(small.named_parameters())
    state.pop("transformer.ln_f.bias")
    dcp.save(state, checkpoint_id=tmp_path / "small")
    with pytest.raises(GrowthRefused, match=r"ln_f\.bias: got no such tensor; accepted: \(12,\)"):
        widen_distributed(tmp_path / "small", tmp_path / "wide", small, 2)
    with pytest.raises(ValueError, match=r"target: got .*, the source; accepted: another folder"):
        widen_distributed(tmp_path, tmp_path, small, 2)
