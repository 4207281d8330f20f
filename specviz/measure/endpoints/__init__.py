"""Two running servers, one with speculative decoding and one without, measured with the same prompts in turns.

A `BenchResult` is a measurement as data: the command makes one, or reads one from other tools' files; everything that
is said or drawn is computed from it.
Begin with result.py, then turns.py.
"""
