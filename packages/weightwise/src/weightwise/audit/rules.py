"""What a parameter was asked to start with: a setting, documentation or a paper, never the code.

The code that draws is what is tried. Where nothing outside of it says what is due, there is none.
A paper that was not at hand when its rule was written is said to be remembered.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

_DEVIATIONS = ("initializer_range", "init_std")  # documented as that of all weight matrices
_OF_TABLES = ("embedding_initializer_range", "embed_init_std")  # and as that of embedding matrices
_BIASES = "Glorot and Bengio 2010, section 2.3, as remembered: biases start at 0"
_GAINS = "documentation of torch.nn.LayerNorm and RMSNorm: gains start at 1"
_SHIFTS = "documentation of torch.nn.LayerNorm: shifts start at 0"
_SCALED = "Radford et al. 2019, as transformers quotes it in modeling_gpt2"
_RESIDUAL = {"gpt2": "c_proj", "gpt_bigcode": "c_proj", "decision_transformer_gpt2": "c_proj"}


@dataclass(frozen=True)
class Asked:
    """A rule: ``value`` of every entry, or the ``deviation`` of entries of mean zero; its address.

    Where there is neither, rows are to differ.

    ``blank`` is a row that may be zero, as padding's is.
    """

    address: str
    deviation: float | None = None
    value: float | None = None
    blank: int | None = None

    def __str__(self) -> str:
        if self.value is not None:
            return f"{self.value:g} everywhere"
        return "rows that differ" if self.deviation is None else f"deviation {self.deviation:.4g}"


def asked_of(model: nn.Module) -> Iterator[tuple[str, torch.Tensor, Asked | None]]:
    """Yield each parameter, under its first name, with its rule, or None where there is none."""
    modules, configs = dict(model.named_modules()), _configs(model)
    blank = {
        each.weight: each.padding_idx for each in modules.values()
        if isinstance(each, nn.Embedding) and each.padding_idx is not None
    }  # fmt: skip
    for name, parameter in model.named_parameters():
        home, _, leaf = name.rpartition(".")
        config = next(config for prefix, config in configs if _inside(home, prefix))
        asked = _rule(modules[home], leaf, name, parameter, config)
        if asked is not None and parameter in blank:  # a tied one may have its head's name
            asked = replace(asked, blank=blank[parameter])
        yield name, parameter, asked


def _configs(model: nn.Module) -> list[tuple[str, Any]]:
    """The configuration that holds below a name, the longest name first."""
    found = [
        (name, module.config) for name, module in model.named_modules()
        if getattr(module, "config", None) is not None and hasattr(module.config, "to_dict")
        and (hasattr(module, "init_weights") or not name)
    ]  # fmt: skip
    return sorted([*found, ("", getattr(model, "config", None))], key=lambda pair: -len(pair[0]))


def _inside(name: str, prefix: str) -> bool:
    return not prefix or name == prefix or name.startswith(f"{prefix}.")


def _rule(
    module: nn.Module, leaf: str, name: str, parameter: torch.Tensor, config: Any
) -> Asked | None:
    kind = type(module).__name__
    if "norm" in kind.lower() and leaf == "weight" and parameter.ndim == 1:
        if getattr(config, "initializer_factor", None) not in (None, 1):
            return None  # documented as a factor on all weight matrices: T5 has its gains follow
        return Asked(_GAINS, value=_stored_gain(module, parameter))
    if "norm" in kind.lower() and leaf == "bias":
        return Asked(_SHIFTS, value=0.0)
    matrix = isinstance(module, nn.Linear | nn.Embedding) or kind == "Conv1D"
    raw = any(word in name for word in ("proj", "expert", "router", "gate"))
    of_its_own = leaf in ("dt_bias", "A_log", "D") or "sinusoidal" in kind.lower()
    if of_its_own or ("dt_proj" in name and hasattr(config, "time_step_min")):
        return None  # has a law of its own, of which no deviation is a setting
    if leaf.endswith("bias") and (matrix or (raw and "conv" not in kind.lower())):
        return Asked(_BIASES, value=0.0)
    tables = isinstance(module, nn.Embedding)
    setting = (tables and _setting(config, _OF_TABLES)) or _setting(config, _DEVIATIONS)
    if setting is None:
        return None
    text, σ = setting
    if leaf == "sinks":
        return Asked(f"{text}, of weight matrices: a vector is not drawn", value=0.0)
    if parameter.ndim < 2 or not (matrix or (raw and "conv" not in kind.lower())):
        return None
    residual = _RESIDUAL.get(getattr(config, "model_type", ""), "no such name")
    if matrix and residual in name:
        layers = 2 * config.num_hidden_layers
        return Asked(f"{text}, over √{layers}: {_SCALED}", σ / layers**0.5)
    return Asked(text, σ)


def _setting(config: Any, names: tuple[str, ...]) -> tuple[str, float] | None:
    """The deviation that a configuration asks of its weight matrices, with its address."""
    for name in names:
        σ = getattr(config, name, None)
        if isinstance(σ, int | float) and not isinstance(σ, bool) and 0 < σ < math.inf:
            return f"setting {name} = {σ:g} of {type(config).__name__}", float(σ)
    return None


@torch.no_grad()
def _stored_gain(norm: nn.Module, weight: torch.Tensor) -> float:
    """What a norm stores for a gain of one: 0 where it multiplies with 1 + w, as it shows."""
    if weight.is_meta or bool((weight != 0).any()):
        return 1.0
    drawn = torch.Generator().manual_seed(0)
    state = torch.randn(1, 8, len(weight), generator=drawn).to(weight.device, weight.dtype)
    try:
        made = norm(state)
    except (TypeError, RuntimeError, ValueError, AttributeError):  # it wants more than a state
        return 1.0
    return 0.0 if isinstance(made, torch.Tensor) and bool((made != 0).any()) else 1.0
