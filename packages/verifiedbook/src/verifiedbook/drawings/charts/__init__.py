"""Charts: numbers that a cell has computed, as a picture that also tells them.

A plot of many points is matplotlib's; a table of a few numbers is a chart's. Each chart says its
numbers in its text as well, where prose finds them and a run compares them.
"""
