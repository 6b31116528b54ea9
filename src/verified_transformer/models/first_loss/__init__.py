"""The loss of a language model at step 0.

`streamed` measures it on a given vocabulary, `gaussian` expects it from sizes alone, `regimes` says
which simple formula holds where.
"""

from ..normalisation import normalised
from .assertion import assert_initial_loss
from .causes import Cause, loss_causes
from .diagnosis.diagnose import diagnose
from .diagnosis.readings import Diagnosis, Reading
from .drafting import draft_body
from .gaussian import (
    GaussianStart,
    expected_first_loss,
    gaussian_first_loss,
)
from .initial.answer import InitialLoss
from .initial.body import Attention, Body, Feedforward, Norm, Stack
from .initial.recipes import body_of
from .of_models import initial_loss
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
    "Attention",
    "Body",
    "Cause",
    "Diagnosis",
    "DrawnVocabulary",
    "Feedforward",
    "FirstLoss",
    "GaussianStart",
    "InitialLoss",
    "Norm",
    "Reading",
    "Regime",
    "Rows",
    "Stack",
    "annealed_loss",
    "annealed_variance",
    "assert_initial_loss",
    "body_of",
    "diagnose",
    "draft_body",
    "expected_first_loss",
    "first_loss",
    "freezing_spread",
    "frozen_loss",
    "frozen_variance",
    "gaussian_first_loss",
    "initial_loss",
    "loss_causes",
    "normalised",
    "planting_spread",
    "regime",
    "two_gram_loss",
]
