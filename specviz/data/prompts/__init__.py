"""What models are asked to write: prompts by kind of text, and forms of an answer.

It knows no model.
Begin with workloads.py.
"""
