"""What the article prints, read in every way that could be thought of."""
