"""Measuring: what a pair costs here, comparisons, races, sweeps, and the proof.

It knows no screen and no engine.
Begin with compare.py, then calibration.py.
"""
