"""Experiments of the book that are recorded, because they are too long to run live.

A module each, alone or in a folder, with ``run()`` and ``fingerprint()``; what a module must
have says `verifiedbook.commands.recording`, which runs them. What they gave stands in
``recordings``; `laboratory` is what they share.
"""

__sealed__ = True  # results are keyed by what this code does, not by its names
