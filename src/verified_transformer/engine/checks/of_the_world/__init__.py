"""What the world decides: runs with two arms, counts of published data, sources."""
