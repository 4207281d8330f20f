"""Other systems: their runs as traces, their counters and their log lines.

It calls none of them.
Begin with importers, then serving_counters.
"""
