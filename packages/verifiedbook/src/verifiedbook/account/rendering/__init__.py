"""How cards and records look, in a notebook and in the book."""
