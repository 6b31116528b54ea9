"""The parts of `diagnose`: what a watched pass shows, what is due, and where the two part."""
