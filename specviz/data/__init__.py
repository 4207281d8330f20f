"""Texts and figures as data: workloads, published results, links, records of other systems.

It knows no model, no torch and no screen.
Begin with texts.py, then prompts/workloads.py.
"""
