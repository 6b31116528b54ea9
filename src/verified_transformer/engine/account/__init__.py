"""What was said and what became of it: registry, records, verdicts, ledger; no SymPy, no torch."""
