"""Drawings and charts: `verifiedbook.drawings`, under the name that it had in here."""

import verifiedbook.drawings

from ...moved import handed_on

__getattr__, __dir__, __all__ = (
    verifiedbook.drawings.__getattr__,
    verifiedbook.drawings.__dir__,
    verifiedbook.drawings.__all__,
)
_finder = handed_on(__name__, verifiedbook.drawings.__name__)
