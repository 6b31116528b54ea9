"""Is a model tied? Tests of a tie, and treatments of a model that keep it or break it."""

from __future__ import annotations

import copy
import io
import pickle
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune

from ...seeds import seed_of


class TiedModel(nn.Module):
    """The article's model, quiet, and small.

    Args:
        tie: whether the head's parameter is the embedding's.
        n: size of the vocabulary.
        d: width.
    """

    def __init__(self, tie: bool = True, n: int = 7, d: int = 4) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n, d)
        self.body = nn.Linear(d, d)
        self.lm_head = nn.Linear(d, n, bias=False)
        if tie:
            self.lm_head.weight = self.embedding.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits, (…, n), of tokens, (…)."""
        logits: torch.Tensor = self.lm_head(self.body(self.embedding(ids)))
        return logits


Treatment = Callable[[Any], Any]


def seeded(name: str, build: Callable[[], Any]) -> Any:
    """Build a module with torch seeded from a name, and leave torch's generator as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(name) % 2**63)
        return build()


# ------------------------------------------------------------------------------ tests of a tie


def same_storage(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors lie in one storage."""
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def behaviour(model: Any) -> tuple[bool, bool]:
    """Return whether a loss of the head reaches the embedding, and whether a step moves it."""
    before = model.embedding.weight.detach().clone()
    model.zero_grad()
    width, like = model.lm_head.in_features, {"dtype": before.dtype, "device": before.device}
    model.lm_head(torch.ones(1, width, **like)).sum().backward()
    gradient = any(p.grad is not None for p in model.embedding.parameters())
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    return gradient, not torch.equal(before, model.embedding.weight.detach())


def four_tests(model: Any) -> tuple[bool, bool, bool, bool]:
    """Return the four that tell the states apart: one object, one storage, gradient, step."""
    a, b = model.embedding.weight, model.lm_head.weight
    return a is b, same_storage(a, b), *behaviour(model)


def said_by(call: Callable[[], object]) -> str:
    """Say whether a call warns, raises ValueError or says nothing."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            call()
        except ValueError:
            return "ValueError"
    return "a warning" if said else "nothing said"


# ------------------------------------------------------------------------------ treatments


def then(model: Any, *_: object) -> Any:
    """Return the model after something was done to it: ``then(m, init(m.lm_head.weight))``."""
    return model


def through_pickle(model: Any) -> Any:
    """Pickle and unpickle."""
    return pickle.loads(pickle.dumps(model))


def through_file(thing: Any, **how: Any) -> Any:
    """Save with torch and load again."""
    file = io.BytesIO()
    torch.save(thing, file)
    file.seek(0)
    return torch.load(file, **how)


def head_copied(model: Any) -> Any:
    """Put a deep copy of the head in its place."""
    model.lm_head = copy.deepcopy(model.lm_head)
    return model


def load(into: Any, source: Any, **how: Any) -> Any:
    """Load another model's state into a model."""
    return then(into, into.load_state_dict(source.state_dict(), **how))


def load_file(into: Any, source: Any, **how: Any) -> Any:
    """Load another model's state, after it was written to a file."""
    return then(into, into.load_state_dict(through_file(source.state_dict()), **how))


def to_empty(model: Any) -> Any:
    """Give a model memory without values on the CPU, and fill it."""
    model = model.to_empty(device="cpu")
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    return model


def converted(setting: Callable[[bool], None]) -> Treatment:
    """Return the conversion to float64 under a setting of ``torch.__future__``."""

    def treat(model: Any) -> Any:
        setting(True)
        try:
            return model.to(torch.float64)
        finally:
            setting(False)

    return treat


def head_from(model: Any, take: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """Make the head's weight a new parameter, taken from the embedding's."""
    model.lm_head.weight = nn.Parameter(take(model.embedding.weight))
    return model


def new_data(model: Any) -> Any:
    """Give the head's weight new data."""
    model.lm_head.weight.data = torch.randn(7, 4)
    return model


def new_embedding(model: Any) -> Any:
    """Put a layer made from the old one's weight in the embedding's place."""
    model.embedding = nn.Embedding.from_pretrained(model.embedding.weight, freeze=False)
    return model


class _Twice(nn.Module):
    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        return 2 * weight


def twice(model: Any) -> Any:
    """Parametrise the head as two times its weight."""
    parametrize.register_parametrization(model.lm_head, "weight", _Twice())
    return model


def twice_removed(model: Any) -> Any:
    """The same, made permanent."""
    parametrize.remove_parametrizations(twice(model).lm_head, "weight")
    return model


def normed(model: Any) -> Any:
    """Put weight norm on embedding and head."""
    for layer in (model.embedding, model.lm_head):
        parametrizations.weight_norm(layer)
    return model


def pruned(model: Any, remove: bool = False) -> Any:
    """Prune half of the head's weight; made permanent, if wanted."""
    prune.l1_unstructured(model.lm_head, "weight", amount=0.5)
    return then(model, prune.remove(model.lm_head, "weight")) if remove else model


def through_safetensors(model: Any, into: Any = None, **how: Any) -> Any:
    """Write with safetensors: its state dict, or itself, which is then loaded into another."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.safetensors"
        if into is None:
            safetensors.torch.save_file(model.state_dict(), file)
            return model
        safetensors.torch.save_model(model, file)
        safetensors.torch.load_model(into, file, **how)
        return into
