"""Make a mixture of experts of a dense model: each expert is a copy, and the function stays.

A router gives each token some experts and shares p that sum to one. While all experts are one
function f, what comes out is Σ p f(x) = f(x), whatever the router says. Experts part in training,
since each sees tokens of its own; until they do, no share matters, and the router has no gradient.
(Komatsuzaki et al., 2022, call it sparse upcycling.)
"""

from __future__ import annotations

from typing import Any

import torch

from ..accepted import require_positive
from .arrived import require_experts
from .descriptions import GrowthRefused, described
from .sizes import head_size
from .stock import carry, require_stock
from .verify import TOLERANCE, GrowthFailed, logits_apart

# by dense class, the mixture with its attention and its norms, and what its options are called
_MIXTURES = {
    "LlamaForCausalLM": ("MixtralForCausalLM", "num_local_experts", "intermediate_size"),
    "MistralForCausalLM": ("MixtralForCausalLM", "num_local_experts", "intermediate_size"),
    "Qwen3ForCausalLM": ("Qwen3MoeForCausalLM", "num_experts", "moe_intermediate_size"),
}


def upcycle(
    model: Any,
    experts: int,
    *,
    active: int = 2,
    generator: torch.Generator | None = None,
    check: bool = True,
) -> Any:
    """Return a mixture of experts that computes a dense model's function.

    Args:
        model: a Llama, a Mistral or a Qwen 3 of transformers, with a head of language modelling.
        experts: how many copies of each feed-forward block the mixture has.
        active: how many of them a token is given.
        generator: source of the routers, which are drawn as the class draws them, on the CPU.
        check: whether both models run on random tokens in float64.

    Returns:
        A Mixtral, or Qwen 3's mixture, in the dtype, on the device and in the mode of the model.
        Nothing is shared. `grow` takes it further.

    Raises:
        TypeError, ValueError: ``experts`` or ``active`` is no whole number, or fewer experts are
            there than are active.
        GrowthRefused: the model is none of these classes, or not as its class makes it; the mixture
            has no place for one of its parameters, or not its windows.
        GrowthFailed: the check found another function.

    Example:
        >>> from transformers import MistralConfig, MistralForCausalLM
        >>> small = MistralForCausalLM(MistralConfig(
        ...     vocab_size=19, hidden_size=16, intermediate_size=20, num_hidden_layers=1,
        ...     num_attention_heads=2, num_key_value_heads=2))
        >>> upcycle(small, 4).config.num_local_experts
        4
    """
    import transformers

    require_positive(experts=experts, active=active)
    if active > experts:
        raise ValueError(f"active: got {active}; accepted: from 1 to {experts}, as experts are")
    described(model)
    name = type(model).__name__
    if name not in _MIXTURES:
        raise GrowthRefused(f"model: got {name}; accepted: {', '.join(_MIXTURES)}")
    if "sliding_attention" in (getattr(model.config, "layer_types", None) or ()):
        raise GrowthRefused(
            "config.layer_types: got sliding_attention; accepted: one kind of attention for all "
            "layers, as the mixture's class has"
        )
    require_stock(model)
    kind, count, inner = _MIXTURES[name]
    large = _empty(getattr(transformers, kind), model, {
        count: experts, "num_experts_per_tok": active, inner: model.config.intermediate_size,
    })  # fmt: skip
    require_experts(large, experts, active)
    _fill(model, large, generator)
    carry(model, large, lambda path: (path, False))
    if check:
        error = logits_apart(model, large)
        if not error <= TOLERANCE:
            raise GrowthFailed(f"{kind} of {name}: relative error of the logits {error:.1e}")
    return large


def _empty(kind: Any, model: Any, sizes: dict[str, Any]) -> Any:
    """The mixture, with the dense model's options and its sizes, its weights yet to be filled."""
    from transformers.initialization import no_init_weights

    usual = kind.config_class()
    kept = {
        option: value for option, value in model.config.to_dict().items()
        if hasattr(usual, option)  # an alias of another option as well
        and option not in ("architectures", "transformers_version", "model_type")
    }  # fmt: skip
    if hasattr(usual, "norm_topk_prob"):  # the others' shares always sum to one
        kept["norm_topk_prob"] = True
    config = kind.config_class(**kept | sizes | {"head_dim": head_size(model.config)})
    config._attn_implementation = model.config._attn_implementation
    with torch.device(model.device), no_init_weights():
        large = kind(config).to(model.dtype)
    large.tie_weights()
    return large


def _fill(model: Any, large: Any, generator: torch.Generator | None) -> None:
    """Copy the dense model, its feed-forward block once for each expert, and draw the routers.

    Raises:
        GrowthRefused: a parameter of one has no place in the other.
    """
    for name, buffer in model.named_buffers():  # rotary frequencies, in a dtype of their own
        path, _, leaf = name.rpartition(".")
        setattr(large.get_submodule(path), leaf, buffer.clone())
    small = dict(model.named_parameters())
    with torch.no_grad():
        for name, own in large.named_parameters():
            path = name.partition(".experts.")[0]
            if name.endswith("experts.gate_up_proj"):
                parts = [small.pop(f"{path}.{part}_proj.weight") for part in ("gate", "up")]
                own.copy_(torch.cat(parts).expand_as(own))
            elif name.endswith("experts.down_proj"):
                own.copy_(small.pop(f"{path}.down_proj.weight").expand_as(own))
            elif name.endswith("mlp.gate.weight"):
                drawn = torch.randn(own.shape, generator=generator, dtype=torch.float64)
                own.copy_(large.config.initializer_range * drawn)
            elif name not in small:
                raise GrowthRefused(
                    f"{name}: the model has it not; accepted: a head tied as the configuration says"
                )
            else:
                own.copy_(small.pop(name))
            own.requires_grad_(True)
    if small:
        raise GrowthRefused(
            f"{next(iter(small))}: {type(large).__name__} has no place for it; accepted: a model "
            "without it"
        )
