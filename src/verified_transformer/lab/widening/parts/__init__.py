"""Layers and their parts made wider: which layout, by which scale, and what goes wrong."""
