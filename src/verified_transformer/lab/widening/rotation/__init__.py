"""Rotary positions of heads that grow."""
