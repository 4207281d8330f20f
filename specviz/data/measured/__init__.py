"""What was measured and is stored: batches, methods, other programs, quiet costs, the first run.

It measures nothing itself.
Begin with batches.py.
"""
