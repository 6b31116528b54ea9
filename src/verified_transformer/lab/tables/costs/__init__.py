"""What an embedding made of short vectors costs, counted while it runs."""
