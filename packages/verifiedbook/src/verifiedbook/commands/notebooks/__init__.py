"""Notebooks: run, compared, stored again, formatted, and what each cell is for."""
