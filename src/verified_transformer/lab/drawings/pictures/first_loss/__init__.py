"""Drawings of the loss with which a tied model starts."""
