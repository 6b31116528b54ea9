"""Calibrated measurement: how many draws, of what, on which device."""
