"""A lesson: its moments on the projected page, the presenter's notes, what a teacher prepares.

Begin with place.py.
"""
