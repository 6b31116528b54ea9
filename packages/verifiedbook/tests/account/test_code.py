"""The key of an experiment's code: free where meaning stays, another where meaning changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from verifiedbook.account.code import Code, CodeFault, Package, code_of

FILES = {
    "experiments/sample.py": '''"""An experiment."""

from __future__ import annotations

import math as m
from typing import TYPE_CHECKING

from ..laws import Law, _scaled
from ..face import seed_of

if TYPE_CHECKING:
    from ..laws import Other

SIZES = {"small": 3, "large": 5}


def run(first: int = 1) -> dict[str, float]:
    """What is recorded."""
    law = Law(2.0, strength=0.5)
    if first < 0:
        raise ValueError(f"first: got {first}")
    drawn = [law.draw(size) + _scaled(size, first) for size in SIZES.values()]
    return {"mean": m.fsum(drawn), "seed": seed_of("a name")}
''',
    "laws.py": '''"""Laws."""

class Law:
    """A law."""

    def __init__(self, spread: float, *, strength: float) -> None:
        self._spread, self.strength = spread, strength

    def draw(self, n: int) -> float:
        return self._shifted(n) * self._spread  # twice

    def _shifted(self, n: int) -> float:
        return n - self.strength

    def unused(self) -> float:
        return self.strength + 7


def _scaled(x: int, by: int) -> int:
    def again(y: int) -> int:
        return y * by

    return again(x) - by


def other(x: int) -> int:
    return x + 11
''',
    "seeds.py": "def seed_of(name):\n    return len(name) + 7\n",
    "face/__init__.py": "import lazy_loader\n",
    "face/__init__.pyi": "from ..seeds import seed_of as seed_of\n",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    made = tmp_path / "book"
    for name, text in FILES.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text, encoding="utf-8")
    return made


@pytest.fixture
def apart(package: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package, whose experiment has its laws and seeds from a root beside it."""
    root = package.parent / "apart"
    root.mkdir()
    for name in ("laws.py", "seeds.py", "face"):
        (package / name).rename(root / name)
    (root / "__init__.py").write_text("__sealed__ = True\n", encoding="utf-8")
    sample = package / "experiments/sample.py"
    sample.write_text(sample.read_text("utf-8").replace("from ..", "from apart."), encoding="utf-8")
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(package.parent)
    return package


def key(package: Path) -> Code:
    return code_of("experiments/sample.py", Package(package))


def replaced(package: Path, *changes: tuple[str, str]) -> None:
    """Replace text in every file."""
    for path in package.parent.rglob("*.py*"):
        text = path.read_text(encoding="utf-8")
        for old, new in changes:
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")


def test_only_what_the_experiment_reaches_counts(package: Path) -> None:
    assert list(key(package).definitions) == [
        "experiments/sample.py: run",
        "laws.py: Law",
        "laws.py: _scaled",
        "experiments/sample.py: SIZES",
        "seeds.py: seed_of",
    ]
    names = ("experiments/sample.py", "laws.py", "seeds.py")
    assert key(package).files == [package / name for name in names]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param([("_scaled", "_made_larger")], id="a private function"),
        pytest.param([("seed_of", "number_of")], id="a public function"),
        pytest.param([("drawn", "found")], id="a local"),
        pytest.param(
            [
                ("for size in", "for inner in"),
                ("draw(size)", "draw(inner)"),
                ("led(size", "led(inner"),
            ],
            id="a local of a comprehension",
        ),
        pytest.param([("again", "once_more")], id="an inner function"),
        pytest.param([("SIZES", "LENGTHS")], id="a constant"),
        pytest.param(
            [("import math as m", "import math"), ("m.fsum", "math.fsum")],
            id="an alias of an import",
        ),
        pytest.param([("# twice", "# two times")], id="a comment"),
        pytest.param([("What is recorded.", "Numbers.")], id="a text"),
        pytest.param([(": int", ": float")], id="an annotation"),
        pytest.param([("drawn = [", "drawn = [\n        ")], id="layout"),
        pytest.param([("got {first}", "given {first}")], id="words of a refusal"),
        pytest.param([("x + 11", "x + 12")], id="a function that nothing reaches"),
        pytest.param([("import Other", "import NoSuch")], id="an import for annotations"),
    ],
)
def test_what_changes_no_result_is_free(package: Path, changes: list[tuple[str, str]]) -> None:
    before = key(package).key
    replaced(package, *changes)
    assert key(package).key == before


@pytest.mark.parametrize(
    ("old", "new"), [("laws.py", "models/distributions.py"), ("seeds.py", "chance.py")]
)
def test_a_module_that_moves_is_free(package: Path, old: str, new: str) -> None:
    before = key(package).key
    (package / new).parent.mkdir(exist_ok=True)
    (package / old).rename(package / new)
    replaced(package, (f"..{old[:-3]} ", f"..{new[:-3].replace('/', '.')} "))
    assert key(package).key == before


def test_a_folder_that_a_package_left_behind_is_none(package: Path) -> None:
    before = key(package).key
    (package / "laws" / "deeper" / "__pycache__").mkdir(parents=True)
    assert key(package).key == before


ANSWERS = [
    pytest.param(("len(name) + 7", "len(name) + 8"), id="a seed"),
    pytest.param(("n - self.strength", "n + self.strength"), id="a law"),
    pytest.param(("y * by", "y * by * by"), id="a formula in an inner function"),
    pytest.param(("again(x) - by", "again(by) - x"), id="two locals in each other's places"),
    pytest.param(("x: int, by: int", "by: int, x: int"), id="parameters in each other's places"),
    pytest.param(("first < 0", "first < 3"), id="the reach of a refusal"),
    pytest.param(("strength=0.5", "strength=0.6"), id="an argument"),
    pytest.param(("strength=0.5", "spread=0.5"), id="an argument's name"),
    pytest.param(('"large": 5', '"large": 6'), id="a constant"),
    pytest.param(("first: int = 1", "first: int = 2"), id="a default"),
    pytest.param(("m.fsum", "m.prod"), id="a function of another package"),
    pytest.param(("Law(2.0,", "Other(2.0,"), id="another class"),
    pytest.param(("def draw", "@m.once\n    def draw"), id="a decorator"),
    pytest.param(("strength + 7", "strength + 8"), id="a method of a class that is reached"),
    pytest.param(('"mean"', '"total"'), id="a text that is returned"),
    pytest.param(("raise ValueError", "return print"), id="a refusal that refuses no more"),
]


@pytest.mark.canary
@pytest.mark.parametrize("change", ANSWERS)
def test_what_may_change_a_result_changes_the_key(package: Path, change: tuple[str, str]) -> None:
    assert moved(package, change)


@pytest.mark.canary
@pytest.mark.parametrize("change", ANSWERS)
def test_what_may_change_a_result_changes_the_key_from_a_root_apart(
    apart: Path, change: tuple[str, str]
) -> None:
    assert moved(apart, change)


def moved(package: Path, change: tuple[str, str]) -> list[str]:
    """Which definitions have another key by a change."""
    laws = next(package.parent.rglob("laws.py"))
    laws.write_text(laws.read_text("utf-8") + "class Other(Law):\n    pass\n", encoding="utf-8")
    replaced(package, ("import Law, _scaled", "import Law, Other, _scaled"))
    before = key(package)
    replaced(package, change)
    after = key(package)
    assert after.key != before.key
    return after.changed_since(before.definitions)


def test_to_move_into_a_root_apart_is_free(package: Path, request: pytest.FixtureRequest) -> None:
    before = key(package)
    now = key(request.getfixturevalue("apart"))
    assert now.key == before.key and "apart/seeds.py: seed_of" in now.definitions


LATE = "import {0}\n__getattr__, __dir__, __all__ = {0}.__getattr__, {0}.__dir__, {0}.__all__"


@pytest.mark.canary
@pytest.mark.parametrize(
    "plant",
    [
        "import apart.seeds\napart.seeds.seed_of = len",
        "def __getattr__(name):\n    return len",
        LATE.format("other"),
    ],
)
def test_what_a_face_does_beside_handing_names_on_changes_the_key(apart: Path, plant: str) -> None:
    replaced(apart, ("apart.face", "..seeds"))
    (apart / "seeds.py").write_text("from apart.face import seed_of\n", encoding="utf-8")
    before = key(apart).key
    for face in apart / "seeds.py", apart.parent / "apart/face/__init__.py":
        text = face.read_text("utf-8")
        face.write_text(f"{text}{plant}\n", encoding="utf-8")
        assert key(apart).key != before
        face.write_text(text, encoding="utf-8")
    assert key(apart).key == before


def test_a_face_that_hands_on_what_another_does_is_free(apart: Path) -> None:
    replaced(apart, ("apart.face", "..seeds"))
    (apart / "seeds.pyi").write_text("from apart.face import seed_of as seed_of", encoding="utf-8")
    keys = []
    for text in "", LATE.format("apart"), LATE.format("other"):
        (apart / "seeds.py").write_text(f"{text}\n", encoding="utf-8")
        keys.append(key(apart).key)
    assert keys[0] == keys[1] != keys[2]


def test_a_package_that_is_not_sealed_counts_by_its_names(apart: Path) -> None:
    (apart.parent / "apart/__init__.py").write_text("", encoding="utf-8")
    before = key(apart)
    assert [*before.definitions] == ["experiments/sample.py: run", "experiments/sample.py: SIZES"]
    replaced(apart, ("n - self.strength", "n + self.strength"))
    assert key(apart).key == before.key
    replaced(apart, ("import seed_of", "import seed_from as seed_of"))
    assert key(apart).key != before.key


@pytest.mark.canary
def test_a_module_that_is_used_itself_counts_whole(package: Path) -> None:
    source = "from .. import face, laws\n\n\ndef run(name):\n    return getattr(laws, name), face\n"
    (package / "experiments" / "sample.py").write_text(source, encoding="utf-8")
    keys = [key(package).key]
    for change in ("x + 11", "x + 12"), ("name) + 7", "name) + 8"), ("other", "another"):
        replaced(package, change)
        keys.append(key(package).key)
    assert len({*keys}) == 4  # its names count as well: they may be asked for by a text


@pytest.mark.canary
def test_what_a_module_does_on_import_counts(package: Path) -> None:
    before = key(package).key
    with (package / "seeds.py").open("a", encoding="utf-8") as file:
        file.write("print.setting = 1\n")
    assert key(package).key != before


@pytest.mark.canary
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ([("def _scaled", "def _gone")], "experiments/sample.py: asks laws.py for _scaled"),
        ([("..laws", "..no_such")], "experiments/sample.py: asks __init__.py for no_such"),
        ([("import Law, _scaled", "import *")], "experiments/sample.py: imports everything"),
        ([("def run", "def walk")], "experiments/sample.py: has no run"),
    ],
)
def test_what_leads_nowhere_is_named(
    package: Path, changes: list[tuple[str, str]], says: str
) -> None:
    (package / "__init__.py").touch()
    replaced(package, *changes)
    with pytest.raises(CodeFault, match=says.replace("*", r"\*")):
        key(package)


def test_a_face_that_loads_names_late_is_followed(package: Path) -> None:
    assert "seeds.py: seed_of" in key(package).definitions
    (package / "face" / "__init__.pyi").unlink()
    with pytest.raises(CodeFault, match=r"asks face/__init__.py for seed_of"):
        key(package)
