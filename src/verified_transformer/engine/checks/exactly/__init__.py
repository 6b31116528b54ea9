"""Deciding exactly: a derivation, an exact oracle, a predicate and its broken twin, a count."""
