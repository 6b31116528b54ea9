"""The package `long_runs`, under the name that it had in here: the same modules, by both names."""

import long_runs

from ...moved import handed_on

_finder = handed_on(__name__, long_runs.__name__)
