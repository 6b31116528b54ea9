"""Exact mathematics: laws, moments, Gaussian integrals, derivations, wrong versions, judging.

- ``laws``, ``definitions``: how an entry is drawn, and the quantity that a reading is about;
- `moments`, `integrals`, ``induction``, ``derivations``: four ways to a quantity's formula;
- ``numeric_twin``: a reader's own derivation, run again in numbers, with slips;
- `formulas`: notation, numbers for a formula, wrong versions; ``judging``: which of them fell;
- `displays`: LaTeX of a page read back, and each of its relations tried.
"""
