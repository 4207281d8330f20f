"""Sweeps: what is measured, how, and what the measured rows say.

It knows no screen.
Begin with plan.py, then rows.py and study.py.
"""
