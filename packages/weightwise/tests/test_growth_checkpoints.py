"""`widen_checkpoint`: bit by bit what `grow` makes, and whole again after every kill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from growth_models import EVERY, model, transformers

from weightwise import GrowthFailed, GrowthRefused, grow, widen_checkpoint
from weightwise.command_line import main
from weightwise.growth import checkpoints, describe

load_file = pytest.importorskip("safetensors.torch").load_file

KINDS = [kind for kind in EVERY if "Class" not in kind]


def saved(kind: str, folder: Path, dtype: torch.dtype = torch.float32, **options: Any) -> Any:
    small = model(kind, dtype=dtype)
    small.save_pretrained(folder, **options)
    return type(small).from_pretrained(folder).eval()


def tensors(folder: Path) -> dict[str, torch.Tensor]:
    return {
        key: value
        for path in sorted(folder.glob("*.safetensors"))
        for key, value in load_file(path).items()
    }


def assert_same(one: Path, other: Path) -> None:
    ours, theirs = tensors(one), tensors(other)
    assert ours.keys() == theirs.keys()
    for key, value in ours.items():
        assert value.dtype == theirs[key].dtype and torch.equal(value, theirs[key]), key
    configs = [json.loads((path / "config.json").read_text("utf-8")) for path in (one, other)]
    assert configs[0] == configs[1]


@pytest.mark.parametrize("kind", KINDS)
def test_it_writes_what_grow_makes_bit_by_bit(kind: str, tmp_path: Path) -> None:
    dtype = torch.bfloat16 if "Gemma" in kind or "GPT-2" in kind else torch.float32
    small = saved(kind, tmp_path / "small", dtype)
    grow(small, 3, check=False).save_pretrained(tmp_path / "grown")
    widen_checkpoint(tmp_path / "small", tmp_path / "wide", 3)
    assert_same(tmp_path / "wide", tmp_path / "grown")
    again = type(small).from_pretrained(tmp_path / "wide")
    assert again.config.hidden_size == 3 * small.config.hidden_size


def test_a_class_that_is_described_is_written_as_well(tmp_path: Path) -> None:
    config = transformers.StableLmConfig(
        vocab_size=300, hidden_size=16, intermediate_size=20, num_hidden_layers=3,
        num_attention_heads=2, num_key_value_heads=2, tie_word_embeddings=True,
    )  # fmt: skip
    small = transformers.StableLmForCausalLM(config)
    small.save_pretrained(tmp_path / "small")
    draft = describe(small)
    grow(small, 2, description=draft).save_pretrained(tmp_path / "grown")
    widen_checkpoint(tmp_path / "small", tmp_path / "wide", 2, description=draft)
    assert_same(tmp_path / "wide", tmp_path / "grown")


def test_shards_stay_shards_and_what_lies_beside_is_copied(tmp_path: Path) -> None:
    small = saved("Llama, untied", tmp_path / "small", max_shard_size="4KB")
    (tmp_path / "small/tokenizer_config.json").write_text("{}", encoding="utf-8")
    seen: list[tuple[str, int, int]] = []
    folders = [str(tmp_path / "small"), str(tmp_path / "wide")]
    assert main(["widen", *folders, "--stream", "2"]) == 0
    widen_checkpoint(tmp_path / "small", tmp_path / "wide", 2)  # whole: nothing is left to do
    widen_checkpoint(tmp_path / "small", tmp_path / "other", 2, progress=partial(told, seen))
    names = [path.name for path in (tmp_path / "small").iterdir()]
    assert len([name for name in names if name.endswith("safetensors")]) > 2
    for folder in ("wide", "other"):
        assert sorted(path.name for path in (tmp_path / folder).iterdir()) == sorted(names)
    assert len(seen) == len(tensors(tmp_path / "small"))
    grow(small, 2).save_pretrained(tmp_path / "grown")
    assert_same(tmp_path / "wide", tmp_path / "grown")
    index = json.loads((tmp_path / "wide/model.safetensors.index.json").read_text("utf-8"))
    sizes = [value.nbytes for value in tensors(tmp_path / "wide").values()]
    assert index["metadata"]["total_size"] == sum(sizes)


def told(seen: list[tuple[str, int, int]], *it: Any) -> None:
    seen.append(it)  # type: ignore[arg-type]


KILLED = """
import os, resource, signal, sys
from pathlib import Path
from weightwise import widen_checkpoint
from weightwise.command_line import main
from weightwise.growth import checkpoints, describe

source, root = Path(sys.argv[1]), Path(sys.argv[2])
real = checkpoints.os.fsync

def killed(place):
    limit, calls = place
    if limit:  # the kernel ends the process in the middle of a write
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    count = 0
    def counted(file):
        nonlocal count
        count += 1
        if count == calls:
            os.kill(os.getpid(), signal.SIGKILL)
        real(file)
    checkpoints.os.fsync = counted
    widen_checkpoint(source, root / f"{limit}-{calls}", 2, check=False)

widen_checkpoint(source, root / "whole", 2, check=False)  # imports what the children then have
for place in eval(sys.argv[3]):
    child = os.fork()
    if not child:
        killed(place)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) in (-signal.SIGXFSZ, -signal.SIGKILL)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_run_that_was_killed_goes_on_and_nothing_half_is_taken_for_whole(tmp_path: Path) -> None:
    small = saved("Llama, untied", tmp_path / "small", max_shard_size="4KB")
    grow(small, 2).save_pretrained(tmp_path / "grown")
    writes = len(tensors(tmp_path / "small")) + 2  # the index, and the configuration
    places = [(limit, 0) for limit in (1000, 1500, 3000, 5000, 7000)]
    places += [(0, calls) for calls in (1, 2, writes // 2, writes - 1, writes)]
    subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path / "small", tmp_path, repr(places)], check=True
    )
    whole = {path.name for path in (tmp_path / "small").iterdir()}
    for limit, calls in places:
        folder = tmp_path / f"{limit}-{calls}"
        with pytest.raises(OSError):
            type(small).from_pretrained(folder)
        for path in folder.glob("*.safetensors"):
            load_file(path)  # what has its name is whole
        left = {path.name: path.read_bytes() for path in folder.iterdir()}
        redone: list[tuple[str, int, int]] = []
        widen_checkpoint(tmp_path / "small", folder, 2, progress=partial(told, redone))
        assert_same(folder, tmp_path / "grown")
        assert {path.name for path in folder.iterdir()} == whole
        done = {name for name in left if name.endswith(".safetensors")}
        assert not done & {name for name, *_ in redone}  # whole shards are not written again


def test_a_shard_goes_on_where_it_was_left(tmp_path: Path) -> None:
    saved("GPT-2, tied", tmp_path / "small")
    source, written = tmp_path / "small", []

    class Stop(Exception):
        pass

    def stop(_: str, done: int, __: int) -> None:
        if done == 9:
            raise Stop

    with pytest.raises(Stop):
        widen_checkpoint(source, tmp_path / "wide", 2, progress=stop)
    kept = checkpoints._grown
    part = tmp_path / "wide/model.safetensors.part"
    assert part.exists()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "_grown", lambda *it: written.append(it[1].key) or kept(*it))
        widen_checkpoint(source, tmp_path / "wide", 2)
    assert 0 < len(written) == len(tensors(source)) - 8  # the last is written again


@pytest.mark.canary
def test_folders_that_are_not_ours_are_refused(tmp_path: Path) -> None:
    small = saved("BERT, ReLU, untied", tmp_path / "small")
    wide = tmp_path / "wide"
    for source in (None, "nowhere", 3):
        with pytest.raises(ValueError, match=r"source: got .*; accepted: the path of one with a"):
            widen_checkpoint(source, wide, 2)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"k: got 2.5; accepted: an integer of at least 2"):
        widen_checkpoint(tmp_path / "small", wide, 2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"target: got .*, the source; accepted: another folder"):
        widen_checkpoint(tmp_path / "small", tmp_path / "small", 2)
    widen_checkpoint(tmp_path / "small", wide, 2)
    with pytest.raises(ValueError, match=r"target: got .* of another source, k or size; accepted"):
        widen_checkpoint(tmp_path / "small", wide, 3)
    (wide / "other.safetensors").touch()
    with pytest.raises(ValueError, match=r"target: got .* with other\.safetensors; accepted: an"):
        widen_checkpoint(tmp_path / "small", wide, 2)
    value = tensors(tmp_path / "small")
    path = tmp_path / "small/model.safetensors"
    from safetensors.torch import save_file

    for key, change, says in (
        ("bert.pooler.dense.weight", torch.ones(3), "it is no parameter of BertForMaskedLM"),
        ("bert.embeddings.LayerNorm.bias", torch.ones(3), r"got F32 \(3,\); accepted: floats of"),
        ("bert.embeddings.LayerNorm.bias", torch.ones(12, dtype=torch.int8), "got I8"),
        ("bert.embeddings.LayerNorm.bias", None, "without bert.embeddings.LayerNorm.bias; acc"),
    ):
        changed = {name: it for name, it in (value | {key: change}).items() if it is not None}
        save_file(changed, path)
        with pytest.raises(GrowthRefused, match=says):
            widen_checkpoint(tmp_path / "small", tmp_path / "new", 2)
    path.unlink()
    with pytest.raises(ValueError, match=r"source: got .* without model\.safetensors; accepted"):
        widen_checkpoint(tmp_path / "small", tmp_path / "new", 2)
    assert main(["widen", str(tmp_path / "small"), str(tmp_path / "new"), "--stream", "2"]) == 1
    saved("Mixtral, tied", tmp_path / "mixture")
    value = tensors(tmp_path / "mixture")
    del value["model.layers.0.block_sparse_moe.experts.1.w3.weight"]
    save_file(value, tmp_path / "mixture/model.safetensors")
    says = (
        r"without 1 of \d+ tensors of model\.layers\.0\.mlp\.experts\.gate_up_proj; accepted: all"
    )
    with pytest.raises(GrowthRefused, match=says):
        widen_checkpoint(tmp_path / "mixture", tmp_path / "new", 2)
    assert small is not None and not (tmp_path / "new").exists()


@pytest.mark.canary
def test_a_tie_that_the_file_does_not_keep_is_refused(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    saved("GPT-2, tied", tmp_path / "small")
    value = tensors(tmp_path / "small")
    head = {"lm_head.weight": value["transformer.wte.weight"].clone()}
    path = tmp_path / "small/model.safetensors"
    save_file(value | head, path)
    widen_checkpoint(tmp_path / "small", tmp_path / "wide", 2)
    head["lm_head.weight"][0] += 1
    save_file(value | head, path)
    with pytest.raises(GrowthRefused, match="to which the configuration ties it; accepted: equal"):
        widen_checkpoint(tmp_path / "small", tmp_path / "new", 2)


@pytest.mark.canary
def test_what_is_written_is_held_against_what_grow_makes(tmp_path: Path) -> None:
    saved("GPT-2, tied", tmp_path / "small")
    kept = checkpoints._grown

    def wrong(*given: Any) -> torch.Tensor:
        found = kept(*given)
        return found.neg() if given[1].key.endswith("h.0.mlp.c_fc.weight") else found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "_grown", wrong)
        with pytest.raises(GrowthFailed, match="not, bit by bit, what `grow` makes"):
            widen_checkpoint(tmp_path / "small", tmp_path / "wide", 2)
    assert not (tmp_path / "wide/model.safetensors").exists() and os.listdir(tmp_path / "wide")
