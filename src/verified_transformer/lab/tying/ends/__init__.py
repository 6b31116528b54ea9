"""The two ends of a model, and what their tie saves."""
