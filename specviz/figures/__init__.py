"""Figures of measurements, as dictionaries: pages draw them, and the command line writes them.

It knows no screen.
Begin with parts.py, then speedups.py.
"""
