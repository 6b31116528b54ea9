"""The book's own words: summaries and advice, clause by clause, with what decides each."""
