"""Texts and figures as data: workloads, published results, links, records of other systems.

It knows no model, no torch and no screen.
Begin with workloads.py, then permalink.py.
"""
