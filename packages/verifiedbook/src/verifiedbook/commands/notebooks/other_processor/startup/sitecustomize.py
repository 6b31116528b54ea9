"""Loaded by Python when it starts, where the environment of a draw puts this folder on its path."""

from verifiedbook.commands.notebooks import other_processor

other_processor.install()
