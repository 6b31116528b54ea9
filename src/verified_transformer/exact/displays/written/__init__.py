"""Derivations and expressions written as LaTeX, in words and displays."""
