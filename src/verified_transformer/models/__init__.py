"""The package `weightwise`, under the name that it had in here: the same modules, by both names."""

import weightwise

from ..moved import handed_on

__getattr__, __dir__, __all__ = weightwise.__getattr__, weightwise.__dir__, weightwise.__all__
_finder = handed_on(__name__, weightwise.__name__)
