"""Ways of multiplying a token's vectors out: right ones, dear ones, and wrong ones."""
