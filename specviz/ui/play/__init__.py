"""The page "Be the draft".

Begin with play_page.py.
"""
