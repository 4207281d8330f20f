"""Texts and figures as data: workloads, grammars, published results, lessons, links. No model and no screen."""
