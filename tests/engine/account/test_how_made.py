"""How evidence was made: what makes a check vacuous moves its key; a comment does not."""

from __future__ import annotations

import json
import linecache
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from verifiedbook.account import ledger
from verifiedbook.account.code import CodeFault, Package, library
from verifiedbook.account.code import key as keys
from verifiedbook.account.code.cells import made_by
from verifiedbook.account.code.key import how_made, notebook_key
from verifiedbook.checks.what_ran import spot

CELL = '''
import math
LIMIT = 0.1

def helper(x):
    """Square it."""
    return x * x

def predicate(thing, factor=2):
    # far enough
    found = helper(thing)
    return all(math.sqrt(found) > LIMIT * factor for _ in range(3))

key = check(predicate)
'''


@pytest.fixture(autouse=True)
def _no_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cell was run before, not one that another test ran; those of a test go with it."""
    monkeypatch.setattr(linecache, "cache", {})


def key(source: str, **names: object) -> str | None:
    """Run a cell as IPython does, under a name of its own, and return the key of its `check`."""
    name = f"<cell {len(linecache.cache)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": "__main__", "check": check, **names}
    exec(compile(source, name, "exec"), scope)
    found: str | None = scope["key"]
    return found


def check(*_: object, **__: object) -> str | None:
    return how_made(spot().lines)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("found", "result"), ("    # far enough\n", ""), ('    """Square it."""\n', ""),
        ("(thing, factor=2)", "(thing: float, factor: int = 2) -> bool"), ("helper", "squared"),
        ("\ndef predicate", "\n\n\ndef predicate"), ("return x * x", "return (x\n        * x)"),
        ("LIMIT", "BOUND"), ("import math", "import math\nother = 3"),
    ],
)  # fmt: skip
def test_what_changes_no_result_is_free(old: str, new: str) -> None:
    assert old in CELL and key(CELL.replace(old, new)) == key(CELL)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return all(math.sqrt(found) > LIMIT * factor for _ in range(3))", "return True"),
        ("x * x", "x + x"), ("> LIMIT", ">= LIMIT"), ("LIMIT = 0.1", "LIMIT = 0.2"),
        ("factor=2", "factor=0"), ("all(", "any("), ("math.sqrt", "math.exp"),
        ("helper(thing)", "helper(1)"), ("range(3)", "range(0)"), ("return x * x", "return 1"),
    ],
)  # fmt: skip
def test_what_makes_a_check_vacuous_moves_the_key(old: str, new: str) -> None:
    assert old in CELL and key(CELL.replace(old, new)) not in (key(CELL), None)


@pytest.mark.canary
@pytest.mark.parametrize(
    ("source", "bodies"),
    [
        ("pair = (lambda x: x > 0, lambda x: x < 0)\nkey = check(pair[{}])", "01"),
        ("def make(n):\n    return lambda x: x % n == 0\nkey = check(make({}))", "23"),
        ("from functools import cache\n@cache\ndef f(n):\n    return n + {}\nkey = check(f)", "12"),
        ("def f(n):\n    return g(n)\ndef g(n):\n    return n + {}\nkey = check(f)", "12"),
        ("f = lambda n: g(n)\ng = lambda n: n + {}\nkey = check(f)", "12"),
        ("class A:\n    def __call__(self, x):\n        return x + {}\nkey = check(A())", "12"),
        ("def f(x):\n    import {0}\n    return {0}.sqrt(x)\nkey = check(f)", ("math", "cmath")),
        ("import math as m\nm.here = {}\nf = lambda x: m.here + x\nkey = check(f)", "12"),
    ],
    ids=["a lambda of two", "closed over", "remembered", "defined later", "a lambda's", "a method",
         "imported within", "put into a module"],
)  # fmt: skip
def test_what_a_function_is_made_of_counts(source: str, bodies: str | tuple[str, ...]) -> None:
    assert len({key(source.format(body)) for body in bodies} - {None}) == 2


FLOW = """
from contextlib import suppress
f = abs
for turn in range(2):
    with suppress(ValueError):
        if turn < 3:
            f = abs
        key = check(f)
    f = max
"""


@pytest.mark.canary
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("f = abs\nfor", "f = any\nfor"), ("        f = abs", "        f = any"),
        ("turn < 3", "turn > 3"), ("range(2)", "range(1)"), ("f = max", "f = min"),
        ("(ValueError)", "(TypeError)"), ("f = abs\n        key", "pass\n        else:\n"
        "            f = abs\n        key"),
    ],
    ids=["before a branch", "in a branch", "its condition", "turns of a loop", "the turn before",
         "a context", "which branch"],
)  # fmt: skip
def test_what_decides_whether_a_line_runs_moves_the_key(old: str, new: str) -> None:
    assert old in FLOW and key(FLOW.replace(old, new)) != key(FLOW)


EFFECT = """
import math, operator, torch
rows = [[1], [2]]
again = claim("law")
def predicate(row):
    return row and math.sqrt(2)
def spoil(things=()):
    rows.append(3)
def unused():
    math.e = 2
key = check(predicate, on=rows)"""


def read(plant: str = "") -> str | None:
    """Return the key of a cell's check below a planted line, without running it."""
    source, name = EFFECT.replace("key =", f"{plant}\nkey ="), "<cell>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return how_made(made_by((name, source.count("\n") + 1), {}))


@pytest.mark.canary
@pytest.mark.parametrize(
    "plant",
    [
        "rows.pop()", "del rows[0]", "rows[0].copy_(1)", "same = rows\nsame.append(1)", "spoil()",
        "for row in rows:\n    row.clear()", "setattr(rows, 'a', 1)",
        "operator.setitem(rows, 0, 1)",
        "math.sqrt = abs", "setattr(math, 'sqrt', abs)", "vars(math)['sqrt'] = abs", "unused()",
        "globals()['predicate'] = abs", "exec('predicate = abs')",
        "def late():\n    global predicate\n    predicate = abs\nlate()", "torch.manual_seed(1)",
        "get_ipython().run_line_magic('run', 'x.py')",
        "torch.relu, said = abs, claim", "with fork():\n    math.e = 3",
    ],
)  # fmt: skip
def test_what_changes_it_from_aside_moves_the_key(plant: str) -> None:
    assert read(plant) not in (read(), None)


@pytest.mark.canary
def test_a_cell_that_imports_everything_is_refused() -> None:
    with pytest.raises(CodeFault, match="imports everything"):
        read("from math import *")


@pytest.mark.parametrize(
    "plant",
    [
        "print(rows)",
        "again.meets(rows)",
        "claim('other').check(predicate, on=rows)",
        "spoil",
        "plt.plot(rows)",
        "with fork():\n    torch.manual_seed(1)",
        "other = [rows]",
        "found = [predicate for predicate in rows]",
        "get_ipython().run_line_magic('pip', 'install -q \"it @ git+https://here\"')",
    ],
)
def test_what_shows_or_judges_is_free(plant: str) -> None:
    assert read(plant) == read()


def test_functions_that_call_each_other_end() -> None:
    source = "def f(n):\n    return n and g(n - 1)\n\ndef g(n):\n    return f(n)\n\nkey = check(f)"
    assert key(source) is not None


def test_outside_a_notebook_there_is_no_key() -> None:
    assert check(lambda x: x) is None


# ------------------------------------------------------------------ plain data, and their lines

ARMS = """
import math
sizes = [3, 5, 7]
def loss(size, seed=2):
    return math.sin(size + seed)
runs = {"tied": [loss(n) for n in sizes]}
for n in sizes:
    runs.setdefault("untied", []).append(loss(n, seed=4))
other = [loss(11)]
key = check(runs, bound=0.5)
"""


@pytest.mark.canary
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[3, 5, 7]", "[3, 5, 8]"), ("seed=2", "seed=3"), ("seed=4", "seed=5"), ("sin", "cos"),
        ("for n in sizes]", "for n in sizes[:2]]"), ("bound=0.5", "bound=0.4"),
        ("in sizes:", "in sizes[1:]:"), ("loss(n)", "loss(n + 1)"), ('"tied"', '"other"'),
    ],
)  # fmt: skip
def test_a_literal_in_a_line_that_made_plain_data_moves_the_key(old: str, new: str) -> None:
    assert old in ARMS and key(ARMS.replace(old, new)) != key(ARMS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sizes", "widths"), ("other = [loss(11)]", "other = [loss(12)]"), ("other", "another"),
        ("import math", "import math, os"), ("import math", "# numbers\nimport math"),
        ("\nruns =", "\n\nruns ="), ("for n in sizes]", "for m in sizes]".replace("m", "n")),
    ],
)  # fmt: skip
def test_what_does_not_make_the_data_is_free(old: str, new: str) -> None:
    assert old in ARMS and key(ARMS.replace(old, new)) == key(ARMS)


def test_numbers_that_another_processor_rounds_otherwise_are_free() -> None:
    assert len({key("a = list(found)\nkey = check(a)\n", found=[n]) for n in (0.25, 1 / 3)}) == 1


# ------------------------------------------------------------------ the library's own code

LIBRARY = {
    "models/__init__.py": '"""Work."""',
    "models/work.py": '''
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

@dataclass
class Sides:
    long: int
    short: int

class Chain:
    def __init__(self, name):
        self.name = name

    def __call__(self, x):
        return x[0]


DIAGONAL = Chain("diagonal")


def less_work(join: int):
    """Whether joining so is less work."""

    def check(length):
        return all_work(join, length) < all_work(1, length)  # at any length

    return check


def all_work(join, length):
    total = join * Sides(length, 1).long

    def add():
        nonlocal total
        total += 1

    add()
    try:
        raise KeyError(total)
    except KeyError as found:
        return found.args[0]
''',
}
LESS = "from book.models.work import less_work\nthing = less_work(2)\n"
BY_MODULE = "from book.models import work\nthing = lambda x: work.less_work(x)\n"
CHAIN = "from book.models.work import DIAGONAL\nthing = lambda x: DIAGONAL(x)\n"
JUDGED = "from judging.checks.claim import claim\nthing = lambda x: claim(x)\n"
JUDGING = {  # as the package that decides is
    "judging/__init__.py": "__sealed__ = True\n",
    "judging/checks/claim.py": "def claim(x):\n    return x\n",
    "judging/sampling/claim.py": "def claim(x):\n    return x\n",
}
Key = Callable[..., str | None]
APART = {  # the same where `models` is a root of its own, which the book's hands on
    "book/__init__.py": "",
    "book/models/__init__.py": "from apart import work as work\n",
    "book/models/work.py": "from apart.work import DIAGONAL as DIAGONAL, less_work as less_work\n",
    "apart/__init__.py": LIBRARY["models/__init__.py"] + "\n__sealed__ = True\n",
    "apart/work.py": LIBRARY["models/work.py"],
}


@pytest.fixture
def key_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Key:
    """The key of a cell's `thing`, beside a small library in which some text is replaced."""

    def key_of(
        cell: str, old: str = "", new: str = "", roots: Mapping[str, str] | None = None
    ) -> str | None:
        package = Package(tmp_path / str(len([*tmp_path.iterdir()])) / "book")
        files = roots or {f"book/{label}": text for label, text in LIBRARY.items()}
        assert any(old in text for text in files.values())
        for label, text in {"book/__init__.py": "", **files}.items():
            file = package.folder.parent / label
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.replace(old, new) if old else text, encoding="utf-8")
        with monkeypatch.context() as context:
            context.setattr(keys, "library", lambda: package)
            context.setattr(keys, "ENGINE", package.folder.parent / "judging")
            context.syspath_prepend(package.folder.parent)
            made = key(f"{cell}key = check(thing)\n")
        made_here = ("book", "apart", "judging")
        for name in [n for n in sys.modules if n.partition(".")[0] in made_here]:
            del sys.modules[name]
        return made

    return key_of


TYPED_IN = [
    pytest.param(LESS, "all_work(join, length) <", "2 * length <", id="an inner function"),
    pytest.param(LESS, "total += 1", "total += 2", id="what it calls"),
    pytest.param(BY_MODULE, "total += 1", "total += 2", id="through a notebook's function"),
    pytest.param(CHAIN, "x[0]", "x[1]", id="a method of what a name stands for"),
    pytest.param(CHAIN, '"diagonal"', '"other"', id="a field of it"),
    pytest.param(LESS, "long: int\n    short", "short: int\n    long", id="order of fields"),
    pytest.param(LESS, "nonlocal total", "total = 0", id="a name of its own"),
    pytest.param(LESS, "KeyError(total)", "KeyError(3)", id="what an exception carries"),
    pytest.param(LESS, '"""Work."""', "import math\nmath.pi = math.pi", id="put in by its package"),
    pytest.param(LESS, "if TYPE_CHECKING", "if not TYPE_CHECKING", id="run after all"),
]


@pytest.mark.canary
@pytest.mark.parametrize(("cell", "old", "new"), TYPED_IN)
def test_an_answer_typed_into_the_library_moves_the_key(
    cell: str, old: str, new: str, key_of: Key
) -> None:
    assert key_of(cell) != key_of(cell, old, new)


@pytest.mark.canary
@pytest.mark.parametrize(("cell", "old", "new"), TYPED_IN)
def test_an_answer_typed_into_a_root_apart_moves_the_key(
    cell: str, old: str, new: str, key_of: Key
) -> None:
    before = key_of(cell, roots=APART)
    assert before == key_of(cell)
    for asked in cell, cell.replace("book.models", "apart"):
        assert key_of(asked, roots=APART) == before != key_of(asked, old, new, roots=APART)


@pytest.mark.canary
@pytest.mark.parametrize("face", [name for name in APART if name.startswith("book/")])
def test_an_answer_put_in_on_the_way_to_a_root_apart_moves_the_key(face: str, key_of: Key) -> None:
    plant = "\nimport apart.work\napart.work.all_work = lambda *sizes: sizes[0]\n"
    planted = {**APART, face: APART[face] + plant}
    assert key_of(LESS, roots=APART) != key_of(LESS, roots=planted)


def test_what_judges_is_free(key_of: Key) -> None:
    """What else changes no result in the library, `test_code` has."""
    changed = ("return x\n", "return 1\n")
    assert key_of(JUDGED, roots=JUDGING) == key_of(JUDGED, *changed, roots=JUDGING)


@pytest.mark.canary
def test_what_draws_beside_it_is_not(key_of: Key) -> None:
    drawn, changed = JUDGED.replace("checks", "sampling"), ("return x\n", "return 1\n")
    assert key_of(drawn, roots=JUDGING) != key_of(drawn, *changed, roots=JUDGING)


@pytest.mark.slow
def test_every_notebook_has_a_key_and_its_names_lead_somewhere() -> None:
    found = [notebook_key(path, library()) for path in ledger.notebooks(Path(__file__).parents[3])]
    assert len(set(found)) == len(found)


def test_the_key_of_a_notebook_is_the_same_on_every_python(tmp_path: Path) -> None:
    """Syntax trees of 3.12 and 3.13 have other fields, and are printed otherwise."""
    source = "def f(x: int = 1):\n    return f'{x}' if x else None\nf()"
    cell = {"cell_type": "code", "source": [source]}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    assert notebook_key(tmp_path / "a.ipynb", library()) == "48286e07"
