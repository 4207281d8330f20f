"""Speculative decoding of several texts at once, and what it costs and brings: run by `benchmarks.batches`."""
