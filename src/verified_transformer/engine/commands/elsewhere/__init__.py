"""Notebooks on other processors, threads and seeds."""
