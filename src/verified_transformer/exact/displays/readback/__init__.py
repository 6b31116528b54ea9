"""Formulas of a text read back, and what they state tried."""
