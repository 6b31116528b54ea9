"""The drawings of the book by subject; `verified_transformer.lab.drawings` has them all."""
