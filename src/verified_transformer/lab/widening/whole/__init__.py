"""Whole models made wider, by the article's table and row by row, with their heads."""
