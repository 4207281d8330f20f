"""The command line, `python -m specviz`, a file for each command.

It knows no screen.
Begin with main.py, then compare.py.
"""
