"""Drafters: where the guesses of a round come from, a file each.

They know no rule of acceptance: verification.py judges what they guess.
Begin with protocol.py, then prompt_lookup.py.
"""
