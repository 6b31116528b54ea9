"""What a tie does to learning."""
