"""Drawings of products and trains."""
