"""Small BERTs that are grown and trained on."""
