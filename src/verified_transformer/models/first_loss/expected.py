"""The expected first loss of a model whose body is the identity, tied or untied."""

from __future__ import annotations

import math

from ..accepted import require_real, require_whole
from .gaussian import gaussian_first_loss


def expected_first_loss(n: int, d: int, *, σ: float, tied: bool = True) -> float:
    r"""Return the mean first loss of a model whose body is the identity, by quadrature.

    Given the input token, the other logits are independent normal numbers of variance $d\sigma^2$,
    and the token's own logit is $\sqrt d\sigma$ times the length of a standard normal vector, or,
    untied, one more of the others. `gaussian_first_loss` is the general case.

    Args:
        n: number of tokens.
        d: length of an embedding.
        σ: standard deviation of an embedding's entry.
        tied: whether the head is the embedding itself.

    Returns:
        The mean over vocabularies, tokens and labels other than the token, in nats; its error is
        below 1e-8 times the greater of 1 and the loss.

    Raises:
        TypeError, ValueError: an argument is out of range.

    Example:
        >>> round(expected_first_loss(50_000, 768, σ=0.02), 3), round(math.log(50_000), 3)
        (15.368, 10.82)
    """
    require_whole(n=n, d=d)
    require_real(σ=σ)
    if not isinstance(tied, bool):
        raise TypeError(f"tied: got {tied!r}; accepted: True or False")
    if n < 2 or d < 1 or not 0 < σ < math.inf:
        raise ValueError(f"n, d, σ: got {n}, {d}, {σ}; accepted: n >= 2, d >= 1, 0 < σ < ∞")
    if tied:
        return gaussian_first_loss(n, d, σ, ρ=1.0)
    return gaussian_first_loss(n, d, σ, ρ=0.0, cosine="random")
