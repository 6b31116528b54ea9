"""Drawings of chapter one: laws, layers, norms, residual streams."""
