"""What several pages share: the stage, figures, links, the engine, the doors.

It knows no single page.
Begin with parts.py, then stage.py.
"""
