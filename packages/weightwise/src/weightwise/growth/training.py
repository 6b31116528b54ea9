"""Train a grown model on as the small one would be: rates, decay and ε of every array.

A parameter grows by W̃ = G W, where an entry is one entry of W times a factor φ. If the two models
are one function, and copies count alike, then the gradient of the large one is (G⁺)ᵀ of the small
one's: W̃'s entry times ρ. For φ = 1 and c copies, ρ = 1/c. So where one φ and one ρ hold for all of
an array, training and growing commute, if

    SGD, momentum   rate η / ρ     decay λ ρ
    Adam            rate η φ       decay λ ρ     ε times ρ φ
    AdamW           rate η φ       decay λ / φ   ε times ρ φ

SGD moves W̃ by η̃ ρ G(g), and decay adds λ̃ W̃ to ρ G(g). Adam's step is η̃ whatever the scale of the
gradient, but for ε, which stands beside a gradient times ρ φ; AdamW shrinks W̃ by η̃ λ̃ beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from .axes import Gathered
from .descriptions import Description, GrowthRefused
from .filling import Growth

# by optimiser, what multiplies rate, decay and ε, of an array with factors φ and ρ
FOLLOWS: dict[type, Callable[[float, float], dict[str, float]]] = {
    torch.optim.SGD: lambda φ, ρ: {"lr": 1 / ρ, "weight_decay": ρ},
    torch.optim.Adam: lambda φ, ρ: {"lr": φ, "weight_decay": ρ, "eps": ρ * φ},
    torch.optim.AdamW: lambda φ, ρ: {"lr": φ, "weight_decay": 1 / φ, "eps": ρ * φ},
}
_FIRST, _SECOND = ("momentum_buffer", "exp_avg"), ("exp_avg_sq", "max_exp_avg_sq")


def grow_optimiser(
    optimiser: torch.optim.Optimizer,
    small: Any,
    large: Any,
    *,
    description: Description | str | None = None,
) -> Any:
    """Return an optimiser under which a grown model goes on as the small one would.

    Not where gradients are clipped by the norm of all arrays together: that norm grows, by no one
    factor.

    Args:
        optimiser: of the small model, torch's own SGD, Adam or AdamW; its groups and their
            options are kept, so that a schedule of the rate goes on, and its state is grown along.
        small: the model before it was grown.
        large: what `grow` made of it, without noise (with noise the copies part, which is what
            noise is for; the rates are then those from which they part).
        description: as `grow` takes it.

    Returns:
        An optimiser of the same class, with a group for each array of ``large``.

    Raises:
        GrowthRefused: another optimiser; a model with new layers or words, which learn what
            the small one has not; a parameter that is not the small model's; an array
            that no single rate can lead: its entries have grown by different factors.

    Example:
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> from weightwise import grow
        >>> small = GPT2LMHeadModel(GPT2Config(n_embd=8, n_head=2, n_layer=1))
        >>> large = grow(small, 2)
        >>> adam = grow_optimiser(torch.optim.AdamW(small.parameters(), lr=0.1), small, large)
        >>> [group["lr"] for group in adam.param_groups if group["params"][0].shape == (64, 16)]
        [0.05]
    """
    kind = type(optimiser)
    if kind not in FOLLOWS:
        raise GrowthRefused(
            f"optimiser: got {kind.__name__}; accepted: torch's "
            + ", ".join(known.__name__ for known in FOLLOWS)
        )
    growth = Growth(small, large=large, description=description)
    if growth.stacks or growth.new_words:
        what = "layers" if growth.stacks else "words"
        raise GrowthRefused(
            f"large: got new {what}, which learn what the small model has not, so that no rates "
            f"let it follow (section 4.8); accepted: as many {what} as the small model has"
        )
    of_heads, of_keys = (
        len(growth.axes[name].source) // growth.axes[name].size
        for name in ("heads", "key-value heads")
    )
    if of_heads % of_keys:
        raise GrowthRefused(
            f"large: got {of_keys} copies of each key-value head, which serve other heads each, so "
            "that no rates keep them alike; accepted: as many copies of heads, or a multiple"
        )
    names = {parameter: name for name, parameter in small.named_parameters()}
    groups, states = [], {}
    for group in optimiser.param_groups:
        for parameter in group["params"]:
            if parameter not in names:
                raise GrowthRefused("optimiser: it has a parameter that the small model has not")
            name = names[parameter]
            rule = growth.gathered(name)
            own = large.get_parameter(name)
            options = {key: value for key, value in group.items() if key != "params"}
            options |= _grown_options(kind, name, rule, options)
            groups.append({**options, "params": [own]})
            if parameter in optimiser.state:
                states[own] = _grown_state(optimiser.state[parameter], rule)
    found: Any = kind(groups)  # type: ignore[call-arg]
    found.state.update(states)
    return found


def _grown_options(
    kind: type, name: str, rule: Gathered, options: dict[str, Any]
) -> dict[str, Any]:
    """Rate, decay and ε of one array of the grown model.

    Raises:
        GrowthRefused: its entries would need different ones.
    """
    if options.get("decoupled_weight_decay"):  # of torch's Adam, which then is AdamW
        kind = torch.optim.AdamW
    every = [(φ, ρφ / φ) for φ, ρφ in sorted(rule.factors())]
    φ, factors = every[0][0], FOLLOWS[kind](*every[0])
    for other, ρ in every[1:]:
        for option, needed in FOLLOWS[kind](other, ρ).items():
            if not math.isclose(needed, factors[option]):
                same = math.isclose(ρ, every[0][1])
                raise GrowthRefused(
                    f"{name}: entries have grown by {φ:.4g} and by {other:.4g}, so that "
                    f"{kind.__name__} would need two of {option} in one array, "
                    f"{factors[option]:.4g} and {needed:.4g} times the small one's (section 4.8); "
                    "accepted: "
                    + ("SGD, for which they are the same" if same else "as many copies of each")
                )
    if rule.shift and φ != 1 and options.get("weight_decay"):
        raise GrowthRefused(
            f"{name}: decay pulls w to zero, and what has grown is 1 + w, by {φ:.4g}; accepted: "
            "weight_decay=0 for this gain, as is usual"
        )
    factors["initial_lr"] = factors["lr"]  # what a schedule starts from
    return {
        option: options[option] * factor for option, factor in factors.items() if option in options
    }


def _grown_state(state: dict[str, Any], rule: Gathered) -> dict[str, Any]:
    """An optimiser's memory of one array: gradients grow by (G⁺)ᵀ, their squares by its square."""
    adjoint = rule.adjoint()
    found = {}
    for name, value in state.items():
        if name in _FIRST and value is not None:
            found[name] = _filled(adjoint.of(value), value)
        elif name in _SECOND:
            found[name] = _filled(adjoint.squared().of(value), value)
        else:
            found[name] = value.clone() if isinstance(value, torch.Tensor) else value
    return found


def _filled(rule: Gathered, like: torch.Tensor) -> torch.Tensor:
    return rule.into(torch.empty(rule.shape, dtype=like.dtype, device=like.device))
