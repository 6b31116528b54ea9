"""Arrays: how far apart two are, and all outcomes of a few entries."""
