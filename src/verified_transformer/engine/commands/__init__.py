"""What is called from the command line: ledger, re-runs, comparisons, first cells."""
