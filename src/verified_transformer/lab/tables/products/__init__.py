"""Products of short vectors: ways of making them, what a product is, how it is trained."""
