"""The library of *The Verified Transformer*: statements about weights, decided by machine.

Names are loaded when they are first used, so that reading the ledger needs neither SymPy nor torch.
"""

from importlib import import_module
from typing import Any

_HOME = {
    "verdicts": ("Claim", "ClaimFailed", "Record", "claim"),
    "notation": ("parse", "symbols"),
    "derivations": ("Derivation", "Oracle", "Step", "StepFailed"),
    "laws": ("Discrete", "General", "Normal", "Rademacher", "TruncatedNormal", "Uniform"),
    "moments": ("Index", "Matrix", "Tensor", "mean", "total", "variance"),
    "gaussian": ("LawMean", "integrate_by_parts", "stein_step"),
    "activations": ("Activation", "activation"),
    "propagation": ("second_moments",),
    "heads": (
        "ProjectedHead",
        "ShuffledHead",
        "TiedHead",
        "UntiedHead",
        "channel_shuffle",
        "half_swap",
    ),
    "first_loss": ("DrawnVocabulary", "two_gram_loss"),
    "zipf_markov": ("ZipfMarkov",),
    "growth": ("GrowthFailed", "GrowthRefused", "grow"),
    "sampling": ("Design", "device", "measure", "seed_of"),
    "ledger": ("collect",),
}
_WHERE = {name: module for module, names in _HOME.items() for name in names}
__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_WHERE[name]}", __name__), name)
