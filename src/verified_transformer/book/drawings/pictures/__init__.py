"""The drawings of the book by subject; `verified_transformer.book.drawings` has them all."""
