"""Fingerprints of recorded experiments: a tiny run gives the stored numbers, and only then."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from long_runs import factorised_lookup, tied_convergence
from verifiedbook.account import recordings
from verifiedbook.account.parts import part
from verifiedbook.commands import command_line as command
from verifiedbook.commands import recording
from verifiedbook.sampling import zipf_markov
from verifiedbook.serving import served
from weightwise import heads

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def unsalted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VERIFIED_SALT", raising=False)


def moved(name: str) -> str | None:
    return recording.difference(recordings.load(name).fingerprint, recording.fingerprint(name))


@pytest.mark.parametrize("name", recordings.experiments())
def test_each_experiment_is_recorded_and_its_fingerprint_matches(name: str) -> None:
    assert moved(name) is None


def test_a_fingerprint_leaves_threads_and_random_numbers_as_they_were() -> None:
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    recording.fingerprint("factorised_lookup")
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def other_seed(name: str) -> int:
    return sum(name.encode())


def other_generator(name: str) -> torch.Generator:
    return torch.Generator().manual_seed(other_seed(name))


def other_law(self: zipf_markov.ZipfMarkov, *_: Any) -> torch.Tensor:
    return self.stationary.outer(self.stationary)


def other_order(d: int) -> torch.Tensor:
    return torch.arange(d).flip(0)


def other_ratio(setting: factorised_lookup.Setting) -> float:
    return setting.n * setting.d / (setting.low_rank * (setting.n + setting.d - 1))


@pytest.mark.canary
@pytest.mark.parametrize(
    ("name", "place", "attribute", "other"),
    [
        ("tied_convergence", tied_convergence, "seed_of", other_seed),
        ("tied_convergence_large", zipf_markov, "generator", other_generator),
        ("factorised_lookup", factorised_lookup, "seed_of", other_seed),
        ("tied_convergence_large", zipf_markov.ZipfMarkov, "_joint", other_law),
        ("tied_convergence", tied_convergence, "half_swap", other_order),
        ("factorised_lookup", factorised_lookup, "flop_ratio", other_ratio),
    ],
)
def test_a_changed_seed_law_or_formula_is_caught(
    monkeypatch: pytest.MonkeyPatch, name: str, place: Any, attribute: str, other: Any
) -> None:
    monkeypatch.setattr(place, attribute, other)
    assert moved(name) is not None


@pytest.mark.canary
def test_one_per_cent_of_a_standard_deviation_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = heads.nn.init.normal_

    def wider(tensor: torch.Tensor, std: float = 1.0, **others: Any) -> torch.Tensor:
        return drawn(tensor, std=1.01 * std, **others)

    monkeypatch.setattr(heads.nn.init, "normal_", wider)
    assert moved("tied_convergence_large") is not None


def test_numbers_may_differ_by_rounding_and_whole_numbers_may_not() -> None:
    stored = {"a": [1.0, 2.0], "b": {"c": 3}}
    assert recording.difference(stored, {"a": [1.00001, 2.0], "b": {"c": 3}}) is None
    other = recording.difference(stored, {"a": [1.0, 2.004], "b": {"c": 3}})
    assert other == "a [1]: 2.004 in place of 2.0"
    assert (
        recording.difference(stored, {"a": [1.0, 2.0], "b": {"c": 4}}) == "b / c: 4 in place of 3"
    )
    assert recording.difference(stored, {"a": [1.0]}) == "a [1]: None in place of 2.0"
    assert recording.difference({}, {"d": math.nan}) == "d: nan in place of None"


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(ValueError, match=r"part: got 'other'; accepted: language, tied, 0.001"):
        recording.made_again(recordings.load("tied_convergence"), "other")


def test_an_unknown_experiment_is_refused() -> None:
    with pytest.raises(
        ValueError,
        match=r"name: got 'other'; accepted: divided_logits, factorised_lookup, grown_bert",
    ):
        recording.experiment("other")


def test_nothing_is_recorded_under_a_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIFIED_SALT", "other draws")
    with pytest.raises(ValueError, match="VERIFIED_SALT: set; accepted: none"):
        recording.fingerprint("factorised_lookup")


def test_provenance_says_what_ran_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factorised_lookup, "run", lambda: part("kept", lambda: 1))
    made = recording.recorded("factorised_lookup", "a commit")
    assert made.parts == {"kept": 1}
    assert {"processor", "instruction set", "threads", "seeds"} <= set(made.provenance)
    assert set(made.provenance["versions"]) == {"python", "torch", "numpy"}
    assert made.provenance["commit"] == "a commit"


def test_parts_that_were_made_are_kept_and_those_of_other_code_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERIFIED_PARTS", str(tmp_path))
    for made in (1, 2):
        monkeypatch.setattr(factorised_lookup, "run", lambda x=made: part("a name", lambda: x))
        assert recording.recorded("factorised_lookup", "").parts == {"a name": 1}
    file = tmp_path / "factorised_lookup.json"
    other = json.loads(file.read_text("utf-8")) | {"code": "another"}
    file.write_text(json.dumps(other), encoding="utf-8")
    with pytest.raises(ValueError, match=r"factorised_lookup.json was made by other code"):
        recording.recorded("factorised_lookup", "")


def small_part() -> str:
    """One that takes four seconds; which, hangs on all that is kept, so that an edit draws anew."""
    kept = recordings.load("remedies_on_text")
    small = [name for name in kept.parts if "64 tokens" in name]
    return small[int(kept.hash, 16) % len(small)]


def test_a_part_that_is_made_again_is_as_it_is_kept() -> None:
    assert recording.made_again(recordings.load("remedies_on_text"), small_part())[1] is None


@pytest.mark.canary
def test_a_changed_digit_and_an_exchanged_arm_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    name, other = "text, 64 tokens, untied", "text, 64 tokens, projected"
    made = recordings.load("remedies_on_text")
    here = {"instruction set": torch.backends.cpu.get_cpu_capability()}
    here |= {"versions": recording.versions(), "processor": recording.processor()}
    monkeypatch.setattr(recording, "assembled", lambda *_: (None, made.parts))  # what a run gives
    digit = json.loads(json.dumps(made.parts[name]))
    digit["end"]["0.004"][3] += 1e-4
    for edited, caught in ((made.parts[name], False), (digit, True), (made.parts[other], True)):
        kept = replace(made, parts=made.parts | {name: edited}, provenance=made.provenance | here)
        how, where = recording.made_again(kept, name)
        assert (how, where is not None) == ("bit for bit", caught)
    elsewhere = replace(kept, provenance=kept.provenance | {"processor": "of another maker"})
    assert recording.made_again(elsewhere, name)[0] == "within the seeds' spread"


def test_elsewhere_the_mean_stays_in_the_seeds_spread() -> None:
    alike = partial(recording.difference, alike=recording.in_the_spread, rows=True)
    assert alike({"0.1": [1.0, 2.0]}, {"0.1": [1.9, 2.9]}) is None
    assert alike({"0.1": [[1.0, 3.0]]}, {"0.1": [[1.005, 3.01]]}) is None
    assert alike({"0.1": [1.0, 2.0]}, {"0.1": [2.0, 3.1]}) is not None
    assert alike({"0.1": [1.0, 2.0]}, {"0.1": [1.0]}) is not None
    assert alike({"0.1": [2.0]}, {"0.1": [1.0]}) is not None
    assert alike({"counted": 3}, {"counted": 4}) is not None


@pytest.mark.canary
def test_a_halved_time_is_caught_on_a_machine_that_is_three_times_as_slow() -> None:
    stored = {"plain": 1.0, "train": 4.0, "head": 2.0, "bytes": 8}
    slower = {"plain": 3.3, "train": 12.0, "head": 6.0, "bytes": 8}
    for halved, caught in (
        (stored, None),
        (stored | {"train": 2.0}, "train: 12.0 in place of 2.0"),
    ):
        assert (
            recording.difference(halved, slower, recording.at_a_pace(halved, slower, 1.6)) == caught
        )


@pytest.fixture
def kept_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder instead of the recordings, and a commit instead of git's."""
    load, write = recordings.load, recordings.write
    text = (served().recordings / "factorised_lookup.json").read_text("utf-8")
    (tmp_path / "factorised_lookup.json").write_text(text, encoding="utf-8")
    monkeypatch.setattr(recordings, "load", lambda name: load(name, tmp_path))
    monkeypatch.setattr(recordings, "write", lambda made: write(made, tmp_path))
    monkeypatch.setattr(recording, "_commit", lambda *_: "a commit")
    return tmp_path / "factorised_lookup.json"


def test_a_recording_is_keyed_anew_where_the_fingerprint_matches(kept_elsewhere: Path) -> None:
    before = json.loads(kept_elsewhere.read_text(encoding="utf-8"))
    assert command.main(["record", "factorised_lookup", "--rekey"]) == 0
    after = json.loads(kept_elsewhere.read_text(encoding="utf-8"))
    assert after["parts"] == before["parts"]
    assert after["provenance"]["keyed anew"] == "at a commit, the fingerprint unchanged"


@pytest.mark.canary
def test_a_recording_is_not_keyed_anew_where_it_does_not(
    kept_elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = kept_elsewhere.read_text(encoding="utf-8")
    monkeypatch.setattr(factorised_lookup, "flop_ratio", other_ratio)
    assert command.main(["record", "factorised_lookup", "--rekey"]) == 1
    assert "the fingerprint differs (figures / part of the FLOP ratio" in capsys.readouterr().err
    assert kept_elsewhere.read_text(encoding="utf-8") == before


def test_recording_an_unknown_experiment_says_which_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command.main(["record", "no_such"]) == 1
    assert "name: got 'no_such'; accepted: divided_logits" in capsys.readouterr().err
