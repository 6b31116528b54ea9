"""The loss of a language model at step 0.

`streamed` measures it on a given vocabulary, `gaussian` expects it from sizes alone, `regimes` says
which simple formula holds where.
"""

from ..normalisation import normalised
from .expected import expected_first_loss
from .gaussian import GaussianStart, gaussian_first_loss, gaussian_first_loss_variance
from .regimes import (
    Regime,
    annealed_loss,
    annealed_variance,
    freezing_spread,
    frozen_loss,
    frozen_variance,
    planting_spread,
    regime,
)
from .streamed import DrawnVocabulary, FirstLoss, Rows, first_loss, two_gram_loss

__all__ = [
    "DrawnVocabulary",
    "FirstLoss",
    "GaussianStart",
    "Regime",
    "Rows",
    "annealed_loss",
    "annealed_variance",
    "expected_first_loss",
    "first_loss",
    "freezing_spread",
    "frozen_loss",
    "frozen_variance",
    "gaussian_first_loss",
    "gaussian_first_loss_variance",
    "normalised",
    "planting_spread",
    "regime",
    "two_gram_loss",
]
