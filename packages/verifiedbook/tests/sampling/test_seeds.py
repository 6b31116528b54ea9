"""Seeds come from names, a salt changes all of them, and one switch chooses the device."""

from __future__ import annotations

import pytest
import torch

from verifiedbook.seeds import device, finer, generator, seed_of


def test_a_salt_changes_every_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VERIFIED_SALT", raising=False)
    names = [f"name {k}" for k in range(100)]
    plain = [seed_of(name) for name in names]
    assert plain == [seed_of(name) for name in names] and len(set(plain)) == 100
    monkeypatch.setenv("VERIFIED_SALT", "another")
    assert not set(plain) & {seed_of(name) for name in names}


def test_a_generator_follows_its_name_and_the_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VERIFIED_SALT", raising=False)
    first, again, other = (torch.rand(3, generator=generator(x)) for x in ("a", "a", "b"))
    assert torch.equal(first, again) and not torch.equal(first, other)
    monkeypatch.setenv("VERIFIED_SALT", "another")
    assert not torch.equal(first, torch.rand(3, generator=generator("a")))


@pytest.mark.canary
def test_a_name_that_is_none_is_refused() -> None:
    for bad in ("", 3, None):
        with pytest.raises((TypeError, ValueError), match="name: got"):
            seed_of(bad)  # type: ignore[arg-type]


@pytest.mark.canary
@pytest.mark.parametrize("chosen", ["mps", "gpu", "cuda:x"])
def test_a_device_that_is_none_is_named(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIFIED_DEVICE", chosen)
    with pytest.raises(ValueError, match=f"VERIFIED_DEVICE: got '{chosen}'.*accepted: cpu, cuda"):
        device()


def test_the_environment_chooses_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    for chosen, meant in (("cpu", "cpu"), ("cuda:1", "cuda:1")):
        monkeypatch.setenv("VERIFIED_DEVICE", chosen)
        assert device() == torch.device(meant)
    monkeypatch.delenv("VERIFIED_DEVICE")
    assert device().type == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.canary
@pytest.mark.parametrize("given", ["0.5", "inf", "ten"])
def test_a_finer_measurement_is_at_least_as_fine(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERIFIED_FINER", "10")
    assert finer() == 10
    monkeypatch.setenv("VERIFIED_FINER", given)
    with pytest.raises(ValueError, match=f"VERIFIED_FINER: got '{given}'; accepted"):
        finer()
