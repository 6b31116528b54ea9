"""Mutation: faults made at random in a copy of the book, and whether anything goes red."""
