"""From records to verdicts, and the lock."""
