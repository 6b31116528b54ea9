"""Tables that were trained on a small language: what few terms keep of them."""

from __future__ import annotations

import numpy as np
import torch

from ....models.factorised.decompositions import rearranged
from ....sampling.zipf_markov import ZipfMarkov
from ....seeds import generator
from ...training import train
from .random_tables import kept_shares


def trained(seed: int, steps: int = 80) -> tuple[torch.Tensor, torch.Tensor, float]:
    """Return an input table before and after training on the expected loss of a Markov chain.

    Args:
        seed: of the language: 128 tokens, 8 latent features, frequencies by Zipf's law.
        steps: of Adam.

    Returns:
        Both tables, (128, 64), and how far the loss still is on the way from the unigram entropy
        (1) to the entropy rate (0).
    """
    language = ZipfMarkov(128, seed=seed)
    source = generator(f"trained {seed}")
    start, head = torch.randn(2, 128, 64, generator=source, dtype=torch.float64) / 8
    weights = [start.clone().requires_grad_(), head.clone().requires_grad_()]

    def loss(step: int) -> torch.Tensor:
        return -(language.joint * (weights[0] @ weights[1].T).log_softmax(-1)).sum()

    last = train(weights, loss, steps=steps, rate=0.03)[-1].item()
    gap = (last - language.entropy_rate) / (language.unigram_entropy - language.entropy_rate)
    return start, weights[0].detach(), gap


def kept_by_eight(seeds: int) -> tuple[np.ndarray, float]:
    """Return what eight terms keep of tables before and after training, and the largest gap.

    Args:
        seeds: how many languages.

    Returns:
        (seeds, 2, 2): before and after; low rank and Kronecker products (16 by 8 with 8 by 8); and
        the largest of what `trained` says of the losses.
    """
    shares, gaps = [], []
    for seed in range(seeds):
        *tables, gap = trained(seed)
        gaps.append(gap)
        cut = [(W, rearranged(W, (16, 8), (8, 8))) for W in tables]  # both 128 by 64
        shares.append([[kept_shares(W)[7], kept_shares(R)[7]] for W, R in cut])
    return np.array(shares), max(gaps)
