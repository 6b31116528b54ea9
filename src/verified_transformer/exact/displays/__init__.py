"""Displayed mathematics: expressions and derivations written as LaTeX, and LaTeX read back."""
