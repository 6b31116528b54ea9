"""Tied heads: remedies for their first loss, what keeps a tie, who ties."""
