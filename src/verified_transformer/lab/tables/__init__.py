"""Embedding tables in few parameters: ranks, rearrangements, trains, and products of vectors."""
