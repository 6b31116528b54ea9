"""How evidence was made: what makes a check vacuous moves its key; a comment does not."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from verified_transformer.engine.account import ledger
from verified_transformer.engine.account.code import evidence_key, how_made
from verified_transformer.engine.account.code.key import code_from
from verified_transformer.engine.account.code.modules import Package
from verified_transformer.engine.checks.what_ran import spot
from verified_transformer.engine.exact.derivations import Derivation, Oracle
from verified_transformer.engine.exact.formulas.notation import symbols
from verified_transformer.engine.exact.laws import Normal

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
'''


@pytest.fixture(autouse=True)
def _no_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cell was run before; those of a test go with it."""
    monkeypatch.setattr(linecache, "cache", dict(linecache.cache))


def run(source: str, **names: object) -> dict[str, Any]:
    """Run a cell as IPython does: under a name of its own, its lines kept for tracebacks."""
    name = f"<cell {len(linecache.cache)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": "__main__", **names}
    exec(compile(source, name, "exec"), scope)
    return scope


def key(source: str, name: str = "predicate") -> str | None:
    return how_made(run(source)[name])


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
def test_two_lambdas_of_a_line_are_told_apart() -> None:
    line = "pair = (lambda x: x > 0, lambda x: x < 0); other = (lambda x: x < 0, lambda x: x > 0)\n"
    first, second = run(line)["pair"]
    swapped = run(line)["other"]
    assert how_made(first) != how_made(second) and how_made(first) == how_made(swapped[1])
    nested = run("f = lambda x: (lambda y: y + x)(1)\ng = lambda x: (lambda y: y - x)(1)\n")
    assert how_made(nested["f"]) != how_made(nested["g"])


@pytest.mark.canary
def test_what_a_function_closes_over_counts() -> None:
    source = "def make(n):\n    return lambda x: x % n == 0\n"
    make = run(source)["make"]
    assert how_made(make(2)) != how_made(make(3)) and how_made(make(2)) == how_made(make(2))
    double = functools.partial(run(CELL)["predicate"], factor=3)
    assert how_made(double) not in (key(CELL), None)


@pytest.mark.canary
def test_a_function_that_is_remembered_counts_by_what_it_remembers() -> None:
    source = "from functools import cache\n@cache\ndef f(n):\n    return {}\n\ng = lambda n: f(n)\n"
    assert len({how_made(run(source.format(body))["g"]) for body in ("n + 1", "n + 2")}) == 2


@pytest.mark.canary
def test_a_package_that_a_function_imports_itself_counts() -> None:
    source = "def f(x):\n    import {0}\n    return {0}.sqrt(x)\n"
    assert len({how_made(run(source.format(name))["f"]) for name in ("math", "cmath")}) == 2


@pytest.mark.canary
def test_symbols_and_laws_that_a_function_closes_over_count() -> None:
    make = run("def make(s):\n    return lambda p: p[s]\n")["make"]
    things = [*symbols("d n"), Normal(0, 1), Normal(0, 2), sp.Integer(3), sp.Integer(4)]
    assert len({how_made(make(thing)) for thing in things}) == len(things)


def test_a_function_that_calls_itself_ends() -> None:
    found = run("def f(n):\n    return n and g(n - 1)\n\ndef g(n):\n    return f(n)\n")
    assert how_made(found["f"]) is not None


@pytest.mark.canary
def test_functions_inside_things_of_the_library_count() -> None:
    scope = run("f = lambda p: p + 1\ng = lambda p: p + 2\n")
    assert how_made(Oracle("x", scope["f"])) != how_made(Oracle("x", scope["g"]))
    x = sp.Symbol("x")
    steps = run("a = lambda e: e.doit()\nb = lambda e: e.doit() + 0\n")
    chains = [
        Derivation("x", sp.Integral(x, (x, 0, 1))).then("evaluate", steps[n]) for n in "ab"
    ]  # fmt: skip
    assert how_made(chains[0]) != how_made(chains[1])
    assert how_made(None, None) is None


def test_a_class_of_a_notebook_counts_by_its_methods() -> None:
    source = (
        "class Layer:\n    def __call__(self, x):\n        return {}\n\nf = lambda x: Layer()(x)\n"
    )
    keys = {how_made(run(source.format(body))["f"]) for body in ("x + 1", "x + 2")}
    assert len(keys) == 2 and None not in keys


def test_numbers_that_were_computed_do_not_count_to_the_last_digit() -> None:
    keys = {how_made(run(f"a = {a}\nf = lambda x: x > a\n")["f"]) for a in (0.1, 0.2, 1 / 3)}
    assert len(keys) == 3
    drift = run(f"a = {1 / 3 + 1e-12}\nf = lambda x: x > a\n")["f"]
    assert how_made(drift) in keys


def test_a_function_without_its_source_counts_by_its_name() -> None:
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec("f = lambda x: x", scope)
    assert how_made(scope["f"]) is not None
    exec("def g(x):\n    return x", scope)
    assert how_made(scope["f"]) != how_made(scope["g"])


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


def given(*things: object, **more: object) -> str | None:
    """What a check makes of plain data, called from a cell."""
    at = spot()
    return how_made(list(more.items()), lines=at.lines, names=at.names)


def of_cell(source: str, **names: object) -> str:
    return str(run(source, check=given, **names)["key"])


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
    assert old in ARMS and of_cell(ARMS.replace(old, new)) != of_cell(ARMS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sizes", "widths"), ("other = [loss(11)]", "other = [loss(12)]"), ("other", "another"),
        ("import math", "import math, os"), ("import math", "# numbers\nimport math"),
        ("\nruns =", "\n\nruns ="), ("for n in sizes]", "for m in sizes]".replace("m", "n")),
    ],
)  # fmt: skip
def test_what_does_not_make_the_data_is_free(old: str, new: str) -> None:
    assert old in ARMS and of_cell(ARMS.replace(old, new)) == of_cell(ARMS)


def test_numbers_that_another_processor_rounds_otherwise_are_free() -> None:
    source = "values = list(found)\nkey = check(values)\n"
    found = {of_cell(source, found=[0.5, end, 3]) for end in (0.25, 1 / 3)}
    assert len(found) == 1
    assert how_made([0.5]) != how_made([0.25]) and how_made(1 / 3) == how_made(2 / 3)


# ------------------------------------------------------------------ the library's own code

LIBRARY = {
    "lab/statements.py": '''
from functools import cache

from ..models.work import all_work

PARTS = {"forward": lambda n: 2 * n, "backward": lambda n: 4 * n}


def grows_as_printed(part):
    def check(factors):
        few, many = (PARTS[part](q * factors) / q**2 for q in (2, 32))
        return many <= 10 * few

    return check


def printed_order(factors, length):
    return length**factors / factors


def in_step(work):
    def check(expression):
        small, large = (work(3, q) / expression(3, q) for q in (2, 16))
        return 1 / 50 < large / small < 50

    return check


@cache
def less_work(join: int) -> bool:
    """Whether joining so is less work."""
    return all(all_work(join, q) < all_work(1, q) for q in (4, 8))  # at two lengths
''',
    "models/work.py": """
class Chain:
    def __init__(self, name):
        self.name = name

    def __call__(self, x):
        return x[0]


DIAGONAL = Chain("diagonal")


def all_work(join, length):
    total = join * length
    return total + 1
""",
    "checks/claim.py": "def claim(x):\n    return x\n",
}
IN_STEP = "from book.lab.statements import in_step, printed_order\nthing = in_step(printed_order)\n"
PRINTED = "from book.lab.statements import grows_as_printed\nthing = grows_as_printed('forward')\n"
LESS = "from book.lab.statements import less_work\nthing = less_work\n"
BY_MODULE = "from book.lab import statements\nthing = lambda x: statements.less_work(x)\n"
CHAIN = "from book.models.work import DIAGONAL\nthing = lambda x: DIAGONAL(x)\n"
JUDGED = "from book.checks.claim import claim\nthing = lambda x: claim(x)\n"
Key = Callable[..., str | None]


@pytest.fixture
def key_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Key:
    """The key of a cell's `thing`, beside a small library in which some text is replaced."""

    def key(cell: str, old: str = "", new: str = "") -> str | None:
        package = Package(tmp_path / str(len([*tmp_path.iterdir()])) / "book")
        assert any(old in text for text in LIBRARY.values())
        for label, text in {"__init__.py": "", **LIBRARY}.items():
            file = package.folder / label
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.replace(old, new) if old else text, encoding="utf-8")
        with monkeypatch.context() as context:
            context.setattr(evidence_key, "LIBRARY", package.folder)
            context.setattr(evidence_key, "library", lambda: package)
            context.syspath_prepend(package.folder.parent)
            made = how_made(run(cell)["thing"])
        for name in [name for name in sys.modules if name.partition(".")[0] == "book"]:
            del sys.modules[name]
        return made

    return key


@pytest.mark.canary
@pytest.mark.parametrize(
    ("cell", "old", "new"),
    [
        pytest.param(PRINTED, "many <= 10 * few", "factors < 3", id="FACT-38"),
        pytest.param(
            IN_STEP, "1 / 50 < large / small < 50", "expression is not printed_order", id="FACT-39"
        ),
        pytest.param(LESS, "all_work(join, q) < all_work(1, q)", "join == 2", id="FACT-40"),
        pytest.param(LESS, "total + 1", "total + 2", id="what it calls in another file"),
        pytest.param(BY_MODULE, "q in (4, 8)", "q in (4,)", id="through a notebook's function"),
        pytest.param(PRINTED, "2 * n", "3 * n", id="a table of functions"),
        pytest.param(IN_STEP, "length**factors", "length", id="what an inner function got"),
        pytest.param(CHAIN, "x[0]", "x[1]", id="a method of what a name stands for"),
        pytest.param(CHAIN, '"diagonal"', '"other"', id="a field of it"),
    ],
)
def test_an_answer_typed_into_the_library_moves_the_key(
    cell: str, old: str, new: str, key_of: Key
) -> None:
    assert key_of(cell) != key_of(cell, old, new)


@pytest.mark.canary
def test_what_an_inner_function_of_the_library_is_made_with_counts(key_of: Key) -> None:
    cells = PRINTED, PRINTED.replace("forward", "backward"), IN_STEP
    assert len({key_of(cell) for cell in cells}) == 3
    both = IN_STEP.replace("thing =", "thing = in_step(in_step),")
    assert key_of(both) != key_of(both.replace("(in_step)", "(printed_order)"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("all_work", "work_in_all"), ("total", "sum_"), ("# at two lengths", "# 4 and 8"),
        ("Whether joining so", "Whether it"), ("join: int", "join: float"),
        ("    total =", "\n    total ="), ("return x\n", "return 1\n"),
        ("n: 4 * n}", "n: 4 * n,\n}"),
    ],
    ids=[
        "a function", "a local", "a comment", "a text", "an annotation", "layout", "what judges",
        "a comma",
    ],
)  # fmt: skip
def test_what_changes_no_result_in_the_library_is_free(old: str, new: str, key_of: Key) -> None:
    for cell in (PRINTED, LESS, BY_MODULE, CHAIN, JUDGED):
        assert key_of(cell) == key_of(cell, old, new)


def imported() -> list[Any]:
    """Functions that notebooks import of the library beside its engine."""
    found = set()
    for path in ledger.notebooks(Path(__file__).parents[3]):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        setup = next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        for node in ast.walk(ast.parse(setup)):
            if isinstance(node, ast.ImportFrom):
                found |= {(str(node.module), alias.name) for alias in node.names}
    wings = ("verified_transformer.book", "verified_transformer.models")
    of_wings = [pair for pair in sorted(found) if pair[0].startswith(wings)]
    things = [getattr(importlib.import_module(module), name, None) for module, name in of_wings]
    return [thing for thing in things if inspect.isfunction(thing)]


@pytest.mark.canary
def test_whatever_a_function_of_the_library_reaches_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten of those that notebooks import: each time something that one reaches returns a text."""
    every = imported()
    for number, thing in enumerate(every[:: len(every) // 10][:10]):
        before, package, made = (
            how_made(thing),
            Package(evidence_key.LIBRARY),
            inspect.unwrap(thing),
        )
        label = Path(inspect.getfile(made)).relative_to(evidence_key.LIBRARY).as_posix()
        start = package.definition(label, made.__name__)
        whole = Package(evidence_key.LIBRARY)  # the other is read when it is changed
        reached = code_from(whole.definition(label, made.__name__), whole).definitions
        names = [name.split(": ") for name in reached if "runs on import" not in name]
        returns = [
            node
            for place in names
            for statement in package.definition(*place).statements
            for node in ast.walk(statement)
            if isinstance(node, ast.Return) and node.value
        ]
        returns[number * len(returns) // 10].value = ast.Constant("typed in")
        with monkeypatch.context() as context:
            context.setattr(evidence_key, "library", lambda package=package: package)
            assert how_made(thing) != before, start


@pytest.mark.canary
def test_a_file_beside_the_notebook_is_read_and_one_elsewhere_is_foreign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = sys.modules["__main__"]  # a worker of the tests has no file
    monkeypatch.setattr(main, "__file__", str(tmp_path / "notebook.py"), raising=False)

    def key_of_one(folder: Path, name: str, body: str) -> str | None:
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(f"def f(x):\n    return {body}\n", encoding="utf-8")
        with monkeypatch.context() as context:
            context.syspath_prepend(folder)
            importlib.invalidate_caches()
            found = importlib.import_module(name).f
            made = how_made(run("g = lambda x: f(x)", f=found)["g"])
        del sys.modules[name]
        return made

    beside = [key_of_one(tmp_path, f"beside_{n}", f"x + {n}") for n in (1, 2)]
    elsewhere = key_of_one(tmp_path / "checkout", "elsewhere", "x + 1")
    other = key_of_one(tmp_path / "checkout", "elsewhere", "x + 22")
    assert beside[0] != beside[1] and elsewhere == other
