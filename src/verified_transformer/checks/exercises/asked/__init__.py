"""Functions that exercises ask for, a file for each chapter."""
