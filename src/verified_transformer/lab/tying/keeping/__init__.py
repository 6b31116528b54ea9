"""What keeps a tie, and what breaks it."""
