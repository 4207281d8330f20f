"""The proof that speculative output is the target's own: rules by name, counts, statistics on the counts.

It knows no screen.
Begin with findings.py, then other_rules.py.
"""
