"""Drawings of chains of cores: what a bond carries, and what goes along it."""
