"""Be the draft: the plan of a game, its words, messages and score.

It knows no model and no screen.
Begin with game.py.
"""
