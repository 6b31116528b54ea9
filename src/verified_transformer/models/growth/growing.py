"""Grow a model: build the wide class, fill it by the rules, and check it against the small one."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import nn

from ..architectures import is_tied
from . import rules
from .axes import Axis
from .descriptions import Description, GrowthRefused, described
from .rules import Axes, Part
from .verify import require_same_function


def grow(
    model: Any,
    k: int,
    *,
    noise: float = 0.0,
    generator: torch.Generator | None = None,
    check: bool = True,
) -> Any:
    """Return a model of the same class, k times as wide, that computes the same function.

    Hidden width, head size and feed-forward width are multiplied by k; layers, heads and vocabulary
    stay. The stream is repeated plainly, (x₁, x₂) to (x₁, x₁, x₂, x₂), so that every norm keeps its
    ε. Weights are computed in float64 and rounded to the model's dtype at the end: k^(1/4) is no
    float, so a grown float32 model differs by its rounding (about 1e-7 of the logits).

    Args:
        model: BertForMaskedLM, GPT2LMHeadModel, T5ForConditionalGeneration,
            MT5ForConditionalGeneration, LlamaForCausalLM or RoFormerForMaskedLM.
        k: factor of growth, at least 2.
        noise: how far copies are told apart, relative to the size of each weight. At 0 copies have
            equal gradients and stay copies under SGD and Adam, and empty rotary slots stay empty;
            above, each weight of a linear map, a tied head excepted, gets noise that no state of
            the model sees, and copies part.
        generator: source of the noise, on the CPU.
        check: whether both models run on random tokens in float64 before the rounding; needs memory
            for float64 copies of both. Without it, what was changed on the modules and not in the
            configuration (an ε, an activation, a hook) is lost in silence.

    Returns:
        A new model, in the dtype, on the device and in the mode of the old one. Nothing is shared.

    Raises:
        TypeError, ValueError: ``k`` is no integer, or less than 2.
        GrowthRefused: no rule is known for the class, an option, a parameter or a buffer.
        GrowthFailed: the check found another function; names the first module that broke.

    Source: kexue 8444, with its table mended.

    Example:
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> small = GPT2LMHeadModel(GPT2Config(n_embd=8, n_head=2, n_layer=1))
        >>> grow(small, 2).config.n_embd
        16
    """
    if isinstance(k, bool) or not isinstance(k, int):
        raise TypeError(f"k: got {k!r}; accepted: an integer of at least 2")
    if k < 2:
        raise ValueError(f"k: got {k}; accepted: an integer of at least 2")
    if not noise >= 0:
        raise ValueError(f"noise: got {noise}; accepted: a number of at least 0")
    large = grow_along(model, k, noise=noise, generator=generator)
    if check:
        description = described(model)
        axes = description.axes(model.config, k, is_tied(model))
        require_same_function(model, large, description, axes)
    for name, parameter in model.named_parameters():
        large.get_parameter(name).data = large.get_parameter(name).data.to(parameter.dtype)
    return large


def grow_along(
    model: Any,
    k: int,
    axes: Mapping[str, Axis] = MappingProxyType({}),
    *,
    noise: float = 0.0,
    generator: torch.Generator | None = None,
) -> Any:
    """Return the class k times as wide, filled along axes of one's own: another function, perhaps.

    Args:
        model: as `grow` takes it.
        k: factor of growth.
        axes: by name, those that take the place of the description's, such as ``"query"``.
        noise, generator: as `grow` takes them; along an axis with zeros the weights that read the
            new coordinates are drawn, and those that write them stay zero.

    Returns:
        A new model; its weights in float64, nothing compared.

    Raises:
        ValueError: the description has no axis of such a name.
        GrowthRefused: as `grow`.

    Source: the tries of kexue 8444, repetition by pairs and zero-padding among them.

    Example:
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> small = GPT2LMHeadModel(GPT2Config(n_embd=8, n_head=2, n_layer=1))
        >>> from verified_transformer.models.growth import repeated
        >>> padded = repeated(32, 2)
        >>> padded.factor[1::2] = 0
        >>> large = grow_along(small, 2, {"feed-forward": padded})
        >>> large.transformer.h[0].mlp.c_fc.weight[0, 1].item() == 0
        True
    """
    description = described(model)
    usual = description.axes(model.config, k, is_tied(model))
    if strange := sorted(set(axes) - set(usual)):
        raise ValueError(f"axes: got {strange}; accepted: {', '.join(usual)}")
    large, chosen = _wide(model, k, description), {**usual, **axes}
    _fill_buffers(model, large, description, chosen)
    _fill_parameters(model, large, description, chosen)
    if noise:
        _tell_apart(large, description, chosen, noise, generator)
    return large


def _wide(model: Any, k: int, description: Description) -> Any:
    """The class with a configuration k times as wide; its weights are yet to be filled."""
    config = copy.deepcopy(model.config)
    for option in description.widths:
        if getattr(config, option, None) is not None:
            setattr(config, option, k * getattr(config, option))
    with torch.random.fork_rng():  # the initial draw is thrown away; the caller's stream goes on
        large = type(model)(config).to(model.device)
    if hasattr(model, "generation_config"):
        large.generation_config = copy.deepcopy(model.generation_config)
    modes = dict(model.named_modules(remove_duplicate=False))
    for name, module in large.named_modules(remove_duplicate=False):
        if name in modes:
            module.training = modes[name].training
            if isinstance(module, nn.Dropout):
                module.p = modes[name].p
    return large


def _fill_parameters(model: Any, large: Any, description: Description, axes: Axes) -> None:
    """Grow every parameter; what the small model shares, the large one shares too."""
    grown: dict[int, tuple[str, nn.Parameter]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        path, _, leaf = name.rpartition(".")
        value = _grown(name, parameter.detach(), large, description, axes)
        first, shared = grown.setdefault(
            id(parameter), (name, nn.Parameter(value, requires_grad=parameter.requires_grad))
        )
        if not torch.allclose(shared, value, rtol=1e-12, atol=0.0):
            raise GrowthRefused(
                f"{name} shares its parameter with {first}, and their rules disagree"
            )
        setattr(large.get_submodule(path), leaf, shared)
    extra = {name for name, _ in large.named_parameters(remove_duplicate=False)}
    extra -= {name for name, _ in model.named_parameters(remove_duplicate=False)}
    if extra:
        raise GrowthRefused(f"{min(extra)}: the grown class has it, the small model has not")


def _tell_apart(
    large: Any,
    description: Description,
    axes: Axes,
    noise: float,
    generator: torch.Generator | None,
) -> None:
    """Add to every linear map what it cannot see; not to a tied head, which is also a table."""
    uses = Counter(id(p) for _, p in large.named_parameters(remove_duplicate=False))
    for name, parameter in large.named_parameters():
        path, _, leaf = name.rpartition(".")
        row = _row(path, description)
        assert row is not None  # `_fill_parameters` refuses a parameter without
        if leaf == "weight" and row.rule in ("linear", "transposed") and uses[id(parameter)] == 1:
            drawn = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            drawn *= noise * parameter.detach().square().mean().sqrt().cpu()
            parameter.data += rules.unseen(drawn, row, axes).to(parameter.device)


def _fill_buffers(model: Any, large: Any, description: Description, axes: Axes) -> None:
    """Rotary frequencies go to their slots; every other buffer must be the small model's."""
    for name, buffer in model.named_buffers():
        path, _, leaf = name.rpartition(".")
        own = large.get_buffer(name)
        if _row(path, description) is not None:
            value = _grown(name, buffer, large, description, axes)
            setattr(large.get_submodule(path), leaf, value.to(buffer.dtype))
        elif not torch.equal(own, buffer):
            raise GrowthRefused(f"{name}: a buffer that depends on the width; no rule is known")


def _grown(
    name: str, value: torch.Tensor, large: Any, description: Description, axes: Axes
) -> torch.Tensor:
    """One parameter or buffer by the rule of its module, in float64."""
    path, _, leaf = name.rpartition(".")
    row = _row(path, description)
    if row is None or leaf not in ("weight", "bias", "inv_freq", "original_inv_freq"):
        raise GrowthRefused(
            f"{name}: no rule is known for this parameter of {type(large).__name__}"
        )
    own = getattr(large.get_submodule(path), leaf, None)
    if own is None:
        raise GrowthRefused(f"{name}: {type(large).__name__} with this configuration has it not")
    if value.dtype not in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        raise GrowthRefused(f"{name}: got {value.dtype}; accepted: floats of 16 bits or more")
    own = own.detach().to(value.dtype).double()
    reads = None if row.reads is None else axes[row.reads]
    try:
        value = rules.RULES[row.rule](Part(leaf, value.double(), axes[row.writes], reads, own))
    except (ValueError, IndexError) as error:
        raise GrowthRefused(f"{name}: rule {row.rule!r} does not fit: {error}") from error
    if value.shape != own.shape:
        raise GrowthRefused(
            f"{name}: rule {row.rule!r} makes {tuple(value.shape)}, the class {tuple(own.shape)}"
        )
    return value


def _row(path: str, description: Description) -> rules.Row | None:
    return description.rows.get(re.sub(r"\.\d+(?=\.|$)", ".#", path))
