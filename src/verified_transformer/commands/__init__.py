"""What is called from the command line: ledger, re-runs, comparisons, the notebooks' first cells."""
