"""Integrals: closed forms against a Gaussian, means under a law, quadrature."""
