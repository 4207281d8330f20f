"""The page "When it helps": sweeps, drafts and batches, measured here or recorded.

Begin with helps_page.py.
"""
