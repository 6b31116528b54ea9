"""The first loss of a tied model, what causes it and what lowers it."""
