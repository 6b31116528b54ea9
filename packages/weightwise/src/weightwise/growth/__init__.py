"""Grow a Transformer: k times as wide, and the same function.

`grow` does it, `widen_checkpoint` and `widen_distributed` in files, `compare` measures it,
`grow_optimiser` trains on; `upcycle` makes a mixture of experts.
`axes` holds the algebra, `rules` what each role of a module makes of it, `descriptions` which
module of which class has which role, `stock` what a model must be to be grown. Needs transformers
5.20.
"""

from .axes import Axis, heads, repeated, rotary, unchanged
from .checkpoints import widen_checkpoint
from .describing import describe
from .descriptions import DESCRIPTIONS, Description, GrowthRefused, described
from .distributed import widen_distributed
from .growing import grow, grow_along
from .mixture import upcycle
from .rules import RULES, Part, Row, score_scale
from .training import grow_optimiser
from .verify import TOLERANCE, Comparison, GrowthFailed, clean_float64, compare

__all__ = [
    "DESCRIPTIONS",
    "RULES",
    "TOLERANCE",
    "Axis",
    "Comparison",
    "Description",
    "GrowthFailed",
    "GrowthRefused",
    "Part",
    "Row",
    "clean_float64",
    "compare",
    "describe",
    "described",
    "grow",
    "grow_along",
    "grow_optimiser",
    "heads",
    "repeated",
    "rotary",
    "score_scale",
    "unchanged",
    "upcycle",
    "widen_checkpoint",
    "widen_distributed",
]
