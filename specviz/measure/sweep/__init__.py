"""Sweeps: what is measured, how, and what the measured rows say."""
