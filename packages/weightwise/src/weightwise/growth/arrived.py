"""Did what was asked arrive? It is counted in what the class made, and must outlive a disk.

A configuration may take an option under another name, or hold one that its class never reads. Then
the model made of it is a small one still, and computes the same, so that no comparison sees it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .descriptions import GrowthRefused
from .filling import Growth
from .sizes import ASKS, size_of
from .stock import made

# by argument, the beginning of the axes along which an array must have grown
_ALONG = {
    "width": ("stream", "branch", "sum", "table", "embedding"),
    "heads": ("query", "attended"),
    "key_value_heads": ("key", "value", "query, key, value"),
    "feed_forward": ("feed-forward", "gate, up"),
    "vocabulary": ("vocabulary",),
}
_OF_EXPERTS = "gate, up of an expert"


def require_sizes(growth: Growth, sizes: Mapping[str, Any]) -> None:
    """Refuse a size that was asked for and that the grown class did not take up.

    Raises:
        GrowthRefused: its configuration says another one, no array of the class grows with it, or
            there are not as many layers.
    """
    kind = type(growth.large).__name__
    for name, asked in sizes.items():
        if asked is None:
            continue
        said = size_of(growth.large.config, ASKS[name], growth.description.names)
        if said != asked:
            raise GrowthRefused(
                f"{name}: got {asked}, of which the configuration of {kind} made {said}; accepted: "
                "a size that its class takes up"
            )
        if asked == size_of(growth.model.config, ASKS[name], growth.description.names):
            continue
        if not _arrived(growth, name, asked):
            raise GrowthRefused(
                f"{name}: got {asked}; accepted: None, as no array of this {kind} has that size"
            )


def _arrived(growth: Growth, name: str, asked: int) -> bool:
    if name == "layers":
        return {new for _, new in growth.stacks.values()} == {asked}
    if name == "vocabulary" and _words(growth.large) == asked:
        return True  # where no head reads them, the rows of a mixture's table have no axis of words
    return any(_grows(axis, name) for axis in _axes_in_use(growth))


def _words(large: Any) -> int:
    table = large.get_input_embeddings() if hasattr(large, "get_input_embeddings") else None
    return len(getattr(table, "weight", ()))


def _grows(axis: str, name: str) -> bool:
    return axis.startswith(_ALONG[name]) and not axis.startswith(_OF_EXPERTS)


def _axes_in_use(growth: Growth) -> Iterable[str]:
    for name in growth.first:
        row = growth.row(name)
        if row is not None:
            yield row.writes
            if row.reads is not None:
                yield row.reads


def require_experts(large: Any, experts: int, active: int) -> None:
    """Refuse a mixture whose routers do not choose ``active`` of ``experts``."""
    found = {
        (len(module.weight), module.top_k)
        for module in large.modules()
        if hasattr(module, "top_k") and hasattr(module, "weight")
    }
    if found != {(experts, active)}:
        said = ", ".join(f"{top} of {count}" for count, top in sorted(found)) or "no routers"
        raise GrowthRefused(
            f"experts, active: got {experts} and {active}, of which {type(large).__name__} made "
            f"{said}; accepted: numbers that its class takes up"
        )


def keep_tie(growth: Growth) -> None:
    """Let the configuration of a large model say whether its head is tied, as the model is.

    A tie that was set, or taken away, by assignment would not outlive a disk otherwise.
    """
    config = growth.large.config
    if hasattr(config, "tie_word_embeddings") and parted_on_loading(growth):
        config.tie_word_embeddings = not config.tie_word_embeddings
        if parted_on_loading(growth):
            config.tie_word_embeddings = not config.tie_word_embeddings


def parted_on_loading(growth: Growth) -> tuple[str, ...]:
    """The parameters that the class shares with others when it is loaded, or no longer shares."""
    config = growth.large.config
    if not hasattr(config, "to_dict"):
        return ()
    loaded = made(type(growth.large), type(config).from_dict(config.to_dict()), "meta")
    firsts: dict[int, str] = {}
    return tuple(
        name
        for name, parameter in loaded.named_parameters(remove_duplicate=False)
        if growth.first.get(name) != firsts.setdefault(id(parameter), name)
    )
