"""Four families of factorised tables: what they store, and what a look-up or a head costs."""
