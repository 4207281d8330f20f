"""Other systems: their runs as traces, their counters, their log lines, what to check in them.

It calls none of them.
Begin with importers, then serving_counters.
"""
