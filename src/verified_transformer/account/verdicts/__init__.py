"""From records to verdicts, how a fresh run compares with what is stored, and the lock."""
