"""What everything else is built of: the trace, the settings, and figures made from them.

It knows no model, no torch and no screen.
Begin with trace.py, then rounds.py.
"""
