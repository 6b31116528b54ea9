"""Exact oracles: means over all outcomes, formulas of sizes."""
