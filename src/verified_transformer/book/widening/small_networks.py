"""Small networks side by side: a norm, a feed-forward layer, a tied head; and the same, grown."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from ..layers import standard_normal
from .layers import repeated_along

Networks = dict[str, torch.Tensor]


def small_networks(count: int = 5, name: str = "small") -> Networks:
    """Draw networks of 12 tokens, width 3 and 6 hidden units; every number standard normal.

    Args:
        count: how many, along the first axis of each array.
        name: what they are drawn by, in words.

    Example:
        >>> small_networks(2)["W1"].shape
        torch.Size([2, 3, 6])
    """
    shapes = {"embedding": (12, 3), "gain": (1, 3), "shift": (1, 3),
              "W1": (3, 6), "b1": (1, 6), "W2": (6, 3), "b2": (1, 3)}  # fmt: skip
    return {
        part: standard_normal(f"{name} {part}", count, *shape) for part, shape in shapes.items()
    }


def after_norm(p: Networks) -> torch.Tensor:
    """Return the normalised embeddings, with gain and shift: (count, tokens, width)."""
    x = p["embedding"]
    return F.layer_norm(x, x.shape[-1:], eps=0.0) * p["gain"] + p["shift"]


def logits(p: Networks) -> torch.Tensor:
    """LayerNorm, a feed-forward layer with its residual connection, and a tied head."""
    y = after_norm(p)
    y = y + F.relu(y @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]
    return y @ p["embedding"].mT


def losses(p: Networks) -> torch.Tensor:
    """Cross-entropy of each network with fixed random targets: (count,)."""
    found = logits(p)
    target = torch.softmax(2 * standard_normal("targets", *found.shape), -1)
    return -(target * F.log_softmax(found, -1)).sum(-1).mean(-1)


def grown(p: Networks, factor: int, divide: bool = True) -> Networks:
    """Repeat both axes of a matrix and divide by k, each vector and divide by its root.

    Args:
        p: the small networks.
        factor: k.
        divide: without, nothing is divided.
    """
    wide = {name: repeated_along(w, factor, axes=1 + (name[0] == "W")) for name, w in p.items()}
    by = {name: factor ** (1 if name[0] == "W" else 0.5) if divide else 1 for name in p}
    return {name: w / by[name] for name, w in wide.items()}
