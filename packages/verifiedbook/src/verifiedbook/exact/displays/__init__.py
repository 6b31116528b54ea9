"""Displayed mathematics: LaTeX read back, and what it states tried."""
