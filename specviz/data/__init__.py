"""Texts and figures as data: workloads, published results, links.

It knows no model, no torch and no screen.
Begin with texts.py, then prompts/workloads.py.
"""
