"""Exercises in which students write the rules themselves, and checks that name the kind of a mistake.

A check knows the right solution and usual wrong ones. It compares what a student's function does with what each of
them does, so it needs no model and never reads the student's code.
Begin with exercise.py, then formulas.py.
"""
