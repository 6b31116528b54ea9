"""Experiments on models that are made larger and trained on (kexue 8444)."""
