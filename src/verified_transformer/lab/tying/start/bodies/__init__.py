"""Bodies between the two ends, and what they do to the first loss."""
