"""What ran describes itself, and is found from the line of the notebook that rests on it."""

from __future__ import annotations

import ast
import linecache
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.modules import module

from verified_transformer import ClaimFailed, claim, generator
from verified_transformer.book import tiny
from verified_transformer.book.widening.whole_models import with_own_head
from verifiedbook.account.code.cells import names_of
from verifiedbook.account.records.ran import NamedModel, Ran, ran_in_words
from verifiedbook.checks import what_ran as watching
from verifiedbook.checks.what_ran import (
    Spot,
    _written,
    description_of,
    spot,
    versions_of,
    what_ran,
)


class Check:
    """Has a verb."""

    def get(self, *_: object, **__: object) -> None:
        """Decide nothing."""


def cells(*sources: str) -> dict[str, Any]:
    """Run cells one after the other as IPython does; `record` in them is what a check asks."""
    scope: dict[str, Any] = {
        "__name__": "__main__", "nn": nn, "torch": torch, "found": [], "this": Check(),
        "ask": lambda given: what_ran(given, spot()),
        "run": lambda layer: layer(torch.zeros(1, 2)).sum().item(),
    }  # fmt: skip
    with watching.watched(), pytest.MonkeyPatch.context() as context:
        for number, source in enumerate(sources):
            name, lines = f"<what ran {number}>", source.splitlines(keepends=True)
            context.setitem(linecache.cache, name, (len(source), None, lines, name))
            exec(compile(source, name, "exec"), scope)
    return scope


def names(*sources: str) -> list[list[str]]:
    """The classes that each call of `record` in some cells found."""
    scope = cells(
        "def record(*_):\n    found.append([r.name for r in ask(())])\n    return this\n", *sources
    )
    return list(scope["found"])


def test_a_model_describes_itself() -> None:
    found = description_of(tiny("bert", num_hidden_layers=2))
    assert str(found) == (
        "BertForMaskedLM, 2 layers, tied by identity, LayerNorm ε 1e-12, scale 1/2, float64"
    )
    assert str(description_of(with_own_head(tiny("t5-1.1"), "x"))) == (
        "T5ForConditionalGeneration, 1 + 1 layers, untied, T5LayerNorm ε 1e-06, scale 1, float64"
    )
    assert str(description_of(nn.Linear(2, 3))) == "nn.Linear, float32"
    assert str(description_of(nn.LayerNorm(2))) == "nn.LayerNorm, ε 1e-05, float32"
    assert versions_of([found]).startswith(
        f"torch {torch.__version__.partition('+')[0]}, transform"
    )
    assert versions_of([description_of(nn.Linear(2, 3))]).count(",") == 0 and versions_of([]) == ""
    assert ran_in_words([]) == ""
    assert [*map(_written, (2.0, 64**-0.5, 8**-0.5))] == ["2", "1/8", "1/√8"]


@pytest.mark.canary
def test_tied_is_read_off_the_parameter() -> None:
    model = with_own_head(tiny("t5-1.1"), "an example")
    assert description_of(model).tied is False
    with torch.no_grad():
        model.lm_head.weight.copy_(model.shared.weight)
    assert description_of(model).tied is False  # equal numbers are no tie
    model.lm_head.weight = model.shared.weight
    assert description_of(model).tied is True
    model = tiny("t5-1.1", tie_word_embeddings=False)  # which transformers 5 ties all the same
    assert description_of(model).tied is True


def test_layers_count_with_their_model() -> None:
    assert names("run(nn.Sequential(nn.Linear(2, 3), nn.Tanh()))\nrecord()") == [[]]
    assert names("x = run(nn.Sequential(nn.Linear(2, 3), nn.Tanh()))\nrecord(x)") == [
        ["Sequential"]
    ]
    assert names("record(\n    run(nn.Tanh()),\n    run(nn.ReLU()))") == [["Tanh", "ReLU"]]


@pytest.mark.canary
def test_what_ran_in_a_cell_before_is_found_through_its_names() -> None:
    assert names(
        "first = [run(nn.Linear(2, 3))]\nother = run(nn.Tanh())",
        "doubled = [2 * x for x in first]",
        "first = 3",
        "record(doubled)\nrecord(other)\nrecord(first)",
    ) == [["Linear"], ["Tanh"], []]


@pytest.mark.canary
def test_names_of_inner_functions_are_told_from_the_notebooks() -> None:
    assert names(
        "seen = {'a': run(nn.Tanh())}\nx = run(nn.ReLU())",
        "for name, of in seen.items():\n    kept = of\n"
        "    record(lambda _, kept=kept: kept, [x for x in (1, 2)])",
        "record([kept for kept in (1, 2)], lambda x: x)",
        "record([x for _ in (1, 2)])",
    ) == [["Tanh"], [], ["ReLU"]]


def test_a_comprehensions_name_is_its_own_in_every_python() -> None:
    for text in ("y = [a(s) for s in r]", "y = {s: a(s) for s in r}", "y = {a(s) for s in r}"):
        binds, changes, uses = names_of(ast.parse(text).body[0])
        assert (binds, changes, uses) == ({"y"}, set(), {"a", "r"})


def test_what_changes_a_thing_counts() -> None:
    assert names(
        "runs = {}\nfor kind in (nn.Tanh, nn.ReLU):\n    runs[kind] = run(kind())\nlist_ = []",
        "list_.append(run(nn.GELU()))",
        "record(runs)\nrecord(list_)",
    ) == [["Tanh", "ReLU"], ["GELU"]]


def test_what_a_function_of_the_notebook_uses_counts() -> None:
    assert names(
        "seen = run(nn.Tanh())\nlayer = nn.ReLU()",
        "def statement(x, seen=0):\n    return x\n\ndef other(x):\n    return x + seen",
        "record(statement)\nrecord(other)",
    ) == [[], ["Tanh"]]


@pytest.mark.canary
def test_a_turn_of_a_loop_has_its_own_models() -> None:
    assert names(
        "for kind in (nn.Tanh, nn.ReLU):\n    x = run(kind())\n    y = 1\n    record(x)\n"
        "    record(x)\n    record(y)",
    ) == [["Tanh"], ["Tanh"], [], ["ReLU"], ["ReLU"], []]
    assert names("for kind in (nn.Tanh, nn.ReLU):\n    record(\n        run(kind()))") == [
        ["Tanh"],
        ["ReLU"],
    ]


def test_a_variable_of_a_loop_is_followed_to_the_thing_that_it_is() -> None:
    assert names(
        "one = [run(nn.Tanh())]\ntwo = [3]\nthree = [run(nn.ReLU())]",
        "for name, x in (('a', two), ('b', three)):\n    record(x)",
    ) == [[], ["ReLU"]]


@pytest.mark.canary
def test_what_made_a_broken_version_is_left_out() -> None:
    assert names(
        "good, bad = 0, 0\ngood = run(nn.Tanh())\nbad = run(nn.ReLU())",
        "record(good).get(1, not_on=bad)",
        "record(good).get(1, on=bad)",
        "record(bad).get(1, spoiled=lambda x: bad)",
    ) == [["Tanh"], ["Tanh", "ReLU"], ["ReLU"]]


def test_two_calls_of_a_line_count_once_and_a_changed_model_anew() -> None:
    scope = cells(
        "layer = nn.LayerNorm(2)\nfor _ in range(3):\n    run(layer)\nfound += [*ask(())]",
        "layer.eps = 0.5",
        "def check():\n    run(layer)\n    return ask(())\nfound += [*check()]",
    )
    assert [one.norms for one in scope["found"]] == [("LayerNorm ε 0.5",)]


@pytest.mark.canary
def test_broken_versions_are_left_out(reading: Callable[..., None]) -> None:
    reading(kind="statement")
    record = claim("LOSS-01").check_that(
        "has no second layer", lambda model: model(torch.zeros(1, 2)).shape == (1, 3),
        on=nn.Sequential(nn.Linear(2, 3)), not_on=nn.Linear(2, 4),
    )  # fmt: skip
    assert [one.name for one in record.ran] == ["Sequential"]
    assert record.volatile.versions.startswith("torch ")


@pytest.mark.canary
def test_outside_a_notebook_only_what_runs_in_a_check_counts(reading: Callable[..., None]) -> None:
    """A model that ran before was in the seal of whichever check came first."""
    reading(kind="statement")
    relu, x = nn.ReLU(), torch.zeros(1)

    def decide() -> list[str]:
        nn.Tanh()(x)
        record = claim("LOSS-01").check_that(
            "is changed", lambda model: bool(relu(x) == x) and not isinstance(model, nn.Tanh),
            on=nn.GELU(), not_on=nn.Tanh(),
        )  # fmt: skip
        return [one.name for one in record.ran]

    assert decide() == decide() == ["ReLU", "GELU"]
    given = {"models": [nn.GELU()]}, 3
    assert [one.name for one in what_ran(given, Spot())] == ["GELU"]
    assert nn.Module.__call__.__module__ == nn.Module.__module__  # nobody's but torch's own
    assert not module._has_any_global_hook()


@pytest.mark.canary
def test_in_a_notebook_what_ran_before_the_check_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("IPython.get_ipython", lambda: True)
    monkeypatch.setattr(watching, "_logs", [])
    monkeypatch.setattr(module, "_global_forward_pre_hooks", OrderedDict())
    for _ in range(2):
        claim("LOSS-14")
    with pytest.raises(RuntimeError):
        nn.Sequential(nn.Linear(2, 3))(torch.zeros(1, 5))
    nn.Tanh()(torch.zeros(1))
    assert [e.ran.name for e in watching.log().events if e.ran] == ["Sequential", "Tanh"]


def test_a_model_whose_weights_are_read_counts_as_drawn(reading: Callable[..., None]) -> None:
    reading(kind="statement")

    def layer(name: str) -> nn.Linear:
        made = nn.Linear(2, 3, bias=False)
        made.weight.data.normal_(generator=generator(name))
        return made

    record = claim("LOSS-01").sampled_that(
        "its entries are below 9", lambda made: bool((made.weight < 9).all()), draw=layer, n=20,
        sees="one that is 10", spoiled=lambda made: nn.ParameterDict({"weight": 10 + made.weight}),
    )  # fmt: skip
    assert [one.name for one in record.ran] == ["Linear"]
    same = claim("LOSS-01").same(
        "twice", lambda made: 2 * made.weight.double(),
        lambda made: (made.weight + made.weight).double(), draw=layer,
    )  # fmt: skip
    assert [one.name for one in same.ran] == ["Linear"]


@pytest.mark.canary
def test_untied_with_a_shared_weight_is_refused(reading: Callable[..., None]) -> None:
    """The case of GROW-55: the record said T5, untied; the head was the embedding."""
    reading(kind="statement", models=(NamedModel("T5ForConditionalGeneration", tied=False),))

    def speaks(model: Any) -> bool:
        ids = torch.tensor([[3, 1, 4]])
        with torch.no_grad():
            return bool(model(input_ids=ids, decoder_input_ids=ids).logits.isfinite().all())

    def decide(model: Any) -> Any:
        broken = tiny("t5-1.1")
        broken.lm_head.weight.data.fill_(torch.nan)
        return claim("GROW-55").check_that("has logits", speaks, on=model, not_on=broken)

    honest = with_own_head(tiny("t5-1.1"), "an example")
    assert [one.tied for one in decide(honest).ran] == [False]
    honest.lm_head.weight = honest.shared.weight
    with pytest.raises(ClaimFailed, match=r"tied by identity.*speaks of T5.*, untied"):
        decide(honest)
    with pytest.raises(ClaimFailed, match=r"ran MT5ForConditionalGeneration"):
        decide(tiny("mt5"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:")  # the compiler's own
def test_what_is_compiled_runs_as_it_did() -> None:
    model, x = nn.Sequential(nn.Linear(2, 3), nn.Tanh()), torch.ones(1, 2)
    with watching.watched():
        doubled = torch.compile(lambda x: 2 * model(x), backend="eager", fullgraph=True)
        assert torch.equal(doubled(x), 2 * model(x))
        whole = torch.compile(model, backend="eager", fullgraph=True)
        assert torch.equal(whole(x), model(x))


def test_a_description_keeps_its_fields() -> None:
    assert str(Ran("Small", "the book", (1,), None, (), ("1", "1/√8"))) == (
        "the book's Small, 1 layer, scale 1 and 1/√8"
    )
