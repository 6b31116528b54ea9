"""Formulas: the notation that they are written in, numbers for them, wrong versions of them."""
