"""The loss of a language model at step 0: measured, expected, explained, and held to it.

- `first_loss` (`streamed`) measures it on states and a vocabulary, without building the logits.
- `gaussian_first_loss` (`gaussian`) expects it from sizes alone, by the law of a `logsumexp`;
  `regimes` says which simple formula holds where.
- `initial_loss` (`initial`) predicts it from a configuration: `recipes` makes a `Body` of that, as
  `drafting` does of a model written by hand; `stream` has the budget of its residual stream.
- `loss_causes` (`causes`), `assert_initial_loss` (`assertion`) and `diagnose` (`diagnosis`) say
  what is wrong where a model starts otherwise.


Its names are loaded when they are used: a prediction from a configuration needs no torch.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
