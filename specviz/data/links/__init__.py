"""What a link holds: settings, a run, a view, what is hidden.

It knows no screen and no model.
Begin with permalink.py.
"""
