"""Arrays: how far apart two are, all outcomes of a few entries, entries that look independent."""
