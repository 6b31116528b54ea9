"""Grow a model: build the wide class, fill it by the rules, and check it against the small one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Unpack

import torch

from ..accepted import require_real
from .arrived import keep_tie, require_sizes
from .axes import Axis
from .descriptions import Description, described
from .filling import Growth
from .sizes import Sizes, enlarged
from .verify import require_same_function


def begun(
    model: Any,
    k: int,
    sizes: Mapping[str, Any] = MappingProxyType({}),
    *,
    axes: Mapping[str, Axis] = MappingProxyType({}),
    noise: float = 0.0,
    generator: torch.Generator | None = None,
    description: Description | str | None = None,
) -> Growth:
    """Build the wide model, its weights yet to be filled; refuse sizes that it cannot have.

    Args:
        model, k, sizes, axes, noise, generator, description: as `grow` and `grow_along` take them.

    Raises:
        TypeError, ValueError, GrowthRefused: as `grow`.
    """
    found = described(model, description)
    config = enlarged(model.config, k, sizes, found.names)
    growth = Growth(model, config, axes, noise=noise, generator=generator, description=description)
    if not axes:
        growth.require_means()
    require_sizes(growth, sizes)
    keep_tie(growth)
    return growth


def _require_noise(noise: float, generator: torch.Generator | None) -> None:
    require_real(noise=noise)
    if generator is not None and not isinstance(generator, torch.Generator):
        got = type(generator).__name__
        raise TypeError(f"generator: got {got}; accepted: a torch.Generator, or None")
    if not 0 <= noise < math.inf:
        raise ValueError(f"noise: got {noise}; accepted: a finite number of at least 0")


def grow(
    model: Any,
    k: int = 1,
    *,
    noise: float = 0.0,
    generator: torch.Generator | None = None,
    check: bool = True,
    description: Description | str | None = None,
    **sizes: Unpack[Sizes],
) -> Any:
    """Return a larger model of the same class that computes the same function.

    Hidden width, head size and feed-forward width are multiplied by k; layers, heads and vocabulary
    stay unless they are asked for. The stream is repeated plainly, (x₁, x₂) to (x₁, x₁, x₂, x₂),
    so that every norm keeps its ε; to a width that is no multiple, with a factor on each copy. An
    entry of a grown weight is an entry of the small one times a factor, rounded once.

    In low precision that rounding counts. Where the factor is a power of two there is none, but for
    subnormal numbers (in float16). Others (k^(±1/4) on query and key, 1/k for a k that is no power
    of two) are rounded anew, which costs as much again as the dtype itself cost these weights.
    `compare` predicts it from the small model, measures it, and tells the share of such weights. It
    is zero for a Llama or a Mistral with k = 4, where √k stands on the query alone; and for every
    class where k is a power of two and there are k times as many ``heads``, so that none is larger.

    Args:
        model: of transformers: a base model, a language model or a classifier of the kind of BERT,
            RoBERTa, ModernBERT, GPT-2, GPT-NeoX, OPT, Llama, Mistral, Mixtral, Qwen 2, Qwen 3 and
            its mixture, Gemma 1 to 3, OLMo 2, Phi-3 or ViT; RoFormer's, T5's and mT5's language
            models. The classes are the keys of `DESCRIPTIONS`. Its modules must be those that its
            class makes.
        k: factor of growth of the stream; 1 where another size is to grow.
        noise: how far copies are told apart, relative to the size of each weight. At 0 copies have
            equal gradients and stay copies under SGD and Adam, and empty rotary slots stay empty;
            above, each weight of a linear map, a tied head excepted, gets noise that no state of
            the model sees, and copies part. With 0 the model can follow the small one
            (`grow_optimiser`). To train it further than that, 1.0 did better than 0 or 0.1 where
            it was measured (the manual, "Train on").
        generator: source of the noise, on the CPU.
        check: whether both models run on random tokens in float64, the large one with its weights
            before they were rounded: masked, padded on the left, at positions up to the last that
            is configured, with a cache, and in training mode with dropout left out. One layer of
            each kind runs, with 256 words; of other weights some rows are held against the rules.
            So it costs as much as these layers, however many there are; `compare` runs all.
        description: of a class that is none of these; `describe` drafts it. Its models must have a
            ``config`` from which the class makes them.
        **sizes: what else grows, ``heads=16``: any of `Sizes`, alone or with k.

    Returns:
        A new model, in the dtype, on the device and in the mode of the old one, with its dropout
        and its checkpointing of activations. Nothing is shared. Its configuration says whether the
        head is tied, also where the small model's says otherwise, so that a tie outlives a disk.
        Gradients, and what others hung on modules and parameters, are not taken over, nor is a head
        that the class ties whatever it is told (T5's); `Comparison.lost` lists that.

    Raises:
        TypeError, ValueError: ``k`` or a size is no integer, or none to which the small model can
            grow; ``noise`` is no finite number of at least 0.
        GrowthRefused: no rule is known for the class, an option, a parameter or a buffer; or a
            module is not as its class makes it: another class, method, hook or setting; a size that
            was asked for is in no array of the class.
        GrowthFailed: the check found another function; names the first module that broke.

    Source: kexue 8444, with its table mended.

    Example:
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> small = GPT2LMHeadModel(GPT2Config(n_embd=8, n_head=2, n_layer=1))
        >>> grow(small, 2).config.n_embd
        16
        >>> grow(small, layers=3, feed_forward=50).num_parameters() > small.num_parameters()
        True
    """
    _require_noise(noise, generator)
    growth = begun(model, k, sizes, noise=noise, generator=generator, description=description)
    growth.fill()
    if check:
        require_same_function(growth)
    return growth.large


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
        TypeError, ValueError: as `grow`; the description has no axis of such a name.
        GrowthRefused: as `grow`.

    Source: the tries of kexue 8444, repetition by pairs and zero-padding among them.

    Example:
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> small = GPT2LMHeadModel(GPT2Config(n_embd=8, n_head=2, n_layer=1))
        >>> from weightwise.growth import repeated
        >>> padded = repeated(32, 2)
        >>> padded.factor[1::2] = 0
        >>> large = grow_along(small, 2, {"feed-forward": padded})
        >>> large.transformer.h[0].mlp.c_fc.weight[0, 1].item() == 0
        True
    """
    _require_noise(noise, generator)
    for name, axis in axes.items():
        if not isinstance(axis, Axis):
            raise TypeError(f"axes[{name!r}]: got {type(axis).__name__}; accepted: an Axis")
    growth = begun(model, k, axes=axes, noise=noise, generator=generator)
    growth.fill(torch.float64)
    return growth.large
