"""The package `verifiedbook`, under the name that it had in here: the same modules, by both."""

import verifiedbook

from ..moved import handed_on

__getattr__, __dir__, __all__ = verifiedbook.__getattr__, verifiedbook.__dir__, verifiedbook.__all__
_finder = handed_on(__name__, verifiedbook.__name__)
