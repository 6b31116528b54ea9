"""Layers at initialisation: dense ones, norms, residual stacks, attention, a small Transformer."""
