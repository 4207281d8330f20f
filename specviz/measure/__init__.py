"""Measuring: what a pair costs here, comparisons, races, sweeps, and the proof. Uses the decoders; no screen."""
