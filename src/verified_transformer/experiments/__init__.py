"""Experiments of the book that are recorded, because they are too long to run live.

Each module has ``CODE``, the package's files that its result depends on, and ``run()``; see
`verified_transformer.account.stored_runs`.
"""
