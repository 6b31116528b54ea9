"""Random tables, and the first loss that they give."""
