"""The arithmetic of the worksheet: its model, what was measured, and exercises.

It knows no screen and no engine.
Begin with model.py.
"""
