"""Deciding on random draws: a predicate that is true on all of them, arrays that are equal."""
