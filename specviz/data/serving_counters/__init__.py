"""Speculation counters of vLLM, SGLang, llama.cpp, TensorRT-LLM and LM Studio, read from pasted text."""

from specviz.data.serving_counters.counters import MAX_POSITIONS, ServingCounters
from specviz.data.serving_counters.reading import MAX_CHARACTERS, NOTHING_FOUND, read_counters

__all__ = ["MAX_CHARACTERS", "MAX_POSITIONS", "NOTHING_FOUND", "ServingCounters", "read_counters"]
