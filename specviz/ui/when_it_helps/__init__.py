"""The page "When it helps": sweeps, drafts and batches, measured here or recorded.

Begin with when_it_helps_page.py.
"""
