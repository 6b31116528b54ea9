"""Figures that a reader moves: `verifiedbook.live_figures`, under the name that it had in here."""

import verifiedbook.live_figures

from ...moved import handed_on

__getattr__, __dir__, __all__ = (
    verifiedbook.live_figures.__getattr__,
    verifiedbook.live_figures.__dir__,
    verifiedbook.live_figures.__all__,
)
_finder = handed_on(__name__, verifiedbook.live_figures.__name__)
