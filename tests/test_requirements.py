"""The pins: each installs on every Python that the package names, its oldest patch included."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution, distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parent.parent
PYTHONS = ("3.11.0", "3.12.0", "3.13.0", "3.14.0")


def refused(name: str, requires: str | None) -> list[str]:
    """Say which of our Pythons a distribution does not install on."""
    accepted = SpecifierSet(requires or "")
    return [f"{name}: not on {python}" for python in PYTHONS if python not in accepted]


def pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def test_every_pin_installs_on_every_python() -> None:
    found = [
        fault
        for name in pins("requirements.txt")
        for fault in refused(name, distribution(name).metadata.get("Requires-Python"))
    ]
    assert found == []


def test_the_pages_run_the_pinned_sympy() -> None:
    wanted = pins("requirements.txt").items()
    for file in ("book/_ext/run_here.py", "book/_static/run_here.js"):
        wheels = re.findall(r"(\w+)-([\d.]+)-py3-none", (ROOT / file).read_text(encoding="utf-8"))
        assert {name for name, _ in wheels} == {"sympy", "mpmath"}
        assert set(wheels) <= wanted


@pytest.mark.canary
def test_a_pin_that_debian_cannot_install_is_found() -> None:
    assert refused("soupsieve", ">=3.11.5") == ["soupsieve: not on 3.11.0"]


@pytest.mark.slow
def test_the_wheel_holds_licences_claims_and_types(tmp_path: Path) -> None:
    for name in ("LICENSE", "LICENSE-TEXT", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for folder in ("src", "experiments", "packages"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q"]
    subprocess.run([*build, "-w", tmp_path / "dist", tmp_path], check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "licenses/LICENSE",
        "licenses/LICENSE-TEXT",
        "tying.yaml",
        "py.typed",
        "weightwise/__init__.pyi",
        "verifiedbook/sphinx/static/verified.css",
        "verifiedbook/live_figures/live.js",
    ):
        assert any(name.endswith(wanted) for name in names), wanted
    (metadata,) = (name for name in names if name.endswith("METADATA"))
    text = zipfile.ZipFile(wheel).read(metadata).decode()
    assert "License-Expression: MIT AND CC-BY-4.0" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "holds"),
    [
        ("weightwise", ["__init__.pyi", "py.typed"]),
        ("verifiedbook", [
            "__init__.pyi", "py.typed", "sphinx/static/verified.css", "sphinx/templates/claim.html",
            "account/rendering/templates/card.html", "checks/exercises/typed.yaml",
            "checks/exercises/answers.js", "checks/exercises/sealed.js", "live_figures/live.js",
        ]),
    ],
)  # fmt: skip
def test_a_package_of_its_own_is_built_from_its_folder_alone(
    package: str, holds: list[str], tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "packages" / package, tmp_path / package)
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q"]
    subprocess.run([*build, "-w", tmp_path, tmp_path / package], check=True, capture_output=True)
    (wheel,) = tmp_path.glob(f"{package}-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"{package}/{name}" for name in holds} <= {*names}
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {package}


def test_requirements_agree() -> None:
    book, everything = pins("requirements-book.txt"), pins("requirements.txt")
    assert book.items() <= everything.items()
    assert not {"torch", "sympy"} & book.keys()
    assert everything["torch"] == "2.13.0"


def test_environment_is_the_pinned_one() -> None:
    """What is installed here is what requirements.txt says (a local label such as +cpu aside)."""

    def spelled(name: str) -> str:
        return re.sub(r"[-_.]+", "-", name).lower()

    installed = {spelled(d.name): d.version.split("+")[0] for d in distributions()}
    wanted = {spelled(name): version for name, version in pins("requirements.txt").items()}
    assert {n: installed.get(n) for n in wanted} == wanted
