"""Exercises: a question with its stars, an answer that is checked where it is typed, a solution."""
