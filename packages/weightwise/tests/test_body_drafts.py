"""`draft_body`: what a hand-written model is, drafted right, or refused where it stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from handwritten_models import RMS, Apart, D, Fused, Gated, Model, Plain
from torch import nn

from weightwise import assert_initial_loss, diagnose, draft_body
from weightwise.first_loss import Body

DRAWN = 0.05  # as all matrices are drawn
RIGHT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nanoGPT's": ({}, {"form": "pre", "first": "layer", "last": "layer", "positions": DRAWN}),
    "Llama's": (
        {"norm": RMS, "attention": Apart, "forward": Gated, "tied": False, "positions": False},
        {"first": "rms", "last": "rms", "tied": False, "head": DRAWN, "gated": True,
         "positions": 0.0, "activation": "silu"},
    ),
    "post-norm": ({"form": "post"}, {"form": "post", "last": None}),
    "parallel": ({"form": "parallel"}, {"form": "parallel"}),
    "norms of what is added": ({"form": "after", "norm": RMS}, {"form": "after"}),
    "no last norm": ({"last": False}, {"form": "pre", "last": None}),
    "√d and a cap": (
        {"factor": D**0.5, "cap": 7.0, "norm": RMS},
        {"factor": D**0.5, "cap": 7.0, "last": "rms", "after": 1.0},
    ),
    "scaled and capped": ({"scale": 2.0, "cap": 30.0}, {"after": 2.0, "cap": 30.0}),
    "attention that is not scaled": (
        {"scale": 0.3, "attention": lambda: Apart(scale=1.0)}, {"after": 0.3, "looks": 1.0},
    ),
    "small branches": ({"r": 0.3}, {"residual": 0.3}),
    "a bias of the head": ({"bias": True}, {"tied": True}),
    "an encoder": ({"attention": lambda: Fused(causal=False)}, {"causal": False}),
    "ReLU": ({"forward": lambda: Plain(F.relu)}, {"activation": "relu"}),
}  # fmt: skip
ALWAYS = {"causal": True, "residual": 1.0, "after": 1.0, "cap": None, "factor": 1.0, "tied": True,
          "table": DRAWN, "heads": 4, "looks": (D // 4) ** -0.5, "ε": (1e-5, 1e-6)}  # fmt: skip


def told(body: Body) -> dict[str, Any]:
    """What a draft says, by short names."""
    attention, forward = body.stack.layers[0]
    last = body.stack.last
    return vars(forward) | vars(attention) | vars(body.stack) | vars(body) | {
        "looks": vars(attention)["scale"], "ε": body.stack.norm.ε, "first": body.stack.norm.kind,
        "last": None if last is None else last.kind,
    }  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_a_hand_written_model_is_drafted_right(name: str) -> None:
    given, due = RIGHT[name]
    torch.manual_seed(0)
    model = Model(**given)
    body = draft_body(model)
    found = told(body)
    for what, value in (ALWAYS | due).items():
        if isinstance(value, tuple):
            assert found[what] in value
        elif isinstance(value, float):
            assert found[what] == pytest.approx(value, rel=0.03), what
        else:
            assert found[what] == value, what
    assert diagnose(model, body=body).fits
    nn.init.zeros_(last_of(model))
    assert not diagnose(model, body=body).fits


def last_of(model: Any) -> torch.Tensor:
    """The matrix that ends the second layer."""
    matrices = [each for each in model.blocks[1].modules() if isinstance(each, nn.Linear)]
    found: torch.Tensor = matrices[-2].weight
    return found


def test_a_draft_says_in_words_what_it_is() -> None:
    torch.manual_seed(0)
    said = str(draft_body(Model(norm=RMS, attention=Apart, forward=Gated, factor=3.0, cap=7.0)))
    for words in (
        "embedding: entries of 0.05, times 3, positions of 0.05",
        "3 layers, pre-norm, RMS norm with ε = 1e-06; a token sees what stands before",
        "attention: 4 heads of 24, logits times 0.2041",
        "feed-forward: 256 wide, silu, with a gate",
        "head: RMS norm with ε = 1e-06, tied to the table, capped at 7",
    ):
        assert words in said


def changed(change: Callable[[Any], object], **given: Any) -> Model:
    torch.manual_seed(0)
    model = Model(**given)
    change(model)
    return model


class Bag(nn.Module):
    """Layers that are attributes."""

    def __init__(self, layers: nn.ModuleList) -> None:
        super().__init__()
        self.one, self.two, self.three = layers

    def __iter__(self) -> Iterator[nn.Module]:
        return iter((self.one, self.two, self.three))


class ByNumber(nn.ModuleDict):
    """torchtitan's, whose layers are called by their numbers; a pass goes through the values."""

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())


def by_depth(model: Any) -> None:
    """The later a layer, the smaller what ends its branches."""
    for number, block in enumerate(model.blocks):
        with torch.no_grad():
            block.attention.c_proj.weight /= (number + 1) ** 0.5
            block.mlp.down.weight /= (number + 1) ** 0.5


@pytest.mark.parametrize("form", ["ModuleDict", "Sequential", "by depth", "few words"])
def test_other_ways_to_keep_layers_and_tables_are_drafted(form: str) -> None:
    torch.manual_seed(0)
    model: Any = Model()
    if form == "ModuleDict":
        model.blocks = torchtitan(model.blocks)
    elif form == "Sequential":
        model.blocks = nn.Sequential(*model.blocks)
    elif form == "by depth":
        by_depth(model)
    else:  # of letters: fewer than there are positions, which are as many as the width
        model.table, model.places = nn.Embedding(65, D), nn.Embedding(D, D)
        model.head = nn.Linear(D, 65, bias=False)
        for each in (model.table, model.places, model.head):
            nn.init.normal_(each.weight, std=0.05)
    body = draft_body(model)
    diagnose(model, body=body).check()
    answer = assert_initial_loss(model, body=body, length=60)
    assert body.n == len(model.head.weight) and len(body.stack.layers) == 3
    assert answer.measured is not None
    outs = [layer[1].outer for layer in body.stack.layers]
    due = [0.05 / (number + 1) ** 0.5 if form == "by depth" else 0.05 for number in range(3)]
    assert outs == pytest.approx(due, rel=0.02)
    assert ("layer 2, feed-forward" in str(body)) == (form == "by depth")


def torchtitan(blocks: nn.ModuleList) -> nn.ModuleDict:
    found = nn.ModuleDict({str(number): block for number, block in enumerate(blocks)})
    found.__class__ = ByNumber
    return found


class Last(nn.Linear):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x[:, -1:])


def head_of_the_last(model: Any) -> None:
    model.head = Last(D, len(model.head.weight))


REFUSED: dict[str, tuple[Callable[[], Model], str]] = {
    "an activation": (
        lambda: changed(id, forward=lambda: Plain(F.elu)), "with another activation; accepted: ",
    ),
    "a scale": (
        lambda: changed(id, attention=lambda: Apart(scale=0.5)), "factor of about 0.5.; accepted",
    ),
    "layers in no list": (
        lambda: changed(lambda m: setattr(m, "blocks", Bag(m.blocks))), "got 0 lists of",
    ),
    "a norm of another kind": (
        lambda: changed(lambda m: setattr(m, "norm", nn.Tanh())), "more than that between",
    ),
    "a head of the last place": (lambda: changed(head_of_the_last), "a pass that fails in float64"),
    "a layer that was left at zero": (
        lambda: changed(lambda m: nn.init.zeros_(last_of(m))), "(?s)not as drafted.*layer 1 ",
    ),
}  # fmt: skip


@pytest.mark.canary
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_built_otherwise_is_refused_by_name(name: str) -> None:
    make, says = REFUSED[name]
    with pytest.raises(ValueError, match=says):
        draft_body(make())
