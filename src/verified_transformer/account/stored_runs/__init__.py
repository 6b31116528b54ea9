"""Recorded experiments: their results, and the code that made them."""
