"""The loss of a language model at step 0: measured, expected, explained, and held to it.

- `first_loss` (`streamed`) measures it on states and a vocabulary, without building the logits.
- `gaussian_first_loss` (`gaussian`) expects it from sizes alone, by the law of a `logsumexp`;
  `regimes` says which simple formula holds where.
- `initial_loss` (`initial`) predicts it from a configuration: `recipes` makes a `Body` of that, as
  `drafting` does of a model written by hand; `stream` has the budget of its residual stream.
- `loss_causes` (`causes`), `assert_initial_loss` (`assertion`) and `diagnose` (`diagnosis`) say
  what is wrong where a model starts otherwise.
"""

from ..normalisation import normalised as normalised
from .assertion import assert_initial_loss as assert_initial_loss
from .causes import Cause as Cause
from .causes import loss_causes as loss_causes
from .diagnosis.diagnose import diagnose as diagnose
from .diagnosis.readings import Diagnosis as Diagnosis
from .diagnosis.readings import Reading as Reading
from .drafting import draft_body as draft_body
from .gaussian import GaussianStart as GaussianStart
from .gaussian import expected_first_loss as expected_first_loss
from .gaussian import gaussian_first_loss as gaussian_first_loss
from .initial.answer import InitialLoss as InitialLoss
from .initial.body import Attention as Attention
from .initial.body import Body as Body
from .initial.body import Feedforward as Feedforward
from .initial.body import Norm as Norm
from .initial.body import Stack as Stack
from .initial.initial_loss import initial_loss as initial_loss
from .initial.recipes import body_of as body_of
from .regimes import Regime as Regime
from .regimes import annealed_loss as annealed_loss
from .regimes import annealed_variance as annealed_variance
from .regimes import freezing_spread as freezing_spread
from .regimes import frozen_loss as frozen_loss
from .regimes import frozen_variance as frozen_variance
from .regimes import planting_spread as planting_spread
from .regimes import regime as regime
from .streamed import DrawnVocabulary as DrawnVocabulary
from .streamed import FirstLoss as FirstLoss
from .streamed import Rows as Rows
from .streamed import first_loss as first_loss
from .streamed import two_gram_loss as two_gram_loss
