"""Drawings of tied tables."""
