"""The drawings of the book, each a function; `verified_transformer.lab.drawings` has them all."""
