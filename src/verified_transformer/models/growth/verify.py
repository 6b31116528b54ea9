"""Does a grown model compute the small one's function? Both run, in float64 without any cast.

transformers rounds to float32 inside its norms, rotary tables and some softmaxes, whatever dtype
the model has. `clean_float64` answers each of these casts by float64, so that what is left is the
error of the transformation. `compare` also runs both models as they are.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ..architectures import is_tied
from .descriptions import Description, GrowthRefused, described
from .rules import Axes, Row

TOLERANCE = 1e-12  # of the largest logit; float64 leaves about 1e-15 a layer

Trace = list[tuple[str, str, Row, Any]]  # path, "input" or "output", row, value


class GrowthFailed(AssertionError):
    """A grown model is another function than the small one."""


@dataclass(frozen=True)
class Comparison:
    """How far a grown model is from its small one, relative to the largest logit.

    ``clean`` is measured in float64 without casts, ``as_run`` in the models' own dtypes with the
    casts of their class. ``broken`` says at which module the grown model first leaves the small
    one, and what to look at; empty where it nowhere does.
    """

    clean: float
    as_run: float
    broken: str


class _NoFloat32(TorchFunctionMode):
    """Where a function is told float32, it is told float64."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        args = tuple(torch.float64 if arg is torch.float32 else arg for arg in args)
        kwargs = {
            name: torch.float64 if value is torch.float32 else value
            for name, value in (kwargs or {}).items()
        }
        return (torch.Tensor.double if func is torch.Tensor.float else func)(*args, **kwargs)


@contextmanager
def clean_float64() -> Iterator[None]:
    """Run float64 models without the casts to float32 inside their classes.

    Rotary frequencies are the class's own, computed in float32 once; a grown model has the same
    numbers in its slots, so they do not tell the two models apart.
    """
    with _NoFloat32(), torch.no_grad():
        yield


def compare(small: Any, large: Any, *, tolerance: float = TOLERANCE) -> Comparison:
    """Compare a model and a grown one on random tokens, some of them masked.

    Args:
        small: a model of a class that `grow` accepts.
        large: a model of the same class, k times as wide.
        tolerance: the relative error from which a module counts as broken; for weights that were
            rounded to float32 it takes 1e-6.

    Returns:
        The relative errors of the logits, and the first module that broke.

    Raises:
        GrowthRefused: the class is unknown, or ``large`` is no grown copy of it by its shape.
    """
    description = described(small)
    if type(large) is not type(small):
        raise GrowthRefused(f"large: got {type(large).__name__}; accepted: {type(small).__name__}")
    k = _factor(small.config, large.config, description.widths)
    axes = description.axes(small.config, k, is_tied(small))
    inputs = _random_inputs(small)
    with torch.no_grad():
        as_run = _distance(*(_evaluated(model, inputs).logits for model in (small, large)))
    clean, broken = _clean(small, large, description, axes, tolerance)
    return Comparison(clean, as_run, broken)


def require_same_function(small: Any, large: Any, description: Description, axes: Axes) -> None:
    """Check two models module by module, before the grown weights are rounded.

    Raises:
        GrowthFailed: the logits or a module differ by more than `TOLERANCE`.
    """
    error, broken = _clean(small, large, description, axes, TOLERANCE)
    if broken or not error <= TOLERANCE:
        raise GrowthFailed(
            f"grown {type(small).__name__}: relative error of the logits {error:.1e}, accepted "
            f"{TOLERANCE:.0e}; first at {broken or 'no module'}"
        )


def _factor(small: Any, large: Any, widths: tuple[str, ...]) -> int:
    """By how much every width of one configuration is larger than another's."""
    olds: list[Any]
    news: list[Any]
    olds, news = ([getattr(config, width, None) for width in widths] for config in (small, large))
    k = news[0] // olds[0]
    if k < 1 or news != [old and k * old for old in olds]:
        raise GrowthRefused(
            f"large: got {', '.join(widths)} = {news}; accepted: one multiple of {olds}"
        )
    return k


def _clean(
    small: Any, large: Any, description: Description, axes: Axes, tolerance: float
) -> tuple[float, str]:
    """Error of the logits in clean float64, and the first module that broke."""
    inputs = _random_inputs(small)
    traces, logits = [], []
    for model in (small, large):
        twin = copy.deepcopy(model).double()
        with clean_float64(), _traced(twin, description) as trace:
            logits.append(_evaluated(twin, inputs).logits)
        traces.append(trace)
    return _distance(*logits), _first_break(traces[0], traces[1], axes, tolerance)


def _evaluated(model: Any, inputs: dict[str, torch.Tensor]) -> Any:
    modes = [(module, module.training) for module in model.modules()]
    try:
        return model.eval()(**inputs)
    finally:
        for module, training in modes:
            module.training = training


def _random_inputs(model: Any, batch: int = 2, length: int = 12) -> dict[str, torch.Tensor]:
    """Tokens, token types and a mask that hides the end of the last row."""
    config, generator = model.config, torch.Generator().manual_seed(8444)
    length = min(length, getattr(config, "max_position_embeddings", None) or length)

    def drawn(bound: int) -> torch.Tensor:
        return torch.randint(bound, (batch, length), generator=generator).to(model.device)

    inputs = {"input_ids": drawn(config.vocab_size), "attention_mask": drawn(1) + 1}
    inputs["attention_mask"][-1, -(length // 4) :] = 0
    if getattr(config, "type_vocab_size", None):
        inputs["token_type_ids"] = drawn(config.type_vocab_size)
    if config.is_encoder_decoder:
        inputs["decoder_input_ids"] = drawn(config.vocab_size)
    return inputs


@contextmanager
def _traced(model: Any, description: Description) -> Iterator[Trace]:
    """Collect what goes in and out of every described module, in the order of the run."""
    trace: Trace = []

    def hook(path: str, row: Row) -> Callable[..., None]:
        def keep(module: Any, given: tuple[Any, ...], output: Any) -> None:
            if row.reads is not None:
                trace.append((path, "input", row, given[0]))
            trace.append((path, "output", row, output))

        return keep

    handles = []
    for path, module in model.named_modules():
        row = description.rows.get(re.sub(r"\.\d+(?=\.|$)", ".#", path))
        if row is not None and row.rule != "frequencies":
            handles.append(module.register_forward_hook(hook(path, row)))
    try:
        yield trace
    finally:
        for handle in handles:
            handle.remove()


def _first_break(small: Trace, large: Trace, axes: Axes, tolerance: float) -> str:
    for (path, side, row, before), (_, _, _, after) in zip(small, large, strict=True):
        name = row.reads if side == "input" else row.writes
        assert name is not None  # `_traced` keeps the input of those that read an axis
        axis = axes[name]
        taken = (axis.factor != 0).to(after)  # what stands in an empty slot is seen by no one
        error = _distance(axis.write(before, -1), after * taken)
        if not error <= tolerance:
            return f"{path}, its {side} (relative error {error:.1e}): {_suspects(side, row)}"
    return ""


def _suspects(side: str, row: Row) -> str:
    """What stands between the last good place and the broken one."""
    if side == "output":
        return f"rule {row.rule!r}, axis {row.writes!r}" + (", or ε" if row.rule == "norm" else "")
    return {
        "attended": "the attention: scale of query and key, order of heads, rotary slots",
        "feed-forward": "the activation or the gate",
        "scored": "the scale that the class puts on the head's input, axis 'features'",
    }.get(str(row.reads), "the sum in the stream before it")


def _distance(expected: torch.Tensor, found: torch.Tensor) -> float:
    if expected.shape != found.shape:
        return float("inf")
    difference = (found.double() - expected.double()).abs().max()
    return float(difference / expected.double().abs().max().clamp(min=1e-300))
