"""Exact mathematics: laws, moments, Gaussian integrals, derivations, wrong versions, judging."""
