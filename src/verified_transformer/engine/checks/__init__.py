"""What a notebook calls to decide a claim."""
