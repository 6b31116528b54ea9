"""Drawings of what grows."""
