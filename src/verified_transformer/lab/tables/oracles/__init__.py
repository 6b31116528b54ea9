"""Exact oracles: means over all outcomes, formulas of sizes, rules for derivations."""
