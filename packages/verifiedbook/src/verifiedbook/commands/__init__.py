"""What is called from the command line: the ledger and its lock, re-runs, comparisons, prose."""
