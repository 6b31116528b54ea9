"""Experiments of the book that are recorded, because they are too long to run live.

A module each, alone or in a folder, with ``run()`` and ``fingerprint()``; `laboratory.recording`
runs them and says what a module must have, `verified_transformer.account.recordings` keeps
what came out.
"""
