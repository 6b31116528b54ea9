"""`weightwise why`: from the path of a configuration, or what builds a model, to an answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.special import roots_genlaguerre

from weightwise import initial_loss, loss_causes
from weightwise.command_line import main
from weightwise.first_loss.causes import _in_bfloat16
from weightwise.first_loss.initial.averaging import squared_lengths
from weightwise.why import cached_config, why

ROOT = Path(__file__).parents[1]
GPT2 = {"model_type": "gpt2", "vocab_size": 300, "n_embd": 64, "n_layer": 2, "n_head": 2}
WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "transformers", "safetensors"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from weightwise.command_line import main
status = main(sys.argv[1:])
assert not {"torch", "transformers"} & set(sys.modules)
sys.exit(status)
"""
BUILDERS = """
from handwritten_models import Model
from transformers import GPT2Config, GPT2LMHeadModel

def stock():
    return GPT2LMHeadModel(GPT2Config(vocab_size=300, n_embd=64, n_layer=2, n_head=2,
                                      n_positions=64, bos_token_id=0, eos_token_id=0))

def needs(what):
    return what

number = 3
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(GPT2), encoding="utf-8")
    return path


@pytest.fixture
def builders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"builders_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(BUILDERS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return name


def without_torch(*words: str) -> subprocess.CompletedProcess[str]:
    """The command, in an interpreter where neither torch nor transformers is installed."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, capture_output=True, encoding="utf-8",
    )  # fmt: skip


@pytest.mark.slow
def test_it_needs_no_torch(config: Path) -> None:
    done = without_torch("why", str(config), "--seen", "8.3")
    assert (done.returncode, done.stderr) == (0, "")
    causes = [f"{each}\n" for each in loss_causes(GPT2, 8.3)]
    heading = "What makes other losses, the nearest to 8.3 first:\n"
    assert done.stdout == f"{initial_loss(str(config))}\n{heading}{''.join(causes)}"
    assert without_torch("initial-loss", str(config)).returncode == 0


@pytest.mark.slow
def test_what_needs_torch_says_what_to_install(tmp_path: Path) -> None:
    done = without_torch("widen", str(tmp_path), str(tmp_path / "wide"), "--stream", "2")
    assert done.returncode == 1 and "pip install 'weightwise[models]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_will_do_and_the_cause_comes_first(config: Path) -> None:
    seen = next(c.loss for c in loss_causes(GPT2) if c.name == "a table of deviation one")
    lines = why(str(config.parent), seen).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("What makes other losses"))
    assert "a table of deviation one" in lines[at + 1]
    assert lines[0].startswith("gpt2: first loss") and "log n 5.7038" in lines[0]


def test_a_loss_that_nothing_makes_is_called_so(config: Path) -> None:
    assert "none of these is near" in why(str(config), 7.0)


def test_an_id_of_the_hub_is_looked_up_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    home = tmp_path / "models--some--small"
    for revision, n in (("old", 300), ("new", 400)):
        (home / "snapshots" / revision).mkdir(parents=True)
        path = home / "snapshots" / revision / "config.json"
        path.write_text(json.dumps({**GPT2, "vocab_size": n}), encoding="utf-8")
        os.utime(path, (1, 1) if revision == "old" else (2, 2))
    assert "n = 400" in why("some/small")  # the newest
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("old", encoding="utf-8")
    assert "n = 300" in why("some/small")
    assert cached_config("some/other") is None


@pytest.mark.slow
def test_what_a_function_builds_is_measured_and_diagnosed(builders: str) -> None:
    answer = why(f"{builders}:stock", 5.7, diagnosed=True)
    assert "gpt2: first loss" in answer and "  measured 5.7" in answer
    assert "readings are what is due" in answer
    assert "measured" in why(f"{builders}:Model", length=64)  # of no class that is known: drafted
    with pytest.raises(ValueError, match=r"length: got 128 \(index out of range"):
        why(f"{builders}:Model")


@pytest.mark.parametrize(("what", "error"), [
    ("no/such", "which is no path here, nor a repository in"),
    ("a b", "accepted: a config.json, a folder with one, a hub id in that cache"),
    ("no_such_module:build", "No module named 'no_such_module'"),
    ("{builders}:missing", "has no attribute 'missing'"),
    ("{builders}:needs", "missing 1 required positional argument"),
    ("{builders}:number", "a int; accepted: a function"),
    ("{builders}:dict", "has no attribute 'dict'"),
    ("empty", "accepted: the path of a config.json"),
    ("broken.json", "accepted: the path of a config.json"),
    ("list.json", "got a list in"),
    ("unknown.json", "got the class 'nobody'; accepted: "),
])  # fmt: skip
def test_bad_input_is_refused_in_one_line(
    what: str, error: str, builders: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    for name, text in (("broken", "{"), ("list", "[]"), ("unknown", '{"model_type": "nobody"}')):
        (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
    assert main(["why", what.format(builders=builders)]) == 1
    said = capsys.readouterr()
    assert error in said.err and said.out == ""


def test_numbers_are_refused_by_name(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, error in (
        (["--seen", "nan"], "seen: got nan"), (["--length", "0"], "length: got 0"),
        (["--diagnose"], "which is no model"),
    ):  # fmt: skip
        assert main(["why", str(config), *words]) == 1
        assert error in capsys.readouterr().err
    assert main(["initial-loss", str(config), "--labels", "most"]) == 1
    assert "labels: got 'most'" in capsys.readouterr().err
    with pytest.raises(ValueError, match="which is no model"):
        why(str(config), diagnosed=True)


def test_bfloat16_rounds_as_torch_does() -> None:
    drawn = np.random.default_rng(0)
    numbers = [*drawn.uniform(0, 1500, 2000), *(1 + np.arange(64) / 256), 0.0, 10.97849955]
    for number in map(float, numbers):
        number = float(np.float32(number))  # torch rounds twice, by way of float32
        assert _in_bfloat16(number) == float(torch.tensor(number).bfloat16())


@pytest.mark.parametrize("degrees", [4, 64, 256])
def test_lengths_are_those_of_gauss_and_laguerre(degrees: int) -> None:
    at, share = squared_lengths(degrees)
    roots, weights = roots_genlaguerre(5, degrees / 2 - 1)
    assert np.allclose(at, roots / (degrees / 2), rtol=1e-13, atol=0)
    assert np.allclose(share, weights / weights.sum(), rtol=1e-12, atol=0)


def test_a_wide_head_is_predicted() -> None:
    """Of 344 degrees of freedom SciPy's weights overflow."""
    wide = {**GPT2, "n_embd": 1024, "n_head": 2}
    assert 5.7 < initial_loss(wide).loss < 6.2
