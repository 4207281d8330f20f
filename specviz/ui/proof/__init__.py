"""The page "Same quality".

Begin with proof_page.py.
"""
