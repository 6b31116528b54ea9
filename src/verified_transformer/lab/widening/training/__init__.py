"""Small networks and small BERTs that are grown and trained on."""
