"""Where randomness comes from: `verifiedbook.seeds`, under the name that it had in here."""

from verifiedbook.seeds import device, finer, generator, seed_of

__all__ = ["device", "finer", "generator", "seed_of"]
