"""Be the draft: the plan of a game, its words, messages and score.

It knows models by their names, and no screen.
Begin with game.py.
"""
