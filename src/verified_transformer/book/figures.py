"""Plots that are kept as data: `verifiedbook.figures`, under the name that it had in here."""

from verifiedbook.figures import COLOURS, figure, measured, picture, plt, show_as_data

__all__ = ["COLOURS", "figure", "measured", "picture", "plt", "show_as_data"]
