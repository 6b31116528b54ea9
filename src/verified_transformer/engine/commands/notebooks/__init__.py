"""Notebooks: run, compared, stored again, formatted, and the first cell of each."""
