"""Classes: students join with a code, and their rounds and quiz answers arrive on one board.

It keeps everything in memory, and knows no screen.
Begin with room.py, then board.py.
"""
