"""Who owns the numbers and formulas of the prose: a claim, an output, a sum or a source."""
