"""Ranks: exact ones, of rearranged tables, of trains, of random tables."""
