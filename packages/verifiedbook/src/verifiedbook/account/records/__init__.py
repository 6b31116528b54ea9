"""Records: what a check leaves behind, its margin, and where notebooks keep it."""
