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

from verified_transformer import claim
from verified_transformer.account import ledger
from verified_transformer.account.stored_runs.code import how_made, live
from verified_transformer.account.stored_runs.code.key import code_from
from verified_transformer.account.stored_runs.code.meaning import Mentioned
from verified_transformer.account.stored_runs.code.modules import Package
from verified_transformer.checks.what_ran import spot
from verified_transformer.exact.derivations import Derivation, Oracle
from verified_transformer.exact.formulas.notation import symbols
from verified_transformer.exact.laws import Normal
from verified_transformer.lab import tables

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

STATEMENTS = "lab/tables/costs/statements.py"
Edit = Callable[..., None]


@pytest.fixture
def edited(monkeypatch: pytest.MonkeyPatch) -> Edit:
    """Let a file of the library be read as if other text stood in it."""

    def edit(label: str, *changes: tuple[str, str]) -> None:
        path, package = live.LIBRARY / label, Package(live.LIBRARY)
        text = path.read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        package.module(path).tree = ast.parse(text)
        monkeypatch.setattr(live, "library", lambda: package)
        lines = len(text), None, text.splitlines(keepends=True), str(path)
        monkeypatch.setitem(linecache.cache, str(path), lines)

    return edit


@pytest.mark.canary
@pytest.mark.parametrize(
    ("given", "old", "new"),
    [
        (lambda: tables.grows_as_printed("forward"), "many <= 10 * few", "factors < 3"),
        (
            lambda: tables.in_step(tables.row_length),
            "1 / 50 < large / small < 50", "expression is not printed_order",
        ),
        (
            lambda: tables.less_work,
            "all_work(factorised_lookup(6, c, q, join)) < all_work(plain_lookup(6, q**c))",
            "join is torch.clone",
        ),
        (
            lambda: run("f = lambda join: tables.less_work(join)", tables=tables)["f"],
            "(2, 4), (2, 64)", "(2, 4), (2, 63)",
        ),
    ],
    ids=["FACT-38", "FACT-39", "FACT-40", "through a notebook's function"],
)  # fmt: skip
def test_an_answer_typed_into_the_library_moves_the_key(
    given: Callable[[], Any], old: str, new: str, edited: Edit
) -> None:
    before = how_made(given())
    edited(STATEMENTS, (old, new))
    assert how_made(given()) != before


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param([("all_work", "work_in_all")], id="the name of a function"),
        pytest.param(
            [("c, q, j", "c, n, j"), ("q**c", "n**c"), ("for c, q in [(2", "for c, n in [(2")],
            id="that of a local",
        ),
        pytest.param([("q**c))", "q**c))  # of one look-up")], id="a comment"),
        pytest.param([("Whether a look-up whose", "Tell whether one whose")], id="a text"),
        pytest.param([("(factors: int, length", "(factors: float, length")], id="an annotation"),
    ],
)
def test_what_changes_no_result_in_the_library_is_free(
    changes: list[tuple[str, str]], edited: Edit
) -> None:
    given = tables.less_work, tables.row_length, tables.passed("forward")
    before = how_made(*given)
    edited(STATEMENTS, *changes)
    assert how_made(*given) == before


def imported() -> list[Any]:
    """Functions that notebooks import of the library beside its engine."""
    found = set()
    for path in ledger.notebooks(Path(__file__).parents[2]):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        setup = next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        for node in ast.walk(ast.parse(setup.replace("%pip", "pass  #"))):
            if isinstance(node, ast.ImportFrom):
                found |= {(str(node.module), alias.name) for alias in node.names}
    wings = ("verified_transformer.lab", "verified_transformer.models")
    of_wings = [pair for pair in sorted(found) if pair[0].startswith(wings)]
    things = [getattr(importlib.import_module(module), name, None) for module, name in of_wings]
    return [thing for thing in things if inspect.isfunction(thing)]


@pytest.mark.canary
def test_whatever_a_function_of_the_library_reaches_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten of those that notebooks import: each time something that one reaches returns a text."""
    every = imported()
    for number, thing in enumerate(every[:: len(every) // 10][:10]):
        before, package, made = how_made(thing), Package(live.LIBRARY), inspect.unwrap(thing)
        label = Path(inspect.getfile(made)).relative_to(live.LIBRARY).as_posix()
        start = package.definition(label, made.__name__)
        reached = code_from(start, package, Mentioned(whole=True)).definitions
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
            context.setattr(live, "library", lambda package=package: package)
            assert how_made(thing) != before, start


@pytest.mark.canary
def test_what_an_inner_function_of_the_library_got_counts() -> None:
    assert len({how_made(tables.passed(part)) for part in ("forward", "backward", "both")}) == 3
    steps = [tables.in_step(tables.row_length), tables.in_step(tables.printed_order)]
    assert how_made(steps[0]) != how_made(steps[1]) != how_made(*steps) != how_made(steps[0])


@pytest.mark.canary
def test_a_class_of_the_library_counts_with_every_method(edited: Edit) -> None:
    given = [tables.DIAGONAL, run("f = lambda x: chain(x)", chain=tables.NARROW)["f"]]
    before = [how_made(thing) for thing in given]
    edited("lab/tables/ways/chains.py", ("factor[0] for factor", "factor[1] for factor"))
    assert not {how_made(thing) for thing in given} & {*before}


def test_what_judges_counts_by_its_name(edited: Edit) -> None:
    scope = run("f = lambda x: claim(x)", claim=claim)
    before = how_made(scope["f"], claim)
    edited("checks/claim.py", ("return Claim(ids)", "return None"))
    assert how_made(scope["f"], claim) == before


@pytest.mark.canary
def test_a_file_beside_the_notebook_is_read_and_one_elsewhere_is_foreign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(tmp_path / "notebook.py"))

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
