"""The classes that people use, at small sizes."""
