"""Models that are written by hand, a few lines each, for the tests of what is drafted of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

N, D, HEADS = 2000, 96, 4


class RMS(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


class Fused(nn.Module):
    """nanoGPT's attention, by PyTorch's function."""

    def __init__(self, *, causal: bool = True) -> None:
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.causal = causal

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            each.unflatten(-1, (HEADS, -1)).transpose(1, 2) for each in self.c_attn(x).chunk(3, -1)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        out: Tensor = self.c_proj(y.transpose(1, 2).flatten(2))
        return out


class Apart(nn.Module):
    """Attention spelt out: three matrices, a mask, a softmax."""

    def __init__(self, *, scale: float | None = None) -> None:
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.scale = scale or (D // HEADS) ** -0.5

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            map_(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for map_ in (self.wq, self.wk, self.wv)
        )
        scores = q @ k.transpose(-1, -2) * self.scale
        hidden = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
        out: Tensor = self.wo((weights @ v).transpose(1, 2).flatten(2))
        return out


class Plain(nn.Module):
    def __init__(self, act: Callable[[Tensor], Tensor] = F.gelu) -> None:
        super().__init__()
        self.up, self.down, self.act = nn.Linear(D, 4 * D), nn.Linear(4 * D, D), act

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down(self.act(self.up(x)))
        return out


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Linear(D, 256), nn.Linear(256, D), nn.Linear(D, 256)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.w2(F.silu(self.w1(x)) * self.w3(x))
        return out


class Block(nn.Module):
    def __init__(self, form: str, norm: Any, attention: Any, forward: Any, *, r: float = 1) -> None:
        super().__init__()
        self.form, self.r = form, r
        self.one, self.attention, self.mlp = norm(), attention(), forward()
        self.two = None if form == "parallel" else norm()

    def forward(self, x: Tensor) -> Tensor:
        if self.form == "post":
            x = self.one(x + self.attention(x))
            out: Tensor = self.two(x + self.mlp(x))
            return out
        if self.form == "parallel":
            y = self.one(x)
            return x + self.attention(y) + self.mlp(y)
        if self.form == "after":
            x = x + self.one(self.attention(x))
            return x + self.two(self.mlp(x))
        x = x + self.r * self.attention(self.one(x))
        return x + self.r * self.mlp(self.two(x))


class Model(nn.Module):
    """Some blocks between a table and a head."""

    def __init__(
        self,
        form: str = "pre",
        norm: Any = lambda: nn.LayerNorm(D),
        attention: Any = Fused,
        forward: Any = Plain,
        *,
        last: bool = True,
        tied: bool = True,
        positions: bool = True,
        factor: float = 1.0,
        scale: float = 1.0,
        cap: float | None = None,
        r: float = 1.0,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.table, self.factor, self.scale, self.cap = nn.Embedding(N, D), factor, scale, cap
        self.places = nn.Embedding(64, D) if positions else None
        self.blocks = nn.ModuleList(Block(form, norm, attention, forward, r=r) for _ in range(3))
        self.norm = norm() if last else nn.Identity()
        self.head = nn.Linear(D, N, bias=bias)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.05)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)
        if bias:
            nn.init.normal_(self.head.bias)
        if tied:
            self.head.weight = self.table.weight

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> Any:
        x = self.factor * self.table(tokens)
        if self.places is not None:
            x = x + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        if targets is None:  # as in nanoGPT
            x = x[:, -1:]
        logits: Tensor = self.head(self.norm(x)) * self.scale
        logits = logits if self.cap is None else self.cap * torch.tanh(logits / self.cap)
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())
