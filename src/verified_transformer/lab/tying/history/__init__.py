"""Who tied, and when: a list of releases."""
