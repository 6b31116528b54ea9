"""A synthetic language whose entropy rate is known exactly.

The next token depends on the present one (a Markov chain), and token frequencies follow Zipf's law.
A model's loss can then be compared with the best that any model can reach, and not only with that
of another model.
"""

from __future__ import annotations

import torch

from ..seeds import generator

_RANK = 8  # latent features of a token


class ZipfMarkov:
    r"""A stationary Markov chain over n tokens with an exactly Zipfian stationary law.

    Token k (from 1) has probability proportional to $k^{-s}$. The joint law of two neighbours is a
    matrix $J$ with both marginals equal to that law, made by Sinkhorn's scaling of
    $\pi_i\pi_j\exp(\beta\,u_i\cdot v_j/\sqrt r)$, where $u_i$ and $v_j$ are independent normal
    vectors of length $r=8$; transitions are $P_{ij}=J_{ij}/\pi_i$.

    Args:
        n: number of tokens; at least 3.
        exponent: s of Zipf's law.
        strength: β, how strongly the next token depends on the present one; 0 for not at all.
        seed: what the latent features are drawn from.

    Raises:
        ValueError: an argument is out of range, or no such chain is found.
    """

    def __init__(
        self,
        n: int,
        *,
        exponent: float = 1.0,
        strength: float = 2.0,
        seed: int = 0,
    ) -> None:
        if n < 3:
            raise ValueError(f"n: got {n}; accepted: at least 3")
        if exponent < 0 or strength < 0:
            raise ValueError(
                f"exponent, strength: got {exponent}, {strength}; accepted: not negative"
            )
        weights = torch.arange(1, n + 1, dtype=torch.float64) ** -exponent
        self.n, self.stationary = n, weights / weights.sum()
        self.joint = self._joint(strength, seed)
        self.transition = self.joint / self.stationary.unsqueeze(1)

    def _joint(self, strength: float, seed: int) -> torch.Tensor:
        source = generator(f"Zipf-Markov language {seed}")
        u, v = torch.randn(2, self.n, _RANK, dtype=torch.float64, generator=source)
        joint: torch.Tensor = (
            self.stationary.outer(self.stationary) * (strength * u @ v.T / _RANK**0.5).exp()
        )
        for _ in range(10_000):
            joint *= (self.stationary / joint.sum(1)).unsqueeze(1)
            joint *= self.stationary / joint.sum(0)
            if ((joint.sum(1) / self.stationary - 1).abs().max()) < 1e-13:
                return joint
        raise ValueError("strength: Sinkhorn's scaling does not converge; accepted: a smaller one")

    @property
    def entropy_rate(self) -> float:
        """Nats per token that no model can go below: the entropy of a token given all before it."""
        return float(-torch.special.xlogy(self.joint, self.transition).sum())

    @property
    def unigram_entropy(self) -> float:
        """Nats per token of the best model that ignores the context."""
        return float(-torch.special.xlogy(self.stationary, self.stationary).sum())

    @property
    def repeat_share(self) -> float:
        """Probability that a token equals the one before it."""
        return float(self.joint.diagonal().sum())

    def sample(self, count: int, length: int, generator: torch.Generator) -> torch.Tensor:
        """Draw independent stationary sequences.

        Args:
            count: number of sequences.
            length: tokens in each.
            generator: source of the draw.

        Returns:
            Token ids from 0, (count, length).
        """
        first = self.stationary.expand(count, -1).cumsum(1)
        cumulative = self.transition.cumsum(1)
        drawn = torch.empty(count, length, dtype=torch.long)
        for place in range(length):
            law = first if place == 0 else cumulative[drawn[:, place - 1]]
            uniform = torch.rand(count, 1, dtype=torch.float64, generator=generator)
            drawn[:, place] = torch.searchsorted(law, uniform * law[:, -1:]).squeeze(1)
        return drawn.clamp_(max=self.n - 1)
