"""Sweeps: what is measured, how, and the rows that come of it."""
